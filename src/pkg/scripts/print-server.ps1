& {
    $computer = '' # or the name of another computer, between the quotes
    $target = @{ ErrorAction = 'Stop' }
    if ($computer) { $target.ComputerName = $computer }
    $ofPrinters = 'Name', 'DriverName', 'PortName', 'Location', 'Comment', @{ Name = 'Type'; Expression = { [string]$_.Type } }
    $ofPorts = 'Name', 'PortMonitor', 'PrinterHostAddress', 'PortNumber', 'Protocol', 'LprQueueName', 'SNMPEnabled', 'SNMPCommunity', 'SNMPIndex', 'DeviceURL', 'DeviceUUID'
    $found = @{
        Printers = @(Get-Printer @target | Select-Object -Property $ofPrinters)
        Ports = @(Get-PrinterPort @target | Select-Object -Property $ofPorts)
        Drivers = @(Get-PrinterDriver @target | Select-Object -Property 'Name', 'Manufacturer')
    }
    if (-not $computer) {
        $wsdPorts = 'HKLM:\SYSTEM\CurrentControlSet\Control\Print\Monitors\WSD Port\Ports'
        $wsdDevices = 'HKLM:\SYSTEM\CurrentControlSet\Enum\SWD\DAFWSDProvider'
        $found.WsdPorts = @(Get-ChildItem -LiteralPath $wsdPorts -ErrorAction SilentlyContinue | ForEach-Object -Process { @{ Name = $_.PSChildName; Uuid = [string]$_.GetValue('Printer UUID') } })
        $found.WsdDevices = @(Get-ChildItem -LiteralPath $wsdDevices -ErrorAction SilentlyContinue | ForEach-Object -Process { @{ Uuid = $_.PSChildName; Url = [string]$_.GetValue('LocationInformation') } })
    }
    ConvertTo-Json -InputObject $found -Depth 4 -Compress
} | Set-Clipboard
