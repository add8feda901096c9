### The device: its name and its port
# The addresses of the printer in work, if its name was resolved.
$script:DeviceAddresses = @()

function Test-Device {
    # Asks a question only if the one before found a device to ask.
    param($Printer, $Port)
    $milliseconds = 1000 * $script:Seconds
    $addresses = @(Get-DeviceAddress $Printer $milliseconds)
    if ($addresses.Count -eq 0) { return }
    $script:DeviceAddresses = @($addresses | ForEach-Object { [string]$_ })
    $number = $Printer.PortNumber
    if ($Printer.Protocol -eq 'lpr') { $number = 515 }
    $answer = Get-TcpAnswer $addresses $number $milliseconds
    $where = "$($Printer.Address) port $number"
    if ($answer.State -eq 'open') { Add-Finding 'ok' 'tcp' "$where answers in $($answer.Milliseconds) ms" }
    else { Add-Finding 'bad' 'tcp' "$where $(Get-StateText $answer.State)" }
    # A device that refuses one port may answer at others. A device that does not answer at one answers at none.
    if ($answer.State -notin 'open', 'refused') { return }
    #<if ipp>
    if ($Printer.IppUrl) {
        if ($answer.State -eq 'open') { Invoke-Check 'ipp' { Test-Ipp $Printer $addresses } }
        return
    }
    #</if>
    #<if port>
    Invoke-Check 'driverless' { Test-Driverless $Printer $addresses }
    Invoke-Check 'snmp' { Test-Snmp $Printer $Port $addresses[0] }
    #</if>
}

function Get-DeviceAddress {
    param($Printer, [int]$Milliseconds)
    try {
        $addresses = @(Get-HostAddress $Printer.Address $Milliseconds)
    }
    catch {
        $problem = 'is no name that this machine can resolve'
        if ($_.Exception -is [TimeoutException]) { $problem = 'is a name to which no name server answers' }
        Add-Finding 'bad' 'name' "$($Printer.Address) $problem"
        return
    }
    if ($null -eq ($Printer.Address -as [Net.IPAddress])) {
        Add-Finding 'ok' 'name' "$($Printer.Address) is $($addresses -join ', ')"
    }
    return $addresses
}

function Get-StateText {
    param([string]$State)
    if ($State -eq 'refused') { return 'refuses the connection: another device, or this way of printing is switched off in it' }
    if ($State -eq 'silent') { return "does not answer within $script:Seconds s: off, asleep, in another network, or behind a firewall" }
    return 'cannot be reached from this machine: no way leads to that network'
}

