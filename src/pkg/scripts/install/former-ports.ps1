#region Ports that are left behind

function Register-Port {
    # Records a TCP/IP port as one to remove as soon as nothing uses it, unless other queues than these do. Recorded
    # before its queue leaves it, so that the next run knows of it after an interrupted one.
    param($Printer, [string]$Name, [string[]]$Queues)
    if (@(Get-PortUser $Name | Where-Object { $Queues -notcontains $_ }).Count -gt 0 -or (Test-PortMade $Name)) { return }
    $port = @(Get-Port | Where-Object Name -eq $Name)[0]
    if ($null -eq $port -or -not (Get-Property $port 'PrinterHostAddress')) { return }
    Set-RegistryValue $PortsKey $Name ([string]$Printer.Id)
}

function Remove-LeftPort {
    # Removes the ports of this printer that nothing uses any more: those its queue has left, those of the queues
    # it replaced, and those of an interrupted run.
    param($Printer, [string]$Kept)
    $key = Get-Item -LiteralPath $PortsKey -ErrorAction SilentlyContinue
    if ($null -eq $key) { return }
    foreach ($name in @($key.GetValueNames())) {
        if ($name -eq $Kept -or $key.GetValue($name) -ne [string]$Printer.Id) { continue }
        $null = Remove-OwnPort $name
    }
}

#endregion
