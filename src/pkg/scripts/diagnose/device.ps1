#region The device: its name and its port

# Of the printer that is looked at, as far as its name was resolved.
$script:DeviceAddresses = @()

function Test-Device {
    # Each question only where those before found something to ask.
    param($Printer, $Port)
    $milliseconds = 1000 * $script:Seconds
    $addresses = @(Get-DeviceAddress -Printer $Printer -Milliseconds $milliseconds)
    if ($addresses.Count -eq 0) { return }
    $script:DeviceAddresses = @($addresses | ForEach-Object -Process { [string]$_ })
    $number = $Printer.PortNumber
    if ($Printer.Protocol -eq 'lpr') { $number = 515 }
    $answer = Get-TcpAnswer -Addresses $addresses -Port $number -Milliseconds $milliseconds
    $where = "$($Printer.Address) port $number"
    if ($answer.State -eq 'open') { Add-Finding -Level 'ok' -Check 'tcp' -Text "$where answers in $($answer.Milliseconds) ms" }
    else { Add-Finding -Level 'bad' -Check 'tcp' -Text "$where $(Get-StateText -State $answer.State)" }
    # A device that refuses one port may answer at others; one that is silent is.
    if ($answer.State -notin 'open', 'refused') { return }
    if ($answer.State -eq 'open' -or $Printer.Protocol -ne 'ipp') {
        Invoke-Check -Check 'ipp' -Work { Test-Ipp -Printer $Printer -Addresses $addresses }
    }
    Invoke-Check -Check 'snmp' -Work { Test-Snmp -Printer $Printer -Port $Port -Address $addresses[0] }
}

function Get-DeviceAddress {
    param($Printer, [int]$Milliseconds)
    try {
        $addresses = @(Get-HostAddress -Name $Printer.Address -Milliseconds $Milliseconds)
    }
    catch {
        $problem = 'is no name that this machine can resolve'
        if ($_.Exception -is [TimeoutException]) { $problem = 'is a name to which no name server answers' }
        Add-Finding -Level 'bad' -Check 'name' -Text "$($Printer.Address) $problem"
        return
    }
    $parsed = $null
    if (-not [Net.IPAddress]::TryParse($Printer.Address, [ref]$parsed)) {
        Add-Finding -Level 'ok' -Check 'name' -Text "$($Printer.Address) is $($addresses -join ', ')"
    }
    return $addresses
}

function Get-StateText {
    param([string]$State)
    if ($State -eq 'refused') { return 'refuses the connection: another device, or this way of printing is switched off in it' }
    if ($State -eq 'silent') { return "does not answer within $script:Seconds s: off, asleep, in another network, or behind a firewall" }
    return 'cannot be reached from this machine: no way leads to that network'
}

#endregion
