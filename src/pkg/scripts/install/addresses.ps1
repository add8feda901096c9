#<if addresses>
#region Other queues of a device

function Get-QueueAtAddress {
    # Names of the machine's queues on TCP/IP ports to the addresses that this printer replaces, whoever made them. Those
    # that this script deploys stay.
    param($Printer)
    # As addresses, so that fe80::1 and FE80:0::0001 are the same; a host name is none.
    $addresses = @($Printer.Replaces -like 'address:*' | ForEach-Object -Process { $_.Substring(8) -as [Net.IPAddress] })
    $ports = @(Invoke-Print -Command { Get-PrinterPort -ErrorAction Stop } | Where-Object -FilterScript {
            $address = [string](Get-Property -InputObject $_ -Name 'PrinterHostAddress') -as [Net.IPAddress]
            $null -ne $address -and $addresses -contains $address
        } | ForEach-Object -Process { $_.Name })
    $own = @($Settings.Printers | Where-Object -FilterScript { $_.HasQueue } | ForEach-Object -Process { $_.Name })
    foreach ($queue in @(Invoke-Print -Command { Get-Printer -ErrorAction Stop })) {
        if ($ports -contains $queue.PortName -and $own -notcontains $queue.Name -and [string]$queue.Type -ne 'Connection') { $queue.Name }
    }
}

#endregion
#</if>
