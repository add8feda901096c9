function Register-Port {
    # Notes a TCP/IP port, to be removed as soon as nothing uses it, unless queues other than these use it.
    param($Printer, [string]$Name, [string[]]$Queues)
    $others = @(Get-Queue | Where-Object { $_.PortName -eq $Name -and $Queues -notcontains $_.Name })
    if ($others.Count -gt 0 -or (Get-RegistryValue $PortsKey $Name)) { return }
    $port = @(Get-Port | Where-Object Name -eq $Name)[0]
    if ($null -ne $port -and (Get-Property $port 'PrinterHostAddress')) { Set-RegistryValue $PortsKey $Name ([string]$Printer.Id) }
}

function Remove-LeftPort {
    # Removes the noted ports of this printer that nothing uses, except its present port.
    param($Printer, [string]$Kept)
    $key = Get-Item -LiteralPath $PortsKey -ErrorAction SilentlyContinue
    if ($null -eq $key) { return }
    foreach ($name in @($key.GetValueNames())) {
        if ($name -ne $Kept -and $key.GetValue($name) -eq [string]$Printer.Id) { $null = Remove-OwnPort $name }
    }
}
