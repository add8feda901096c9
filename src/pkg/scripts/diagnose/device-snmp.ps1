#<if port>
### Whether the device answers where Windows asks it for its state
function Test-Snmp {
    # Windows shows a queue "Offline" and keeps its jobs where SNMP status is on and the device does not answer it. Only
    # Windows says with which community it asks: this script does not carry it.
    param($Printer, $Port, $Address)
    $isOn = $Printer.Snmp
    $community = [string](Get-Property $Port 'SNMPCommunity')
    $index = [int](Get-Property $Port 'SNMPIndex')
    if ($null -ne $Port) { $isOn = [bool](Get-Property $Port 'SNMPEnabled') }
    if (-not $isOn) {
        Add-Finding 'ok' 'snmp' 'status is off for the port: Windows does not ask the device'
        return
    }
    if (-not $community) { $community = 'public' }
    if ($index -eq 0) { $index = 1 }
    $answer = Get-SnmpAnswer $Address -Community $community -Index $index -Milliseconds (1000 * $script:Seconds)
    if ($answer.State -eq 'answers') {
        $state = @{ '2' = 'running'; '3' = 'running with a warning'; '4' = 'testing'; '5' = 'down' }[[string]$answer.DeviceStatus]
        if (-not $state) { $state = 'unknown' }
        $level = 'ok'
        if ($answer.DeviceStatus -eq 3) { $level = 'warn' }
        if ($answer.DeviceStatus -eq 5) { $level = 'bad' }
        Add-Finding $level 'snmp' "the device answers: $state"
        return
    }
    $offline = 'so Windows shows the queue offline and keeps its jobs. Switch SNMP status off for the port'
    $text = @{
        'silent' = "the device does not answer within $script:Seconds s, $offline, or on in the device with the same community"
        'refused' = "the device refuses SNMP, $offline, or SNMP on in the device"
        'broken' = "what the device answers is no SNMP, $offline"
        'no-such-name' = "the device knows no device of index $index, $offline, or try index 1"
    }[$answer.State]
    Add-Finding 'bad' 'snmp' "status is on for the port, but $text"
}

#</if>
