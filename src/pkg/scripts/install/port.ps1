#<if port>
#region The port

function Install-Port {
    # The name of a port that is as wanted: the queue's own, the one of the wanted name, or a new one. A wrong port
    # that other queues use is left alone; one that only this queue uses is removed when the queue has left it.
    param($Printer, $Queue)
    $ports = @(Invoke-Print -Command { Get-PrinterPort -ErrorAction Stop })
    if ($null -ne $Queue) {
        $current = @($ports | Where-Object -FilterScript { $_.Name -eq $Queue.PortName })
        $isOurs = $Queue.PortName -eq $Printer.PortName -or (Test-PortMade -Name $Queue.PortName)
        if ($current.Count -gt 0 -and $isOurs -and -not (Get-PortDifference -Port $current[0] -Printer $Printer)) {
            return $Queue.PortName
        }
    }
    $wanted = @($ports | Where-Object -FilterScript { $_.Name -eq $Printer.PortName })
    if ($wanted.Count -eq 0) {
        if (Confirm-Change -Message "make port $($Printer.PortName)") { Add-Port -Printer $Printer -Name $Printer.PortName }
        return $Printer.PortName
    }
    $difference = @(Get-PortDifference -Port $wanted[0] -Printer $Printer) -join ', '
    if (-not $difference) { return $Printer.PortName }
    Write-Log -Message "Port $($Printer.PortName) is there, but $difference."
    $name = Get-FreePortName -Wanted $Printer.PortName -Ports $ports
    if (-not (Confirm-Change -Message "repair port $($Printer.PortName): $difference")) { return $Printer.PortName }
    if (Remove-FreePort -Port $wanted[0]) {
        $name = $Printer.PortName
    }
    elseif (-not (Test-PortForeign -Name $Printer.PortName -Queues $Printer.Name)) {
        Register-Port -Printer $Printer -Name $Printer.PortName
    }
    Add-Port -Printer $Printer -Name $name
    return $name
}

function Get-FreePortName {
    # For a port beside one that cannot be replaced.
    param([string]$Wanted, $Ports)
    for ($i = 2; $i -lt 100; $i++) {
        $name = "${Wanted}_$i"
        if (@($Ports | Where-Object -FilterScript { $_.Name -eq $name }).Count -eq 0) { return $name }
    }
    Stop-Run -Message "No name is free for the port $Wanted."
}

function Add-Port {
    # Recorded before it is made, so that uninstall knows of it after an interrupted run.
    param($Printer, [string]$Name)
    $null = Set-RegistryValue -Path $script:PortsKey -Name $Name -Value ([string]$Printer.Id)
    $port = @{ Name = $Name; ErrorAction = 'Stop' }
    if ($Printer.Address) {
        if ($Printer.Protocol -eq 'lpr') {
            $port.LprHostAddress = $Printer.Address
            $port.LprQueueName = $Printer.LprQueue
            $port.LprByteCounting = $true
        }
        else {
            $port.PrinterHostAddress = $Printer.Address
            $port.PortNumber = $Printer.PortNumber
        }
        if ($Printer.Snmp) {
            $port.SNMP = $Printer.SnmpIndex
            $port.SNMPCommunity = $Printer.SnmpCommunity
        }
    }
    try {
        Invoke-Print -Command { Add-PrinterPort @port }
    }
    catch {
        if ((Get-ErrorCode -ErrorRecord $_) -ne '0x800700b7') { throw }
        Write-Log -Message "Port $Name was added meanwhile."
    }
    $made = Invoke-Print -Command { Get-Port -Name $Name }
    if ($null -eq $made) { Stop-Run -Message "Windows made no port $Name, although it said so." }
    $difference = @(Get-PortDifference -Port $made -Printer $Printer) -join ', '
    if ($difference) { Stop-Run -Message "Windows made the port $Name, but $difference." }
    Write-Change -Message "port $Name made ($($Printer.Address))"
}

#endregion
#</if>
