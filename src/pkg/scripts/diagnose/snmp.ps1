#<if port>
### Asking a device for its state as Windows' TCP/IP port does: SNMP version 1, RFC 1157
function Get-SnmpAnswer {
    # State is answers, no-such-name, refused, silent or broken. DeviceStatus is RFC 2790's hrDeviceStatus. The community
    # stands in no answer and in no message.
    param($Address, [string]$Community, [int]$Index, [int]$Milliseconds, [int]$Port = 161)
    $answer = @{ State = 'silent'; DeviceStatus = 0 }
    $request = New-SnmpRequest $Community $Index
    $buffer = New-Object 'byte[]' -ArgumentList 2048
    $client = [Net.Sockets.UdpClient]::new($Address.AddressFamily)
    try {
        $client.Client.ReceiveTimeout = [int]($Milliseconds / 2)
        $client.Connect($Address, $Port)
        # Sent twice, because a datagram may be lost.
        for ($try = 1; $try -le 2 -and $answer.State -eq 'silent'; $try++) {
            $null = $client.Send($request, $request.Length)
            Receive-SnmpAnswer $client.Client $buffer $answer
        }
    }
    catch {
        $answer.State = 'broken'
        if ($_.Exception.GetBaseException() -is [Net.Sockets.SocketException]) { $answer.State = 'refused' }
    }
    finally {
        $client.Close()
    }
    return $answer
}

function Receive-SnmpAnswer {
    param($Socket, [byte[]]$Buffer, $Answer)
    try {
        $count = $Socket.Receive($Buffer)
    }
    catch {
        if ((Get-ConnectionState $_.Exception) -eq 'silent') { return }
        throw
    }
    $numbers = @(ConvertFrom-Snmp $Buffer $count)
    # The version, the request's id, the error and its place, and the device's status where there is no error.
    $Answer.State = @{ '0' = 'answers'; '2' = 'no-such-name' }[[string]$numbers[2]]
    if ($numbers[2] -eq 0) { $Answer.DeviceStatus = $numbers[4] }
    if (-not $Answer.State) { throw 'no SNMP' }
}

function New-SnmpRequest {
    param([string]$Community, [int]$Index)
    # A number of an identifier takes as many bytes of seven bits as it needs.
    $place = @($Index -band 127)
    for ($rest = $Index -shr 7; $rest -gt 0; $rest = $rest -shr 7) { $place = @($rest -band 127 -bor 128) + $place }
    # 1.3.6.1.2.1.25.3.2.1.5 is hrDeviceStatus, and the device's index stands behind it.
    $variable = (ConvertTo-Ber 6 ([byte[]](43, 6, 1, 2, 1, 25, 3, 2, 1, 5 + $place))) + [byte[]](5, 0)
    $get = [byte[]](2, 1, 1, 2, 1, 0, 2, 1, 0) + (ConvertTo-Ber 0x30 (ConvertTo-Ber 0x30 $variable))
    $name = ConvertTo-Ber 4 ([Text.Encoding]::UTF8.GetBytes($Community))
    return ConvertTo-Ber 0x30 ([byte[]](2, 1, 0) + $name + (ConvertTo-Ber 0xA0 $get))
}

function ConvertTo-Ber {
    param([int]$Tag, [byte[]]$Content)
    $length = $Content.Length
    $head = [byte[]]($Tag, 0x82, ($length -shr 8), ($length -band 255))
    if ($length -lt 128) { $head = [byte[]]($Tag, $length) }
    return [byte[]]($head + $Content)
}

function ConvertFrom-Snmp {
    # The numbers of an answer. Throws where an element is not the one that must stand there.
    param([byte[]]$Bytes, [int]$Count)
    $at = 0
    $numbers = @()
    foreach ($tag in 0x30, 2, 4, 0xA2, 2, 2, 2, 0x30, 0x30, 6, 2) {
        # With an error there is no value.
        if ($numbers.Count -eq 4 -and $numbers[2] -ne 0) { break }
        if ($at + 2 -gt $Count -or $Bytes[$at] -ne $tag) { throw 'no SNMP' }
        $length = [int]$Bytes[$at + 1]
        $at += 2
        if ($length -eq 0x81) { $length = [int]$Bytes[$at++] }
        elseif ($length -eq 0x82) {
            $length = $Bytes[$at] * 256 + $Bytes[$at + 1]
            $at += 2
        }
        if ($at + $length -gt $Count) { throw 'no SNMP' }
        # A sequence holds what comes next.
        if ($tag -ge 0x30) { continue }
        if ($tag -eq 2) {
            if ($length -notin 1..4) { throw 'no SNMP' }
            $number = [long]0
            foreach ($byte in $Bytes[$at..($at + $length - 1)]) { $number = $number * 256 + $byte }
            $numbers += $number
        }
        $at += $length
    }
    return $numbers
}

#</if>
