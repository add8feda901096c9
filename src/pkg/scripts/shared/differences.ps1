#region How ports and queues differ from what is wanted

#<if queue|install|diagnose>
function Get-Property {
    # A property that objects of other classes may lack; $null of nothing too.
    param($InputObject, [string]$Name)
    if ($null -ne $InputObject -and $InputObject.PSObject.Properties[$Name]) { return $InputObject.$Name }
}
#</if>

#<if port|ipp|diagnose>
#<if port|install|diagnose>
function ConvertTo-PlainAddress {
    # An IP address in its usual spelling, so that fe80::1 and FE80:0::0001 are the same; names are left as they are.
    param([string]$Address)
    $parsed = $Address -as [Net.IPAddress]
    if ($null -ne $parsed) { return [string]$parsed }
    return $Address
}
#</if>
#</if>

#<if port>
function Get-PortDifference {
    # Every way in which a port is not as wanted, each in words; none when it is right.
    param($Port, $Printer)
    if (-not $Printer.Address) { return }
    $address = [string](Get-Property $Port 'PrinterHostAddress')
    if (-not $address) { return 'it is no TCP/IP port' }
    if ((ConvertTo-PlainAddress $address) -ne (ConvertTo-PlainAddress $Printer.Address)) {
        "its address is $address, not $($Printer.Address)"
    }
    $protocol = @{ 1 = 'raw'; 2 = 'lpr' }[[int](Get-Property $Port 'Protocol')]
    if ($protocol -ne $Printer.Protocol) { "its protocol is $protocol, not $($Printer.Protocol)" }
    #<if lpr>
    elseif ($protocol -eq 'lpr') {
        $queue = [string](Get-Property $Port 'LprQueueName')
        if ($queue -cne $Printer.LprQueue) { "its LPR queue is $queue, not $($Printer.LprQueue)" }
    }
    #</if>
    #<if raw>
    elseif ($protocol -eq 'raw') {
        $number = [int](Get-Property $Port 'PortNumber')
        if ($number -ne $Printer.PortNumber) { "its number is $number, not $($Printer.PortNumber)" }
    }
    #</if>
    $snmp = [bool](Get-Property $Port 'SNMPEnabled')
    if ($snmp -ne $Printer.Snmp) { return "its SNMP status is $snmp, not $($Printer.Snmp)" }
    if (-not $snmp) { return }
    if ([string](Get-Property $Port 'SNMPCommunity') -cne $Printer.SnmpCommunity) { 'its SNMP community is another' }
    $index = [int](Get-Property $Port 'SNMPIndex')
    if ($index -ne $Printer.SnmpIndex) { "its SNMP index is $index, not $($Printer.SnmpIndex)" }
}
#</if>

#<if queue>
function Get-QueueDifference {
    # The properties of a queue that are not as wanted, with the wanted values, as a table for Set-Printer. What
    # an operator left empty is not compared, and neither is sharing that was not asked for.
    param($Queue, $Printer, [string]$PortName)
    $difference = @{}
    if ($Queue.DriverName -ne $Printer.DriverName) { $difference.DriverName = $Printer.DriverName }
    if ($PortName -and $Queue.PortName -ne $PortName) { $difference.PortName = $PortName }
    foreach ($name in 'Location', 'Comment') {
        if ($Printer[$name] -and $Queue.$name -cne $Printer[$name]) { $difference[$name] = $Printer[$name] }
    }
    if ($Printer.Shared -and (-not $Queue.Shared -or $Queue.ShareName -ne $Printer.ShareName)) {
        $difference.Shared = $true
        $difference.ShareName = $Printer.ShareName
    }
    return $difference
}
#</if>

#endregion
