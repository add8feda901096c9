#region Asking a device for its state as Windows' TCP/IP port does: SNMP version 1, RFC 1157

$SnmpPort = 161
$SnmpRequestId = 1
# RFC 2790: hrDeviceStatus and hrPrinterStatus; behind them comes the device's index.
$SnmpDeviceStatus = 1, 3, 6, 1, 2, 1, 25, 3, 2, 1, 5
$SnmpPrinterStatus = 1, 3, 6, 1, 2, 1, 25, 3, 5, 1, 1

function Get-SnmpAnswer {
    # State is answers, no-such-name, refused, silent or broken; with answers, DeviceStatus and PrinterStatus. The
    # community stands in no answer and in no message.
    param($Address, [string]$Community, [int]$Index, [int]$Milliseconds, [int]$Port = $SnmpPort)
    $answer = @{ State = 'silent'; DeviceStatus = 0; PrinterStatus = 0 }
    $deadline = New-Deadline $Milliseconds
    $request = New-SnmpRequest $Community $Index
    $client = [Net.Sockets.UdpClient]::new($Address.AddressFamily)
    try {
        $client.Connect($Address, $Port)
        $pending = @{ Client = $client; Task = $null }
        # Sent twice, because a datagram may be lost.
        for ($try = 1; $try -le 2 -and $answer.State -eq 'silent'; $try++) {
            $null = $client.Send($request, $request.Length)
            $share = [int]((Get-RemainingTime $deadline) / (3 - $try))
            Receive-SnmpAnswer $pending $answer (New-Deadline $share)
        }
    }
    catch {
        $answer.State = 'refused'
        if ($_.Exception.GetBaseException() -isnot [Net.Sockets.SocketException]) { $answer.State = 'broken' }
    }
    finally {
        $client.Close()
    }
    return $answer
}

function Receive-SnmpAnswer {
    # Waits for the answer to our request, whatever else comes. What is still being received stays in $Pending: it is
    # given the next datagram.
    param($Pending, $Answer, $Deadline)
    while ((Get-RemainingTime $Deadline) -gt 0) {
        if ($null -eq $Pending.Task) { $Pending.Task = $Pending.Client.ReceiveAsync() }
        try {
            Wait-ForTask $Pending.Task (Get-RemainingTime $Deadline)
        }
        catch [TimeoutException] {
            return
        }
        $bytes = $Pending.Task.Result.Buffer
        $Pending.Task = $null
        try {
            $found = ConvertFrom-Snmp $bytes
        }
        catch {
            $Answer.State = 'broken'
            return
        }
        if ($found.RequestId -ne $SnmpRequestId) { continue }
        $Answer.State = 'answers'
        if ($found.Error -eq 2) { $Answer.State = 'no-such-name' }
        elseif ($found.Error -ne 0) { $Answer.State = 'broken' }
        $Answer.DeviceStatus = $found.Values[0]
        $Answer.PrinterStatus = $found.Values[1]
        return
    }
}

function New-SnmpRequest {
    param([string]$Community, [int]$Index)
    $variables = foreach ($name in $SnmpDeviceStatus, $SnmpPrinterStatus) {
        $identifier = ConvertTo-Ber 6 (ConvertTo-Identifier ($name + $Index))
        ConvertTo-Ber 0x30 ($identifier + [byte[]](5, 0))
    }
    $zero = [byte[]](2, 1, 0)
    $list = ConvertTo-Ber 0x30 $variables
    $get = ConvertTo-Ber 0xA0 ([byte[]](2, 1, $SnmpRequestId) + $zero + $zero + $list)
    $name = ConvertTo-Ber 4 ([Text.Encoding]::UTF8.GetBytes($Community))
    return ConvertTo-Ber 0x30 ($zero + $name + $get)
}

function ConvertTo-Ber {
    param([int]$Tag, [byte[]]$Content)
    $length = $Content.Length
    if ($length -lt 128) { $head = [byte[]]($Tag, $length) }
    else { $head = [byte[]]($Tag, 0x82, ($length -shr 8), ($length -band 255)) }
    return [byte[]]($head + $Content)
}

function ConvertTo-Identifier {
    # The first two numbers in one byte, each further one in as many bytes of seven bits as it needs.
    param([int[]]$Numbers)
    $Numbers[0] * 40 + $Numbers[1]
    foreach ($number in $Numbers[2..($Numbers.Count - 1)]) {
        $bytes = @($number -band 127)
        for ($rest = $number -shr 7; $rest -gt 0; $rest = $rest -shr 7) { $bytes = @($rest -band 127 -bor 128) + $bytes }
        $bytes
    }
}

function ConvertFrom-Snmp {
    # The request's id, the error and the two values of an answer. Throws where it is none.
    param([byte[]]$Bytes)
    $message = Read-Ber $Bytes 0 0x30
    $version = Read-Ber $Bytes $message.Start 2
    $community = Read-Ber $Bytes $version.Next 4
    $answer = Read-Ber $Bytes $community.Next 0xA2
    $id = Read-Ber $Bytes $answer.Start 2
    $problem = Read-Ber $Bytes $id.Next 2
    $place = Read-Ber $Bytes $problem.Next 2
    $list = Read-Ber $Bytes $place.Next 0x30
    $values = @(0, 0)
    $at = $list.Start
    for ($i = 0; $i -lt 2 -and $problem.Number -eq 0; $i++) {
        $variable = Read-Ber $Bytes $at 0x30
        $name = Read-Ber $Bytes $variable.Start 6
        $values[$i] = (Read-Ber $Bytes $name.Next 2).Number
        $at = $variable.Next
    }
    return @{ RequestId = $id.Number; Error = $problem.Number; Values = $values }
}

function Read-Ber {
    # An element of the tag that must stand there: where its content starts, where the next one does, and its number
    # where it holds one.
    param([byte[]]$Bytes, [int]$At, [int]$Tag)
    if ($At + 2 -gt $Bytes.Length -or $Bytes[$At] -ne $Tag) { throw 'no SNMP' }
    $length = [int]$Bytes[$At + 1]
    $start = $At + 2
    if ($length -gt 128) {
        $count = $length - 128
        if ($count -gt 2 -or $start + $count -gt $Bytes.Length) { throw 'no SNMP' }
        $length = 0
        for ($i = 0; $i -lt $count; $i++) { $length = $length * 256 + $Bytes[$start + $i] }
        $start += $count
    }
    if ($start + $length -gt $Bytes.Length) { throw 'no SNMP' }
    $number = [long]0
    if ($Tag -eq 2 -and $length -le 4) { for ($i = 0; $i -lt $length; $i++) { $number = $number * 256 + $Bytes[$start + $i] } }
    return @{ Start = $start; Next = $start + $length; Number = $number }
}

#endregion
