#<if port>
### The port
function Install-Port {
    # Returns the name of a port that is as wanted: the queue's own, the one of the wanted name, or a new one. A wrong port
    # stays while queues use it. The queue keeps a port of another name if it is noted and right.
    param($Printer, $Queue)
    $ports = @(Get-Port)
    if ($null -ne $Queue) {
        $current = @($ports | Where-Object Name -eq $Queue.PortName)[0]
        $isOurs = $Queue.PortName -eq $Printer.PortName -or (Get-RegistryValue $PortsKey $Queue.PortName)
        if ($null -ne $current -and $isOurs -and -not (Get-PortDifference $current $Printer)) { return $Queue.PortName }
    }
    $name = $Printer.PortName
    $wanted = @($ports | Where-Object Name -eq $name)[0]
    $what = "make port $name"
    if ($null -ne $wanted) {
        $difference = @(Get-PortDifference $wanted $Printer) -join ', '
        if (-not $difference) { return $name }
        $what = "repair port ${name}: $difference"
    }
    if (-not (Confirm-Change $what)) { return $name }
    if ($null -ne $wanted -and (@(Get-Queue | Where-Object PortName -eq $name).Count -gt 0 -or -not (Remove-Port $wanted))) {
        Register-Port $Printer $name $Printer.Name
        for ($i = 2; @($ports | ForEach-Object { $_.Name }) -contains $name; $i++) { $name = "$($Printer.PortName)_$i" }
    }
    Add-Port $Printer $name
    return $name
}

function Add-Port {
    # Notes the port before it makes it, so that uninstall knows of it after an interrupted run.
    param($Printer, [string]$Name)
    Set-RegistryValue $PortsKey $Name ([string]$Printer.Id)
    $port = @{ Name = $Name; ErrorAction = 'Stop' }
    #<if lpr>
    if ($Printer.Address -and $Printer.Protocol -eq 'lpr') {
        $port.LprHostAddress = $Printer.Address
        $port.LprQueueName = $Printer.LprQueue
        $port.LprByteCounting = $true
    }
    #</if>
    #<if raw>
    if ($Printer.Address -and $Printer.Protocol -eq 'raw') {
        $port.PrinterHostAddress = $Printer.Address
        $port.PortNumber = $Printer.PortNumber
    }
    #</if>
    #<if snmp>
    if ($Printer.Address -and $Printer.Snmp) {
        $port.SNMP = $Printer.SnmpIndex
        $port.SNMPCommunity = $Printer.SnmpCommunity
    }
    #</if>
    try { Invoke-Print { Add-PrinterPort @port } }
    catch { if ((Get-ErrorCode $_) -ne '0x800700b7') { throw } }
    $made = @(Get-Port | Where-Object Name -eq $Name)[0]
    $difference = 'it is not there'
    if ($null -ne $made) { $difference = @(Get-PortDifference $made $Printer) -join ', ' }
    if ($difference) { Stop-Run "Windows says that it made the port $Name, but $difference." }
    Write-Change "port $Name made ($($Printer.Address))"
}
#</if>
