#<if ipp>
### How a queue of an IPP printer differs from what is wanted
$WsdPortsKey = 'HKLM:\SYSTEM\CurrentControlSet\Control\Print\Monitors\WSD Port\Ports'

function Get-IppDifference {
    # Why a queue cannot print over IPP; $null if it can. The class driver never prints through a TCP/IP port. Windows
    # notes the protocol of ports with a WSD name.
    param($Printer, $Queue, $Ports)
    if ($Queue.DriverName -ne $Printer.DriverName) { return "its driver is $($Queue.DriverName), not $($Printer.DriverName)" }
    $name = $Queue.PortName
    $port = @($Ports | Where-Object Name -eq $name)
    if ($port.Count -eq 0) { return "its port $name is not there" }
    $monitor = [string](Get-Property $port[0] 'PortMonitor')
    if ((Get-Property $port[0] 'PrinterHostAddress') -or $monitor -match '^(TCPMON|local)') {
        return "its port $name does not speak IPP ($monitor)"
    }
    if ($name -notlike 'WSD-*' -or -not (Test-Path -LiteralPath "$WsdPortsKey\$name")) { return $null }
    $protocol = Get-RegistryValue "$WsdPortsKey\$name" 'Install Protocol'
    if ($protocol -ne 1) { return "its port $name does not speak IPP (Install Protocol '$protocol')" }
    return $null
}

function Get-RememberedDifference {
    # Windows does not tell for which URL a queue was added. Only install's note of URL and port does. A queue that
    # was added by hand has another port.
    param($Printer, $Queue)
    $marker = Get-MarkerPath $Printer
    $url = Get-RegistryValue $marker 'IppUrl'
    $isBroken = $null -ne (Get-RegistryValue $marker 'Adding')
    if (-not $url -or $isBroken) { return 'nobody knows its URL: these scripts did not add it' }
    if ($url -cne $Printer.IppUrl) { return "its URL is $url, not $($Printer.IppUrl)" }
    $port = Get-RegistryValue $marker 'PortName'
    if ($port -ne $Queue.PortName) { return "its port is $($Queue.PortName), not ${port}: somebody added it anew" }
    return $null
}

#</if>
