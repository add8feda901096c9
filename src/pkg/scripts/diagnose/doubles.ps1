### Further queues of the same device, and connections to the same printer
function Test-Double {
    # Windows adds printers by itself, people add them by hand, and former ones stay.
    param($Printer, $Queues, $Ports)
    $found = @(Get-DoubleQueue $Printer $Queues $Ports)
    foreach ($text in $found) { Add-Finding 'warn' 'doubles' $text }
    $connections = @(Get-Connection $Queues)
    $names = @($Printer.Name, $Printer.ShareName | Where-Object { $_ })
    $same = @($connections | Where-Object { $names -contains ($_ -split '\\')[-1] -or $Printer.Replaces -contains $_ })
    foreach ($connection in $same) { Add-Finding 'warn' 'doubles' "$connection is connected too" }
    if ($found.Count + $same.Count -eq 0) { Add-Finding 'ok' 'doubles' 'no other queue and no connection of this printer' }
}

function Get-DoubleQueue {
    # Other queues of this machine that lead to the printer, or that it is to replace, each in a sentence.
    param($Printer, $Queues, $Ports)
    $own = @($Queues | Where-Object Name -eq $Printer.Name)
    $addresses = Get-PortAddress $Ports
    $devices = @($script:DeviceAddresses)
    if ($Printer.Address) { $devices += ConvertTo-PlainAddress $Printer.Address }
    $replaced = @($Printer.Replaces | Where-Object { $_ -like 'address:*' } | ForEach-Object { ConvertTo-PlainAddress $_.Substring(8) })
    #<if ipp>
    $id = ''
    if ($own.Count -gt 0) { $id = Get-DeviceId $own[0].PortName }
    #</if>
    foreach ($queue in $Queues) {
        if ($queue.Name -eq $Printer.Name -or [string]$queue.Type -eq 'Connection') { continue }
        $address = $addresses[[string]$queue.PortName]
        if ($own.Count -gt 0 -and $queue.PortName -eq $own[0].PortName) { "$($queue.Name) prints to the same port" }
        #<if ipp>
        elseif ($id -and (Get-DeviceId $queue.PortName) -eq $id) { "$($queue.Name) prints to the same device" }
        #</if>
        elseif ($address -and $devices -contains $address) { "$($queue.Name) prints to the same address, $address" }
        elseif ($Printer.Replaces -contains $queue.Name -or ($address -and $replaced -contains $address)) { "$($queue.Name) was to be replaced and is still there" }
    }
}

#<if ipp>
function Get-DeviceId {
    # What Windows notes of the device behind a WSD port; '' for other ports.
    param([string]$PortName)
    if ($PortName -notlike 'WSD-*') { return '' }
    return [string](Get-RegistryValue "HKLM:\SYSTEM\CurrentControlSet\Control\Print\Monitors\WSD Port\Ports\$PortName" 'IPP PortId')
}
#</if>

function Get-Connection {
    # Connections to queues of print servers, as \\server\queue: of this machine, and of each user whose hive is loaded.
    param($Queues)
    $names = @($Queues | Where-Object { [string]$_.Type -eq 'Connection' } | ForEach-Object { $_.Name })
    $keys = @('HKLM:\SYSTEM\CurrentControlSet\Control\Print\Connections')
    foreach ($sid in @(Get-LoadedUser)) { $keys += "Registry::HKEY_USERS\$sid\Printers\Connections" }
    # The registry writes \\server\queue as ,,server,queue.
    foreach ($key in $keys) { $names += @(Get-RegistryChild $key | ForEach-Object { $_.Name -replace ',', '\' }) }
    return @($names | Select-Object -Unique)
}

