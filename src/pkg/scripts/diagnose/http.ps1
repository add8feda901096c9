#region HTTP, as much of it as IPP needs

# Printers send some 100 KB where they send everything; nobody sends more without ill will.
$MaxAnswerBytes = 1048576
$MaxHeadBytes = 16384
# Bytes as characters of the same numbers.
$Latin1 = [Text.Encoding]::GetEncoding(28591)

function Send-HttpPost {
    # Posts bytes and returns the answer: Status, Type, Body (bytes as characters of the same numbers), and of TLS
    # Certificate (what is wrong with it, '' for nothing). Throws within the deadline, whatever the other side does.
    param($Url, $Addresses, [byte[]]$Body, $Deadline)
    $client = Open-Connection $Addresses $Url.Port $Deadline
    try {
        $stream = $client.GetStream()
        $certificate = ''
        if ($Url.Scheme -eq 'https') {
            $faults = [int[]]@(0)
            $stream = Open-Tls $stream -HostName $Url.DnsSafeHost -Faults $faults -Deadline $Deadline
            $certificate = Get-CertificateFault $stream $faults[0]
        }
        $head = "POST $($Url.PathAndQuery) HTTP/1.1`r`nHost: $($Url.Authority)`r`nContent-Type: application/ipp`r`n" +
        "Content-Length: $($Body.Length)`r`nUser-Agent: Platen`r`nConnection: close`r`n`r`n"
        $bytes = [Text.Encoding]::ASCII.GetBytes($head) + $Body
        Wait-ForTask $stream.WriteAsync($bytes, 0, $bytes.Length) (Get-RemainingTime $Deadline)
        $answer = Read-HttpAnswer $stream $Deadline
        $answer.Certificate = $certificate
        return $answer
    }
    finally {
        # What is still being read or written fails then, unheard.
        $client.Close()
    }
}

function Open-Tls {
    # Printers sign their own certificates: any is taken, and what is wrong with it is put into $Faults. A compiled
    # function, because a scriptblock cannot run on the threads that call it.
    param($Stream, [string]$HostName, [int[]]$Faults, $Deadline)
    $expression = [Linq.Expressions.Expression]
    $types = [object], [Security.Cryptography.X509Certificates.X509Certificate], [Security.Cryptography.X509Certificates.X509Chain], [Net.Security.SslPolicyErrors]
    $parameters = [Linq.Expressions.ParameterExpression[]]@($types | ForEach-Object { $expression::Parameter($_) })
    $store = $expression::ArrayAccess($expression::Constant($Faults), [Linq.Expressions.Expression[]]@($expression::Constant(0)))
    $work = [Linq.Expressions.Expression[]]@(
        $expression::Assign($store, $expression::Convert($parameters[3], [int])),
        $expression::Constant($true))
    $check = $expression::Lambda([Net.Security.RemoteCertificateValidationCallback], $expression::Block($work), $parameters).Compile()
    $tls = [Net.Security.SslStream]::new($Stream, $false, $check)
    # None: what this Windows offers.
    $task = $tls.AuthenticateAsClientAsync($HostName, $null, [Security.Authentication.SslProtocols]::None, $false)
    Wait-ForTask $task (Get-RemainingTime $Deadline)
    return $tls
}

function Get-CertificateFault {
    param($Stream, [int]$Faults)
    if ($Faults -eq 0) { return '' }
    $texts = @()
    if ($Faults -band 2) { $texts += 'is made for another name' }
    if ($Faults -band 4) { $texts += 'was signed by nobody whom this machine trusts, or is out of date' }
    if ($null -ne $Stream.RemoteCertificate) {
        $certificate = [Security.Cryptography.X509Certificates.X509Certificate2]::new($Stream.RemoteCertificate)
        $texts += "is valid until $($certificate.NotAfter.ToString('yyyy-MM-dd', [Globalization.CultureInfo]::InvariantCulture))"
    }
    return $texts -join ', '
}

function Read-HttpAnswer {
    param($Stream, $Deadline)
    $buffer = New-Object 'byte[]' -ArgumentList 65536
    $store = New-Object IO.MemoryStream
    while ($true) {
        $task = $Stream.ReadAsync($buffer, 0, $buffer.Length)
        Wait-ForTask $task (Get-RemainingTime $Deadline)
        $store.Write($buffer, 0, $task.Result)
        $answer = ConvertFrom-Http $Latin1.GetString($store.ToArray()) ($task.Result -eq 0) $Deadline
        if ($null -ne $answer) { return $answer }
        if ($task.Result -eq 0) { throw 'it hung up before its answer was complete' }
        if ($store.Length -gt $MaxAnswerBytes) { throw 'its answer does not end' }
    }
}

function ConvertFrom-Http {
    # An answer; $null while it is not complete.
    param([string]$Text, [bool]$IsAll, $Deadline)
    $rest = $Text
    # "Continue" may stand before the answer.
    for ($i = 0; $i -lt 3; $i++) {
        $head = Get-HttpHead $rest
        if ($null -eq $head) { return $null }
        $rest = $rest.Substring($head.Length + 4)
        if ($head -notmatch '^HTTP/1\.[01] ([0-9]{3})') { throw 'it does not speak HTTP' }
        $status = [int]$Matches[1]
        if ($status -ge 200) { break }
    }
    $body = Get-HttpBody $head -Rest $rest -IsAll $IsAll -Deadline $Deadline
    if ($null -eq $body) { return $null }
    return @{ Status = $status; Type = (Get-HttpHeader $head 'Content-Type'); Body = $body }
}

function Get-HttpHead {
    # What stands before the empty line; $null while it is not there.
    param([string]$Text)
    $start = $Text.Substring(0, [Math]::Min(7, $Text.Length))
    if (-not 'HTTP/1.'.StartsWith($start, [StringComparison]::Ordinal)) { throw 'it does not speak HTTP' }
    $end = $Text.IndexOf("`r`n`r`n", [StringComparison]::Ordinal)
    if ($end -ge 0) { return $Text.Substring(0, $end) }
    if ($Text.Length -gt $MaxHeadBytes) { throw 'the head of its answer does not end' }
    return $null
}

function Get-HttpHeader {
    param([string]$Head, [string]$Name)
    if ($Head -match "\r\n${Name}:[ \t]*([^\r\n]*)") { return $Matches[1].Trim() }
    return ''
}

function Get-HttpBody {
    # The whole body; $null while it is not there.
    param([string]$Head, [string]$Rest, [bool]$IsAll, $Deadline)
    if ((Get-HttpHeader $Head 'Transfer-Encoding') -match 'chunked') {
        return ConvertFrom-Chunk $Rest $Deadline
    }
    $length = Get-HttpHeader $Head 'Content-Length'
    if ($length -match '^[0-9]{1,9}$') {
        if ([int]$length -gt $MaxAnswerBytes) { throw 'its answer is too long' }
        if ($Rest.Length -lt [int]$length) { return $null }
        return $Rest.Substring(0, [int]$length)
    }
    if ($length) { throw 'the length of its answer is no number' }
    if (-not $IsAll) { return $null }
    return $Rest
}

function ConvertFrom-Chunk {
    # The text of all chunks; $null while the last one is missing.
    param([string]$Text, $Deadline)
    $body = New-Object Text.StringBuilder
    $at = 0
    while ($true) {
        if ((Get-RemainingTime $Deadline) -eq 0) { throw (New-Object TimeoutException) }
        $end = $Text.IndexOf("`r`n", $at, [StringComparison]::Ordinal)
        if ($end -lt 0) {
            if ($Text.Length - $at -gt 1024) { throw 'a chunk of its answer has no length' }
            return $null
        }
        if ($Text.Substring($at, $end - $at) -notmatch '^([0-9A-Fa-f]{1,7})[ \t]*(?:;|$)') { throw 'a chunk of its answer has no length' }
        $length = [Convert]::ToInt32($Matches[1], 16)
        if ($length -eq 0) { return $body.ToString() }
        $at = $end + 2
        if ($Text.Length -lt $at + $length + 2) { return $null }
        $null = $body.Append($Text, $at, $length)
        $at += $length + 2
    }
}

#endregion
