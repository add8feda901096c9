### What the device says of itself by IPP
$UsualIppPaths = '/ipp/print', '/ipp/port1', '/ipp', '/Epson_IPP_Printer', '/'

#<if ipp>
function Test-Ipp {
    # What an IPP queue needs.
    param($Printer, $Addresses)
    $answer = Get-IppAnswer $Printer.IppUrl $Addresses (1000 * $script:Seconds)
    if ($answer.Certificate) { Add-Finding 'warn' 'tls' "its certificate $($answer.Certificate): Windows may refuse it" }
    elseif ($Printer.IppUrl -like 'https:*' -and -not $answer.Problem) { Add-Finding 'ok' 'tls' 'this machine trusts its certificate' }
    if (-not $answer.Problem) {
        Add-IppState $answer 'bad'
        Add-IppAbility $answer 'warn'
        return
    }
    $text = "$($Printer.IppUrl) $($answer.Problem)"
    if ($answer.Status -in '404', 'client-error-not-found') {
        $other = Find-IppAnswer ([Uri]$Printer.IppUrl).GetLeftPart('Authority') $Addresses $script:Seconds
        $text += ': the path is wrong; '
        if ($other.Problem) { $text += "none of the usual ones answers ($($UsualIppPaths -join ', '))" }
        else { $text += "it answers at $(([Uri]$other.Url).AbsolutePath)" }
    }
    if ($answer.Status -in '401', 'client-error-not-authenticated') { $text += ': it wants somebody to sign in, which Windows does not do' }
    if ($answer.Status -eq '426') { $text += ': it wants TLS' }
    Add-Finding 'bad' 'ipp' $text
}
#</if>

#<if port>
function Test-Driverless {
    # Whether an IPP queue could replace this queue. If not, nothing is wrong.
    param($Printer, $Addresses)
    $place = $Printer.Address
    if ($place -like '*:*') { $place = "[$place]" }
    $answer = Find-IppAnswer "http://${place}:631" $Addresses ([Math]::Min(3, $script:Seconds))
    if ($answer.Problem) {
        Add-Finding 'ok' 'driverless' "$($answer.Url) $($answer.Problem): without IPP the queue needs its driver"
        return
    }
    Add-IppState $answer 'warn'
    Add-IppAbility $answer 'ok'
}
#</if>

function Find-IppAnswer {
    # The answer at the first usual path that has one, else the answer at the first path. One deadline holds for all.
    param([string]$Place, $Addresses, [int]$Seconds)
    $deadline = New-Deadline (1000 * $Seconds)
    $first = $null
    foreach ($path in $UsualIppPaths) {
        $answer = Get-IppAnswer "$Place$path" $Addresses (Get-RemainingTime $deadline)
        if (-not $answer.Problem) { return $answer }
        if ($null -eq $first) { $first = $answer }
        # A device that speaks no HTTP at one path speaks none at the others.
        if (-not $answer.Status) { break }
    }
    return $first
}

function Get-IppText {
    # The values of an attribute in one text.
    param($Answer, [string]$Name)
    if (-not $Answer.Attributes.ContainsKey($Name)) { return '' }
    return @($Answer.Attributes[$Name] | Select-Object -First 12) -join ' '
}

function Add-IppState {
    param($Answer, [string]$Stopped)
    $state = Get-IppText $Answer 'printer-state'
    $reasons = Get-IppText $Answer 'printer-state-reasons'
    $level = 'ok'
    if ($reasons -match '-(?:warning|error)\b') { $level = 'warn' }
    $name = @{ '3' = 'idle'; '4' = 'printing'; '5' = 'stopped' }[$state]
    if (-not $name) { $name = "in state $state" }
    $text = "$(ConvertTo-OneLine (Get-IppText $Answer 'printer-make-and-model') 100) says it is $name"
    if ($reasons -and $reasons -ne 'none') { $text += " ($reasons)" }
    if ((Get-IppText $Answer 'printer-is-accepting-jobs') -eq 'False') {
        $level = $Stopped
        $text += ', and takes no jobs'
    }
    if ($state -eq '5') { $level = $Stopped }
    Add-Finding $level 'ipp' $text
}

function Add-IppAbility {
    # Whether Windows can drive the printer without a driver of its maker's. Those that name one of the two features
    # were tested for it.
    param($Answer, [string]$Missing)
    $formats = Get-IppText $Answer 'document-format-supported'
    $versions = Get-IppText $Answer 'ipp-versions-supported'
    $features = Get-IppText $Answer 'ipp-features-supported'
    $text = "IPP $versions, $features, takes $formats"
    $doubts = @()
    if ($formats -notmatch '(?:^| )(?:image/pwg-raster|application/pdf)(?: |$)') { $doubts += 'takes neither image/pwg-raster nor application/pdf' }
    if ($versions -notmatch '(?:^| )2\.') { $doubts += 'does not name IPP 2.0' }
    if ($doubts.Count -gt 0) {
        Add-Finding $Missing 'driverless' "$text`: it $($doubts -join ' and '), so Windows' own driver may not be able to drive it (nobody has proven this)"
        return
    }
    $can = 'may'
    if ($features -match 'ipp-everywhere|wfds-print') { $can = 'should' }
    Add-Finding 'ok' 'driverless' "$text`: Windows' own driver $can be able to drive it at $($Answer.Url)"
}

