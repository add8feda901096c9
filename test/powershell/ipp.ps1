# IPP printers on the network and the queues that Windows adds for them, on the machine of Windows.psm1.

$script:IppDriver = 'Microsoft IPP Class Driver'
$script:WsdPorts = "$script:PrintRoot\Monitors\WSD Port\Ports"

function Find-Device {
    # The printer at this address and port, if it is awake.
    param([string]$Address, [int]$Port)
    return @($script:M.Devices | Where-Object { $_.Address -eq $Address -and $_.Port -eq $Port -and $_.Awake })[0]
}

function Test-SimulatedReachable {
    param([string]$Address, [int]$Port)
    Enter-Call 'connection'
    if (Find-Device -Address $Address -Port $Port) { return $true }
    $script:M.Now += 5000
    return $false
}

function Get-IppParameter {
    # The parameter that current versions of Windows add to Add-Printer.
    $set = [Management.Automation.ParameterAttribute]::new()
    $set.ParameterSetName = 'ipp'
    $set.Mandatory = $true
    $attributes = [Collections.ObjectModel.Collection[Attribute]]::new()
    $attributes.Add($set)
    $parameters = [Management.Automation.RuntimeDefinedParameterDictionary]::new()
    $parameters.Add('IppURL', [Management.Automation.RuntimeDefinedParameter]::new('IppURL', [string], $attributes))
    return $parameters
}

function Add-WindowsIppQueue {
    # Adds the queue for a URL, as Windows does. Returns an error's code and text, or nothing.
    param([string]$Name, [string]$Url, $More)
    $uri = [uri]($Url -replace '^ipp', 'http')
    $device = Find-Device -Address $uri.Host.Trim('[', ']') -Port $uri.Port
    $script:M.Now += 20000
    if ($device.FallsAsleep) { $device.Awake = $false; $device = $null }
    if (-not $device) { return '0x80004005', 'Unbekannter Fehler' }
    if ($device.Meanwhile) { Add-QueueMeanwhile -Device $device -Url $Url }
    if ($device.Code) { return $device.Code, 'Fehler beim Abfragen des Druckers.' }
    if (@($script:M.Queues | Where-Object { $_.Name -eq $Name }).Count -gt 0) { return '0x8007070a', 'Der angegebene Drucker ist bereits vorhanden.' }
    if (Test-DeviceKnown -Device $device) { return '0x8007070a', 'Der angegebene Drucker ist bereits vorhanden.' }
    $isRight = $uri.AbsolutePath -ceq $device.Path -and ($uri.Scheme -eq 'https') -eq [bool]$device.Tls
    if (-not $isRight -and $script:M.WrongUrl -eq 'nothing') { return }
    $port = Get-DevicePort -Device $device -Url $Url
    if (-not $isRight) { $port = Get-WrongPort -Device $device }
    $driver = $script:IppDriver
    if (-not $isRight -and $script:M.WrongUrl -eq 'driver') { $driver = 'Papyrus WSD' }
    if (@($script:M.Drivers | Where-Object { $_.Name -eq $driver }).Count -eq 0) { $script:M.Drivers += @{ Name = $driver; Version = '10.0.26100.1'; Date = '06/21/2006' } }
    if ($script:M.IgnoresQueueName) { $Name = Get-NameOfDevice -Device $device }
    $script:M.Queues += @{
        Name = $Name; DriverName = $driver; PortName = $port; Url = $Url
        Location = [string]$More.Location; Comment = [string]$More.Comment; Shared = [bool]$More.Shared; ShareName = [string]$More.ShareName
        Jobs = @(); Configuration = @{ DuplexingMode = 'OneSided'; Color = $true; Collate = $true; PaperSize = 'Letter' }
    }
}

function Add-QueueMeanwhile {
    # Adds a queue as Windows does by itself: Meanwhile is its name on this device, or the table of another device.
    param($Device, [string]$Url)
    $name = $Device.Meanwhile
    if ($name -is [Collections.IDictionary]) { $Device = $name; $name = $Device.Name }
    $script:M.Queues += @{ Name = $name; DriverName = $script:IppDriver; PortName = (Get-DevicePort -Device $Device -Url $Url); Jobs = @() }
}

function Test-DeviceKnown {
    # Whether Windows already has the device, with a WSD queue or without a queue.
    param($Device)
    if ($Device.Known -eq 'device') { return $true }
    return $Device.Known -and @($script:M.Queues | Where-Object { $_.Name -eq $Device.Known }).Count -gt 0
}

function Get-NameOfDevice {
    param($Device)
    $name = $Device.Name
    for ($i = 1; @($script:M.Queues | Where-Object { $_.Name -eq $name }).Count -gt 0; $i++) { $name = "$($Device.Name) (Kopie $i)" }
    return $name
}

function Get-DevicePort {
    # All queues of a device share the port of the first one. Each new port has a new name.
    param($Device, [string]$Url)
    if (@($script:M.Ports | Where-Object { $_.Name -eq $Device.PortName }).Count -gt 0) { return $Device.PortName }
    $script:M.PortsMade++
    $id = '00000000-0000-4000-8000-{0:d12}' -f $script:M.PortsMade
    $name = $Url
    if ($script:M.IppMonitor -eq 'WSD Port Monitor') {
        $name = "WSD-$id"
        [SimRegistry]::Set("$script:WsdPorts\$name", 'Install Protocol', 1)
        [SimRegistry]::Set("$script:WsdPorts\$name", 'IPP PortId', "IPP-$id")
        if ($Device.Location) {
            [SimRegistry]::Set("$script:WsdPorts\$name", 'Printer UUID', "urn:uuid:$id")
            [SimRegistry]::Set("HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Enum\SWD\DAFWSDProvider\urn:uuid:$id", 'LocationInformation', $Device.Location)
        }
    }
    $script:M.Ports += @{ Name = $name; Monitor = $script:M.IppMonitor }
    $Device.PortName = $name
    return $name
}

function Get-WrongPort {
    # The port of a queue for a wrong URL, depending on WrongUrl.
    param($Device)
    $name = @($script:M.Ports | Where-Object { $_.Monitor })[-1].Name
    if ($script:M.WrongUrl -eq 'wsd') { [SimRegistry]::Find("$script:WsdPorts\$name").Values['Install Protocol'] = 0 }
    if ($script:M.WrongUrl -ne 'tcp') { return $name }
    Remove-EmptyPort
    $script:M.Ports += @{ Name = 'IPP_TCP'; PrinterHostAddress = $Device.Address; PortNumber = $Device.Port; Protocol = 1; IsWindows = $true }
    return 'IPP_TCP'
}

function Remove-EmptyPort {
    # Windows removes its own ports together with their last queue.
    $used = @($script:M.Queues | ForEach-Object { $_.PortName })
    foreach ($port in @($script:M.Ports | Where-Object { ($_.Monitor -or $_.IsWindows) -and $used -notcontains $_.Name })) {
        $script:M.Ports = @($script:M.Ports | Where-Object { $_.Name -ne $port.Name })
        $keys = [SimRegistry]::Find($script:WsdPorts)
        if ($keys) { $null = $keys.Children.Remove($port.Name) }
    }
}
