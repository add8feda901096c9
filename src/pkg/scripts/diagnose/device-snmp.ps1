#region Whether the device answers where Windows asks it for its state

function Test-Snmp {
    # Windows shows a queue "Offline" and keeps its jobs where SNMP status is on and the device does not answer it.
    param($Printer, $Port, $Address)
    $isOn = $Printer.Snmp
    $community = $Printer.SnmpCommunity
    $index = $Printer.SnmpIndex
    if ($null -ne $Port) {
        $isOn = [bool](Get-Property $Port 'SNMPEnabled')
        $community = [string](Get-Property $Port 'SNMPCommunity')
        $index = [int](Get-Property $Port 'SNMPIndex')
    }
    if ($Printer.Protocol -eq 'ipp') { return }
    if (-not $isOn) {
        Add-Finding 'ok' 'snmp' 'status is off for the port: Windows does not ask the device'
        return
    }
    $answer = Get-SnmpAnswer $Address -Community $community -Index $index -Milliseconds (1000 * $script:Seconds)
    $offline = 'so Windows shows the queue offline and keeps its jobs. Switch SNMP status off for the port'
    $texts = @{
        'silent' = "status is on for the port, but the device does not answer within $script:Seconds s, $offline, or on in the device with the same community"
        'refused' = "status is on for the port, but the device refuses SNMP, $offline, or SNMP on in the device"
        'broken' = "status is on for the port, but what the device answers is no SNMP, $offline"
        'no-such-name' = "status is on for the port, but the device knows no device of index $index, $offline, or try index 1"
    }
    if ($texts.ContainsKey($answer.State)) {
        Add-Finding 'bad' 'snmp' $texts[$answer.State]
        return
    }
    $devices = @{ '2' = 'running'; '3' = 'running with a warning'; '4' = 'testing'; '5' = 'down' }
    $state = 'unknown'
    if ($devices.ContainsKey([string]$answer.DeviceStatus)) { $state = $devices[[string]$answer.DeviceStatus] }
    $level = 'ok'
    if ($answer.DeviceStatus -eq 3) { $level = 'warn' }
    if ($answer.DeviceStatus -eq 5) { $level = 'bad' }
    Add-Finding $level 'snmp' "the device answers: $state"
}

#endregion
