#region How ports and queues differ from what is wanted

#<if queue|install|diagnose>
function Get-Property {
    # A property that objects of other classes may lack.
    param($InputObject, [string]$Name)
    $property = $InputObject.PSObject.Properties[$Name]
    if ($null -eq $property) { return $null }
    return $property.Value
}
#</if>

#<if port|diagnose>
function ConvertTo-PlainAddress {
    # An IP address in its usual spelling, so that fe80::1 and FE80:0::0001 are the same; names are left as they are.
    param([string]$Address)
    $parsed = $null
    if ([Net.IPAddress]::TryParse($Address, [ref]$parsed)) { return $parsed.ToString() }
    return $Address
}
#</if>

#<if port>
function Get-PortDifference {
    # Every way in which a port is not as wanted, each in words; none when it is right.
    param($Port, $Printer)
    if (-not $Printer.Address) { return }
    $address = [string](Get-Property -InputObject $Port -Name 'PrinterHostAddress')
    if (-not $address) { return 'it is no TCP/IP port' }
    if ((ConvertTo-PlainAddress -Address $address) -ne (ConvertTo-PlainAddress -Address $Printer.Address)) {
        "its address is $address, not $($Printer.Address)"
    }
    $protocol = @{ 1 = 'raw'; 2 = 'lpr' }[[int](Get-Property -InputObject $Port -Name 'Protocol')]
    if ($protocol -ne $Printer.Protocol) { "its protocol is $protocol, not $($Printer.Protocol)" }
    elseif ($protocol -eq 'lpr') {
        $queue = [string](Get-Property -InputObject $Port -Name 'LprQueueName')
        if ($queue -cne $Printer.LprQueue) { "its LPR queue is $queue, not $($Printer.LprQueue)" }
    }
    else {
        $number = [int](Get-Property -InputObject $Port -Name 'PortNumber')
        if ($number -ne $Printer.PortNumber) { "its number is $number, not $($Printer.PortNumber)" }
    }
    $snmp = [bool](Get-Property -InputObject $Port -Name 'SNMPEnabled')
    if ($snmp -ne $Printer.Snmp) { return "its SNMP status is $snmp, not $($Printer.Snmp)" }
    if (-not $snmp) { return }
    $community = [string](Get-Property -InputObject $Port -Name 'SNMPCommunity')
    if ($community -cne $Printer.SnmpCommunity) { 'its SNMP community is another' }
    $index = [int](Get-Property -InputObject $Port -Name 'SNMPIndex')
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
    if ($Printer.Location -and $Queue.Location -cne $Printer.Location) { $difference.Location = $Printer.Location }
    if ($Printer.Comment -and $Queue.Comment -cne $Printer.Comment) { $difference.Comment = $Printer.Comment }
    if ($Printer.Shared -and -not $Queue.Shared) { $difference.Shared = $true }
    if ($Printer.Shared -and $Queue.ShareName -ne $Printer.ShareName) {
        $difference.Shared = $true
        $difference.ShareName = $Printer.ShareName
    }
    return $difference
}
#</if>

#endregion
