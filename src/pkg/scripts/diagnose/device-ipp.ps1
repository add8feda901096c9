#region What the device says of itself by IPP

$IppPort = 631
$MaxSecondsForInformation = 3
$UsualIppPaths = '/ipp/print', '/ipp/port1', '/ipp', '/Epson_IPP_Printer', '/'

function Test-Ipp {
    # What an IPP queue needs; of other printers, for information: whether they could be one.
    param($Printer, $Addresses)
    if ($Printer.Protocol -ne 'ipp') {
        Test-OtherIpp $Printer $Addresses
        return
    }
    $answer = Get-IppAnswer $Printer.IppUrl $Addresses (1000 * $script:Seconds)
    if ($answer.Certificate) { Add-Finding 'warn' 'tls' "its certificate $($answer.Certificate): Windows may refuse it" }
    elseif ($Printer.IppUrl -like 'https:*' -and -not $answer.Problem) { Add-Finding 'ok' 'tls' 'this machine trusts its certificate' }
    if (-not $answer.Problem) {
        Add-IppState $answer 'bad'
        Add-IppAbility $answer 'warn'
        return
    }
    $text = "$($Printer.IppUrl) $($answer.Problem)"
    if ($answer.Status -in '404', 'client-error-not-found') { $text += ": the path is wrong; $(Find-IppPath $Printer $Addresses)" }
    if ($answer.Status -in '401', 'client-error-not-authenticated') { $text += ': it wants somebody to sign in, which Windows does not do' }
    if ($answer.Status -eq '426') { $text += ': it wants TLS' }
    Add-Finding 'bad' 'ipp' $text
}

function Test-OtherIpp {
    # Nothing of this is wrong for a queue that does not print by IPP.
    param($Printer, $Addresses)
    $place = $Printer.Address
    if ($Addresses[0].AddressFamily -eq 'InterNetworkV6') { $place = "[$($Addresses[0])]" -replace '%.*\]', ']' }
    $milliseconds = 1000 * [Math]::Min($MaxSecondsForInformation, $script:Seconds)
    $url = "http://${place}:$IppPort/ipp/print"
    $answer = Get-IppAnswer $url $Addresses $milliseconds
    if ($answer.Problem) {
        Add-Finding 'ok' 'ipp' "for information: $url $($answer.Problem)"
        return
    }
    Add-IppState $answer 'warn'
    Add-IppAbility $answer 'ok'
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
    $names = @{ '3' = 'idle'; '4' = 'printing'; '5' = 'stopped' }
    $level = 'ok'
    if ($reasons -match '-(?:warning|error)\b') { $level = 'warn' }
    $text = "$(ConvertTo-OneLine (Get-IppText $Answer 'printer-make-and-model') 100) says it is in state $state"
    if ($names.ContainsKey($state)) { $text = $text -replace 'in state [345]$', $names[$state] }
    if ($reasons -and $reasons -ne 'none') { $text += " ($reasons)" }
    if ((Get-IppText $Answer 'printer-is-accepting-jobs') -eq 'False') {
        $level = $Stopped
        $text += ', and takes no jobs'
    }
    if ($state -eq '5') { $level = $Stopped }
    Add-Finding $level 'ipp' $text
}

function Add-IppAbility {
    # Whether Windows can drive the printer without a driver of its maker's.
    param($Answer, [string]$Missing)
    $formats = Get-IppText $Answer 'document-format-supported'
    $versions = Get-IppText $Answer 'ipp-versions-supported'
    $text = "IPP $versions, $(Get-IppText $Answer 'ipp-features-supported'), takes $formats"
    $doubts = @()
    if ($formats -notmatch '(?:^| )(?:image/pwg-raster|application/pdf)(?: |$)') { $doubts += 'takes neither image/pwg-raster nor application/pdf' }
    if ($versions -notmatch '(?:^| )2\.') { $doubts += 'does not name IPP 2.0' }
    if ($doubts.Count -eq 0) {
        Add-Finding 'ok' 'driverless' "$text`: Windows' own driver should be able to drive it"
        return
    }
    Add-Finding $Missing 'driverless' "$text`: it $($doubts -join ' and '), so Windows' own driver may not be able to drive it (nobody has proven this)"
}

function Find-IppPath {
    # Which of the usual paths answers, within one time for all.
    param($Printer, $Addresses)
    $deadline = New-Deadline (1000 * $script:Seconds)
    $url = [Uri]$Printer.IppUrl
    $found = @(foreach ($path in $UsualIppPaths) {
            $left = Get-RemainingTime $deadline
            if ($path -ceq $url.AbsolutePath -or $left -eq 0) { continue }
            $other = (New-Object Uri -ArgumentList $url, $path).AbsoluteUri
            $answer = Get-IppAnswer $other $Addresses $left
            if (-not $answer.Problem) { $path }
        })
    if ($found.Count -gt 0) { return "it answers at $($found -join ' and ')" }
    return "none of the usual ones answers ($($UsualIppPaths -join ', '))"
}

#endregion
