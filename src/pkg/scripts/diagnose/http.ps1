### HTTP, as much of it as IPP needs
# A printer that sends all of its attributes sends about 100 KB.
$MaxAnswerBytes = 1048576
$MaxHeadBytes = 16384
# Bytes as characters of the same numbers.
$Latin1 = [Text.Encoding]::GetEncoding(28591)

function Send-HttpPost {
    # Posts bytes and returns the answer: Status, Type, Body (bytes as characters of the same numbers), and Certificate
    # (what is wrong with the TLS certificate). Throws at the deadline.
    param($Url, $Addresses, [byte[]]$Body, $Deadline)
    $client = Open-Connection $Addresses $Url.Port $Deadline
    try {
        $stream = $client.GetStream()
        #<if ipp>
        $faults = [int[]]@(0)
        if ($Url.Scheme -eq 'https') { $stream = Open-Tls $stream -HostName $Url.DnsSafeHost -Faults $faults -Deadline $Deadline }
        #</if>
        $head = "POST $($Url.PathAndQuery) HTTP/1.1`r`nHost: $($Url.Authority)`r`nContent-Type: application/ipp`r`n" +
        "Content-Length: $($Body.Length)`r`nUser-Agent: Platen`r`nConnection: close`r`n`r`n"
        $bytes = [Text.Encoding]::ASCII.GetBytes($head) + $Body
        Wait-ForTask $stream.WriteAsync($bytes, 0, $bytes.Length) (Get-RemainingTime $Deadline)
        $answer = Read-HttpAnswer $stream $Deadline
        #<if ipp>
        if ($faults[0] -band 2) { $answer.Certificate += 'is made for another name, ' }
        if ($faults[0] -band 4) { $answer.Certificate += 'was signed by nobody whom this machine trusts, or is out of date, ' }
        if ($faults[0]) {
            $certificate = [Security.Cryptography.X509Certificates.X509Certificate2]::new($stream.RemoteCertificate)
            $answer.Certificate += "is valid until $($certificate.NotAfter.ToString('yyyy-MM-dd', [Globalization.CultureInfo]::InvariantCulture))"
        }
        #</if>
        return $answer
    }
    finally {
        # A read or write that still runs then fails. Its error is ignored.
        $client.Close()
    }
}

#<if ipp>
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
#</if>

function Read-HttpAnswer {
    # Reads as much as is announced, because some printers keep the connection open.
    param($Stream, $Deadline)
    $buffer = New-Object 'byte[]' -ArgumentList 65536
    $text = ''
    while ($text.Length -le $MaxAnswerBytes) {
        $task = $Stream.ReadAsync($buffer, 0, $buffer.Length)
        Wait-ForTask $task (Get-RemainingTime $Deadline)
        $text += $Latin1.GetString($buffer, 0, $task.Result)
        $answer = ConvertFrom-Http $text ($task.Result -eq 0) $Deadline
        if ($null -ne $answer) { return $answer }
        if ($task.Result -eq 0) { throw 'it hung up before its answer was complete' }
    }
    throw 'its answer does not end'
}

function ConvertFrom-Http {
    # An answer; $null while it is not complete.
    param([string]$Text, [bool]$IsAll, $Deadline)
    # "Continue" may stand before the answer.
    $Text = $Text -replace '(?s)^(?:HTTP/1\.. 1.*?\r\n\r\n)+', ''
    $start = $Text.Substring(0, [Math]::Min(7, $Text.Length))
    if (-not 'HTTP/1.'.StartsWith($start, [StringComparison]::Ordinal)) { throw 'it does not speak HTTP' }
    $end = $Text.IndexOf("`r`n`r`n", [StringComparison]::Ordinal)
    if ($end -lt 0) {
        if ($Text.Length -gt $MaxHeadBytes) { throw 'the head of its answer does not end' }
        return
    }
    $head = $Text.Substring(0, $end)
    if ($head -notmatch '^HTTP/1\.[01] ([0-9]{3})') { throw 'it does not speak HTTP' }
    $answer = @{ Status = [int]$Matches[1]; Type = Get-HttpHeader $head 'Content-Type'; Certificate = ''; Body = $Text.Substring($end + 4) }
    $length = Get-HttpHeader $head 'Content-Length'
    if ((Get-HttpHeader $head 'Transfer-Encoding') -match 'chunked') {
        $answer.Body = ConvertFrom-Chunk $answer.Body $Deadline
        if ($null -eq $answer.Body) { return }
    }
    elseif ($length) {
        if ($length -notmatch '^[0-9]{1,9}$') { throw 'the length of its answer is no number' }
        if ($answer.Body.Length -lt [int]$length) { return }
        $answer.Body = $answer.Body.Substring(0, [int]$length)
    }
    elseif (-not $IsAll) { return }
    return $answer
}

function Get-HttpHeader {
    param([string]$Head, [string]$Name)
    if ($Head -match "\r\n${Name}:[ \t]*([^\r\n]*)") { return $Matches[1].Trim() }
    return ''
}

function ConvertFrom-Chunk {
    # The text of all chunks; $null while the last one is missing.
    param([string]$Text, $Deadline)
    $body = New-Object Text.StringBuilder
    $at = 0
    while ((Get-RemainingTime $Deadline) -gt 0) {
        $line = [regex]::Match($Text.Substring($at, [Math]::Min(1024, $Text.Length - $at)), '^([0-9A-Fa-f]{1,7})[ \t]*(?:;.*)?\r\n')
        if (-not $line.Success) {
            if ($Text.IndexOf("`n", $at) -lt 0 -and $Text.Length - $at -lt 1024) { return $null }
            throw 'a chunk of its answer has no length'
        }
        $length = [Convert]::ToInt32($line.Groups[1].Value, 16)
        if ($length -eq 0) { return $body.ToString() }
        $at += $line.Length
        if ($Text.Length -lt $at + $length + 2) { return $null }
        $null = $body.Append($Text, $at, $length)
        $at += $length + 2
    }
    throw (New-Object TimeoutException)
}

