#<if port>
#region The port

function Install-Port {
    # The name of a port that is as wanted: the queue's own, the one of the wanted name, or a new one. A wrong port
    # that other queues use is left alone; one that only this queue uses is removed when the queue has left it.
    param($Printer, $Queue)
    $ports = @(Get-Port)
    if ($null -ne $Queue) {
        $current = @($ports | Where-Object Name -eq $Queue.PortName)[0]
        $isOurs = $Queue.PortName -eq $Printer.PortName -or (Test-PortMade $Queue.PortName)
        if ($null -ne $current -and $isOurs -and -not (Get-PortDifference $current $Printer)) { return $Queue.PortName }
    }
    $wanted = @($ports | Where-Object Name -eq $Printer.PortName)[0]
    if ($null -eq $wanted) {
        if (Confirm-Change "make port $($Printer.PortName)") { Add-Port $Printer $Printer.PortName }
        return $Printer.PortName
    }
    $difference = @(Get-PortDifference $wanted $Printer) -join ', '
    if (-not $difference) { return $Printer.PortName }
    $name = Get-FreePortName $Printer.PortName $ports
    if (-not (Confirm-Change "repair port $($Printer.PortName): $difference")) { return $Printer.PortName }
    if (@(Get-PortUser $Printer.PortName).Count -eq 0 -and (Remove-Port $wanted)) {
        $name = $Printer.PortName
    }
    else {
        Register-Port $Printer $Printer.PortName $Printer.Name
    }
    Add-Port $Printer $name
    return $name
}

function Get-FreePortName {
    # For a port beside one that cannot be replaced.
    param([string]$Wanted, $Ports)
    $names = @($Ports | ForEach-Object { $_.Name })
    for ($i = 2; $names -contains "${Wanted}_$i"; $i++) { }
    return "${Wanted}_$i"
}

function Add-Port {
    # Recorded before it is made, so that uninstall knows of it after an interrupted run.
    param($Printer, [string]$Name)
    Set-RegistryValue $PortsKey $Name ([string]$Printer.Id)
    $port = @{ Name = $Name; ErrorAction = 'Stop' }
    if ($Printer.Address) {
        #<if lpr>
        if ($Printer.Protocol -eq 'lpr') {
            $port.LprHostAddress = $Printer.Address
            $port.LprQueueName = $Printer.LprQueue
            $port.LprByteCounting = $true
        }
        #</if>
        #<if raw>
        if ($Printer.Protocol -eq 'raw') {
            $port.PrinterHostAddress = $Printer.Address
            $port.PortNumber = $Printer.PortNumber
        }
        #</if>
        if ($Printer.Snmp) {
            $port.SNMP = $Printer.SnmpIndex
            $port.SNMPCommunity = $Printer.SnmpCommunity
        }
    }
    try { Invoke-Print { Add-PrinterPort @port } }
    catch { if ((Get-ErrorCode $_) -ne '0x800700b7') { throw } }
    $made = @(Get-Port | Where-Object Name -eq $Name)[0]
    $difference = 'it is not there'
    if ($null -ne $made) { $difference = @(Get-PortDifference $made $Printer) -join ', ' }
    if ($difference) { Stop-Run "Windows says that it made the port $Name, but $difference." }
    Write-Change "port $Name made ($($Printer.Address))"
}

#endregion
#</if>
