#<if ipp|diagnose>
### The addresses of ports
function Get-PortAddress {
    # The known addresses, by the names of the ports. For WSD ports, Windows notes where it found the device.
    param($Ports)
    $root = 'HKLM:\SYSTEM\CurrentControlSet'
    $devices = @{}
    foreach ($device in @(Get-RegistryChild "$root\Enum\SWD\DAFWSDProvider")) {
        $place = $null
        if ([Uri]::TryCreate([string]$device.Key.GetValue('LocationInformation'), [UriKind]::Absolute, [ref]$place)) {
            $devices[($device.Name -replace '^urn:uuid:', '')] = ConvertTo-PlainAddress $place.DnsSafeHost
        }
    }
    $addresses = @{}
    foreach ($port in @(Get-RegistryChild "$root\Control\Print\Monitors\WSD Port\Ports")) {
        $uuid = ([string]$port.Key.GetValue('Printer UUID')) -replace '^urn:uuid:', ''
        if ($devices.ContainsKey($uuid)) { $addresses[$port.Name] = $devices[$uuid] }
    }
    foreach ($port in $Ports) {
        $address = [string](Get-Property $port 'PrinterHostAddress')
        if ($address) { $addresses[$port.Name] = ConvertTo-PlainAddress $address }
    }
    return $addresses
}

#</if>
