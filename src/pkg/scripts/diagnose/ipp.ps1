### Asking a printer by IPP (RFC 8010, RFC 8011)
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
    $answer = @{ Url = $Url; Problem = ''; Status = ''; Certificate = ''; Attributes = @{} }
    try {
        $uri = [Uri]$Url
        $scheme = @{ http = 'ipp'; https = 'ipps' }[$uri.Scheme]
        $request = $Latin1.GetBytes((New-IppRequest "${scheme}://$($uri.Authority)$($uri.PathAndQuery)"))
        $http = Send-HttpPost $uri -Addresses $Addresses -Body $request -Deadline $deadline
        $answer.Certificate = $http.Certificate
        $answer.Status = [string]$http.Status
        if ($http.Status -ne 200) { $answer.Problem = "answers HTTP $($http.Status)" }
        elseif ($http.Type -notmatch '^application/ipp') {
            $answer.Problem = "answers with $(ConvertTo-OneLine $http.Type 60), which is not IPP"
        }
        else {
            $ipp = ConvertFrom-Ipp $http.Body $deadline
            $answer.Status = $ipp.Status
            $answer.Attributes = $ipp.Attributes
            if ($ipp.Status -ne 'successful') { $answer.Problem = "answers $($ipp.Status)" }
        }
    }
    catch {
        $base = $_.Exception.GetBaseException()
        if ($base -is [TimeoutException]) { $answer.Problem = "gave no complete answer in $($Milliseconds / 1000) s" }
        elseif ((Get-ConnectionState $base) -eq 'refused') { $answer.Problem = 'refuses the connection' }
        # Errors of this script.
        elseif ($base -is [Management.Automation.RuntimeException]) { $answer.Problem = $base.Message -replace '^it ', '' }
        else { $answer.Problem = "breaks off: $($base.Message)" }
    }
    return $answer
}

# Requests and answers are texts here: each character is a byte.

function New-IppRequest {
    # Get-Printer-Attributes, version 2.0.
    param([string]$PrinterUri)
    $fields = @((0x47, 'attributes-charset', 'utf-8'), (0x48, 'attributes-natural-language', 'en'), (0x45, 'printer-uri', $PrinterUri))
    $name = 'requested-attributes'
    # Further values have no name.
    foreach ($attribute in $IppAttributes) {
        $fields += , (0x44, $name, $attribute)
        $name = ''
    }
    $codes = @(2, 0, 0, 0x0B, 0, 0, 0, $IppRequestId, 1)
    foreach ($field in $fields) {
        $codes += $field[0]
        foreach ($text in $field[1], $field[2]) { $codes += @(($text.Length -shr 8), ($text.Length -band 255)) + [int[]][char[]]$text }
    }
    return -join [char[]]($codes + 3)
}

function ConvertFrom-Ipp {
    # Status in words, and the printer's Attributes that were asked for, each a list of texts.
    param([string]$Text, $Deadline)
    if ($Text.Length -lt 9) { throw 'its answer is too short for IPP' }
    if ((ConvertTo-IppNumber $Text.Substring(4, 4)) -ne $IppRequestId) { throw 'its answer belongs to another request' }
    $attributes = @{}
    $group = 0
    $depth = 0
    $name = ''
    $at = 8
    for ($count = 0; $count -lt $MaxIppValues; $count++) {
        if ($count % 100 -eq 99 -and (Get-RemainingTime $Deadline) -eq 0) { throw (New-Object TimeoutException) }
        if ($at -ge $Text.Length) { throw 'its answer has no end' }
        $tag = [int]$Text[$at]
        if ($tag -eq 3) {
            return @{ Status = (Get-IppStatus (ConvertTo-IppNumber $Text.Substring(2, 2))); Attributes = $attributes }
        }
        $at++
        if ($tag -lt 16) {
            $group = $tag
            continue
        }
        $first = Read-IppField $Text $at
        $value = Read-IppField $Text ($at + 2 + $first.Length)
        $at += 4 + $first.Length + $value.Length
        # Further values have no name.
        if ($first) { $name = $first }
        # What is inside a collection belongs to no attribute that was asked for.
        if ($tag -eq 0x34) { $depth++ }
        elseif ($tag -eq 0x37) { $depth-- }
        elseif ($depth -eq 0 -and $group -eq 4 -and $IppAttributes -ccontains $name) {
            if (-not $attributes.ContainsKey($name)) { $attributes[$name] = @() }
            if ($attributes[$name].Count -lt $MaxKeptValues) { $attributes[$name] += ConvertFrom-IppValue $tag $value }
        }
    }
    throw 'its answer has too many values'
}

function ConvertTo-IppNumber {
    param([string]$Text)
    $number = [long]0
    foreach ($character in $Text.ToCharArray()) { $number = $number * 256 + [int]$character }
    return $number
}

function Read-IppField {
    # The bytes after a length of two bytes.
    param([string]$Text, [int]$At)
    if ($At + 2 -gt $Text.Length) { throw 'its answer breaks off' }
    $length = [int]$Text[$At] * 256 + [int]$Text[$At + 1]
    if ($At + 2 + $length -gt $Text.Length) { throw 'its answer has a value that is longer than the answer' }
    return $Text.Substring($At + 2, $length)
}

function ConvertFrom-IppValue {
    param([int]$Tag, [string]$Value)
    # Integer and enumeration; boolean.
    if ($Tag -eq 0x21 -or $Tag -eq 0x23) { return [string](ConvertTo-IppNumber $Value.Substring(0, [Math]::Min(4, $Value.Length))) }
    if ($Tag -eq 0x22) { return [string]($Value -and $Value[0] -ne [char]0) }
    # "Unsupported" and the like hold no value.
    if ($Tag -lt 0x20) { return '' }
    # A text with its language, which comes first.
    if ($Tag -eq 0x35 -or $Tag -eq 0x36) { $Value = Read-IppField $Value (2 + (Read-IppField $Value 0).Length) }
    return ConvertTo-OneLine ([Text.Encoding]::UTF8.GetString($Latin1.GetBytes($Value))) 120
}

function Get-IppStatus {
    param([int]$Code)
    if ($Code -lt 0x0100) { return 'successful' }
    $names = @{
        0x0401 = 'client-error-forbidden'; 0x0402 = 'client-error-not-authenticated'; 0x0403 = 'client-error-not-authorized'
        0x0406 = 'client-error-not-found'; 0x0503 = 'server-error-version-not-supported'; 0x0507 = 'server-error-busy'
    }
    if ($names.ContainsKey($Code)) { return $names[$Code] }
    return 'status 0x{0:x4}' -f $Code
}

