#region Asking a printer by IPP (RFC 8010, RFC 8011)

$IppAttributes = 'printer-make-and-model', 'printer-state', 'printer-state-reasons', 'printer-is-accepting-jobs',
'document-format-supported', 'ipp-versions-supported', 'ipp-features-supported'
$IppRequestId = 1
$MaxIppValues = 20000
$MaxKeptValues = 64

function Get-IppAnswer {
    # Get-Printer-Attributes of a printer. Problem is '' or what came instead of an answer, in words that follow "it";
    # Status is HTTP's or, in words, IPP's.
    param([string]$Url, $Addresses, [int]$Milliseconds)
    $deadline = New-Deadline $Milliseconds
    $answer = @{ Problem = ''; Status = ''; Certificate = ''; Attributes = @{}; State = 'open' }
    try {
        $uri = [Uri]$Url
        $scheme = @{ http = 'ipp'; https = 'ipps' }[$uri.Scheme]
        $request = New-IppRequest "${scheme}://$($uri.Authority)$($uri.PathAndQuery)"
        $http = Send-HttpPost $uri -Addresses $Addresses -Body $request -Deadline $deadline
        $answer.Certificate = $http.Certificate
        $answer.Status = [string]$http.Status
        if ($http.Status -ne 200) {
            $answer.Problem = "answers HTTP $($http.Status)"
        }
        elseif ($http.Type -notmatch '^application/ipp') {
            $answer.Problem = "answers with $(ConvertTo-OneLine $http.Type 60), which is not IPP"
        }
        else {
            $ipp = ConvertFrom-Ipp $Latin1.GetBytes($http.Body) $deadline
            $answer.Status = $ipp.Status
            $answer.Attributes = $ipp.Attributes
            if ($ipp.Status -ne 'successful') { $answer.Problem = "answers $($ipp.Status)" }
        }
    }
    catch {
        Set-IppProblem $answer $_.Exception $Milliseconds
    }
    return $answer
}

function Set-IppProblem {
    # What an exception says of the other side.
    param($Answer, $Exception, [int]$Milliseconds)
    $base = $Exception.GetBaseException()
    if ($base -is [Net.Sockets.SocketException]) { $Answer.State = Get-ConnectionState $base }
    if ($base -is [TimeoutException]) {
        $Answer.State = 'silent'
        $Answer.Problem = "gave no complete answer in $($Milliseconds / 1000) s"
    }
    elseif ($Answer.State -eq 'refused') {
        $Answer.Problem = 'refuses the connection'
    }
    elseif ($base -is [Management.Automation.RuntimeException]) {
        $Answer.Problem = $base.Message -replace '^it ', ''
    }
    else {
        $Answer.Problem = "breaks off: $($base.Message)"
    }
}

function New-IppRequest {
    # Get-Printer-Attributes, version 2.0.
    param([string]$PrinterUri)
    $bytes = New-Object IO.MemoryStream
    $head = [byte[]](2, 0, 0, 0x0B, 0, 0, 0, $IppRequestId, 1)
    $bytes.Write($head, 0, $head.Length)
    Write-IppText $bytes -Tag 0x47 -Name 'attributes-charset' -Value 'utf-8'
    Write-IppText $bytes -Tag 0x48 -Name 'attributes-natural-language' -Value 'en'
    Write-IppText $bytes -Tag 0x45 -Name 'printer-uri' -Value $PrinterUri
    $name = 'requested-attributes'
    foreach ($attribute in $IppAttributes) {
        Write-IppText $bytes -Tag 0x44 -Name $name -Value $attribute
        # Further values have no name.
        $name = ''
    }
    $bytes.WriteByte(3)
    return , $bytes.ToArray()
}

function Write-IppText {
    param($Stream, [int]$Tag, [string]$Name, [string]$Value)
    $Stream.WriteByte($Tag)
    foreach ($text in $Name, $Value) {
        $bytes = [Text.Encoding]::UTF8.GetBytes($text)
        $Stream.Write([byte[]](($bytes.Length -shr 8), ($bytes.Length -band 255)), 0, 2)
        $Stream.Write($bytes, 0, $bytes.Length)
    }
}

function ConvertFrom-Ipp {
    # Status in words, and the printer's Attributes that were asked for, each a list of texts. Throws where a length
    # leads past the end, or the end is missing.
    param([byte[]]$Bytes, $Deadline)
    if ($Bytes.Length -lt 9) { throw 'its answer is too short for IPP' }
    if ((Read-IppNumber $Bytes 4 4) -ne $IppRequestId) { throw 'its answer belongs to another request' }
    $attributes = @{}
    $group = 0
    $depth = 0
    $name = ''
    $at = 8
    for ($count = 0; $count -lt $MaxIppValues; $count++) {
        if ($count % 100 -eq 99 -and (Get-RemainingTime $Deadline) -eq 0) { throw (New-Object TimeoutException) }
        if ($at -ge $Bytes.Length) { throw 'its answer has no end' }
        $tag = $Bytes[$at]
        if ($tag -eq 3) {
            return @{ Status = (Get-IppStatus (Read-IppNumber $Bytes 2 2)); Attributes = $attributes }
        }
        $at++
        if ($tag -lt 16) {
            $group = $tag
            continue
        }
        $value = Read-IppValue $Bytes $at
        $at = $value.Next
        if ($value.Name) { $name = $value.Name }
        # What is inside a collection belongs to no attribute that was asked for.
        if ($tag -eq 0x34) { $depth++ }
        elseif ($tag -eq 0x37) { $depth-- }
        elseif ($depth -eq 0 -and $group -eq 4) { Add-IppValue $attributes -Name $name -Tag $tag -Bytes $Bytes -Value $value }
    }
    throw 'its answer has too many values'
}

function Read-IppNumber {
    param([byte[]]$Bytes, [int]$At, [int]$Count)
    $number = [long]0
    for ($i = 0; $i -lt $Count; $i++) {
        if ($At + $i -ge $Bytes.Length) { throw 'its answer breaks off in a number' }
        $number = $number * 256 + $Bytes[$At + $i]
    }
    return $number
}

function Read-IppValue {
    # The name of an attribute, '' for a further value, and where its value is.
    param([byte[]]$Bytes, [int]$At)
    if ($At + 4 -gt $Bytes.Length) { throw 'its answer breaks off in a value' }
    $nameLength = $Bytes[$At] * 256 + $Bytes[$At + 1]
    $start = $At + 4 + $nameLength
    if ($start -gt $Bytes.Length) { throw 'its answer has a name that is longer than the answer' }
    $length = $Bytes[$start - 2] * 256 + $Bytes[$start - 1]
    if ($start + $length -gt $Bytes.Length) { throw 'its answer has a value that is longer than the answer' }
    return @{ Name = [Text.Encoding]::ASCII.GetString($Bytes, $At + 2, $nameLength); Start = $start; Length = $length; Next = $start + $length }
}

function Add-IppValue {
    param($Attributes, [string]$Name, [int]$Tag, [byte[]]$Bytes, $Value)
    if ($IppAttributes -cnotcontains $Name) { return }
    if (-not $Attributes.ContainsKey($Name)) { $Attributes[$Name] = @() }
    if ($Attributes[$Name].Count -ge $MaxKeptValues) { return }
    $Attributes[$Name] += ConvertFrom-IppValue $Tag -Bytes $Bytes -Start $Value.Start -Length $Value.Length
}

function ConvertFrom-IppValue {
    param([int]$Tag, [byte[]]$Bytes, [int]$Start, [int]$Length)
    # Integer and enumeration; boolean.
    if ($Tag -eq 0x21 -or $Tag -eq 0x23) { return [string](Read-IppNumber $Bytes $Start ([Math]::Min(4, $Length))) }
    if ($Tag -eq 0x22) { return [string]($Length -gt 0 -and $Bytes[$Start] -ne 0) }
    # "Unsupported" and the like hold no value.
    if ($Tag -lt 0x20) { return '' }
    $from = $Start
    if ($Tag -eq 0x35 -or $Tag -eq 0x36) {
        # A text with its language: both have a length.
        $from += 4 + (Read-IppNumber $Bytes $Start 2)
        if ($from -gt $Start + $Length) { throw 'its answer has a text that is longer than its value' }
    }
    return ConvertTo-OneLine ([Text.Encoding]::UTF8.GetString($Bytes, $from, $Start + $Length - $from)) 120
}

function Get-IppStatus {
    param([int]$Code)
    if ($Code -lt 0x0100) { return 'successful' }
    $names = @{
        0x0400 = 'client-error-bad-request'; 0x0401 = 'client-error-forbidden'; 0x0402 = 'client-error-not-authenticated'
        0x0403 = 'client-error-not-authorized'; 0x0404 = 'client-error-not-possible'; 0x0406 = 'client-error-not-found'
        0x0407 = 'client-error-gone'; 0x0500 = 'server-error-internal-error'; 0x0501 = 'server-error-operation-not-supported'
        0x0502 = 'server-error-service-unavailable'; 0x0503 = 'server-error-version-not-supported'
        0x0504 = 'server-error-device-error'; 0x0505 = 'server-error-temporary-error'; 0x0507 = 'server-error-busy'
    }
    if ($names.ContainsKey($Code)) { return $names[$Code] }
    return 'status 0x{0:x4}' -f $Code
}

#endregion
