#<if addresses>
### Other queues of a device
function Get-QueueAtAddress {
    # The names of all queues on TCP/IP ports to the addresses that this printer replaces, except queues of this script.
    param($Printer)
    # As addresses, so that fe80::1 and FE80:0::0001 are the same. A host name is none.
    $addresses = @($Printer.Replaces -like 'address:*' | ForEach-Object { $_.Substring(8) -as [Net.IPAddress] })
    $ports = @(Get-Port | Where-Object {
            $address = [string](Get-Property $_ 'PrinterHostAddress') -as [Net.IPAddress]
            $null -ne $address -and $addresses -contains $address
        } | ForEach-Object { $_.Name })
    $own = @($Settings.Printers | Where-Object { $_.HasQueue } | ForEach-Object { $_.Name })
    foreach ($queue in @(Get-Queue)) {
        if ($ports -contains $queue.PortName -and $own -notcontains $queue.Name -and [string]$queue.Type -ne 'Connection') { $queue.Name }
    }
}
#</if>
