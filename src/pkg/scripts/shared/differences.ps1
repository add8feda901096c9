### How ports and queues differ from what is wanted
#<if queue|install|diagnose>
function Get-Property {
    # $null if the object is $null or has no such property.
    param($InputObject, [string]$Name)
    if ($null -ne $InputObject -and $InputObject.PSObject.Properties[$Name]) { return $InputObject.$Name }
}
#</if>

#<if ipp|diagnose>
#<if install|diagnose>
function ConvertTo-PlainAddress {
    # One spelling for each IP address: fe80::1 and FE80:0::0001 are the same. Host names stay as they are.
    param([string]$Address)
    $parsed = $Address -as [Net.IPAddress]
    if ($null -ne $parsed) { return [string]$parsed }
    return $Address
}
#</if>
#</if>

#<if port>
function Get-PortDifference {
    # Each way in which a port is not as wanted, in words.
    param($Port, $Printer)
    if (-not $Printer.Address) { return }
    $address = [string](Get-Property $Port 'PrinterHostAddress')
    if (-not $address) { return 'it is no TCP/IP port' }
    # As addresses too, because fe80::1 and FE80:0::0001 are the same.
    $parsed = $address -as [Net.IPAddress]
    if ($address -ne $Printer.Address -and ($null -eq $parsed -or $parsed -ne ($Printer.Address -as [Net.IPAddress]))) {
        "its address is $address, not $($Printer.Address)"
    }
    $protocol = @{ 1 = 'raw'; 2 = 'lpr' }[[int](Get-Property $Port 'Protocol')]
    if ($protocol -ne $Printer.Protocol) { "its protocol is $protocol, not $($Printer.Protocol)" }
    #<if lpr>
    elseif ($protocol -eq 'lpr' -and $Port.LprQueueName -cne $Printer.LprQueue) { "its LPR queue is $($Port.LprQueueName), not $($Printer.LprQueue)" }
    #</if>
    #<if raw>
    elseif ($protocol -eq 'raw' -and $Port.PortNumber -ne $Printer.PortNumber) { "its number is $($Port.PortNumber), not $($Printer.PortNumber)" }
    #</if>
    $snmp = [bool](Get-Property $Port 'SNMPEnabled')
    if ($snmp -ne $Printer.Snmp) { return "its SNMP status is $snmp, not $($Printer.Snmp)" }
    #<if snmp>
    if (-not $snmp) { return }
    $index = [int](Get-Property $Port 'SNMPIndex')
    if ($index -ne $Printer.SnmpIndex) { "its SNMP index is $index, not $($Printer.SnmpIndex)" }
    #<if install>
    # Only install knows the community, which may be a secret.
    if ([string](Get-Property $Port 'SNMPCommunity') -cne $Printer.SnmpCommunity) { 'its SNMP community is another' }
    #</if>
    #</if>
}
#</if>

#<if queue>
function Get-QueueDifference {
    # The properties of a queue that are not as wanted, with the wanted values, as parameters for Set-Printer. Empty
    # settings are not compared.
    param($Queue, $Printer, [string]$PortName)
    $difference = @{}
    if ($Queue.DriverName -ne $Printer.DriverName) { $difference.DriverName = $Printer.DriverName }
    if ($PortName -and $Queue.PortName -ne $PortName) { $difference.PortName = $PortName }
    foreach ($name in 'Location', 'Comment') {
        if ($Printer[$name] -and $Queue.$name -cne $Printer[$name]) { $difference[$name] = $Printer[$name] }
    }
    #<if shared>
    if ($Printer.Shared -and (-not $Queue.Shared -or $Queue.ShareName -ne $Printer.ShareName)) {
        $difference.Shared = $true
        $difference.ShareName = $Printer.ShareName
    }
    #</if>
    return $difference
}
#</if>
