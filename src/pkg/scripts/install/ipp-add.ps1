#<if ipp>
### An IPP queue, added
$MaxWaitForQueueSeconds = 20
# Of Windows, WinINet and sockets: not ready, timed out, no connection, connection lost.
$NoAnswer = '0x80070015', '0x80070079', '0x800705b4', '0x80072ee2', '0x80072efd', '0x80072efe', '0x80072eff', '0x8007274c'

function Add-IppQueue {
    param($Printer)
    do {
        try {
            Invoke-Print { Add-Printer -Name $Printer.Name -IppURL $Printer.IppUrl -ErrorAction Stop }
            return
        }
        catch {
            if ((Get-ErrorCode $_) -ne '0x8007070a') { Stop-OnAddError $Printer $_ }
            # The call that a stopping spooler interrupted has added it.
            if (@(Get-LocalQueueName) -contains $Printer.Name) { return }
        }
    } while (Remove-Known $Printer)
    $names = @(Get-LocalQueueName 'WSD-*') -join ', '
    if (-not $names) { $names = 'none' }
    Stop-Run ("Windows says that the printer is there already (0x8007070a). It may have made a queue of it by itself (on WSD ports: $names): " +
        'remove that, or name it under "replaces". Or it knows the device without a queue: pnputil /remove-device or a restart clears that.')
}

function Stop-OnAddError {
    param($Printer, $ErrorRecord)
    if ((Get-FailureCode $ErrorRecord) -eq $ExitBusy) { throw $ErrorRecord }
    $code = Get-ErrorCode $ErrorRecord
    if ($code -in $NoAnswer -or -not (Test-Reachable $Printer.Address $Printer.PortNumber)) {
        Stop-Run "The printer does not answer at $($Printer.IppUrl) ($code). Try again later." $ExitBusy
    }
    Stop-Run "Windows does not add the queue $($Printer.Name) for $($Printer.IppUrl) ($code): $($ErrorRecord.Exception.Message)"
}

function Remove-Known {
    # Removes old queues of this printer that Windows may mean. Returns whether there was one.
    param($Printer)
    $isRemoved = $false
    foreach ($name in @($Printer.Replaces) + (Get-RegistryValue (Get-MarkerPath $Printer) 'Queue')) {
        $old = Get-LocalQueue $name
        if ($null -eq $old) { continue }
        $port = @(Get-Port | Where-Object Name -eq $old.PortName)[0]
        if ($null -ne $port -and (Get-Property $port 'PrinterHostAddress')) { continue }
        if (Remove-Queue $name) { $isRemoved = $true }
    }
    return $isRemoved
}

function Read-IppQueue {
    # Returns the added queue. Add-Printer may report success without a queue or with one that does not speak IPP, and
    # may name the queue after the device.
    param($Printer, $Before)
    $null = Wait-Until $MaxWaitForQueueSeconds { $null -ne (Get-AddedQueue $Printer $Before) }
    $queue = Get-AddedQueue $Printer $Before
    if ($null -eq $queue) { Stop-Run "Windows says that it added a queue for $($Printer.IppUrl), but there is none. Is the path right?" }
    # Windows may note the port a moment after the queue.
    $difference = { Get-IppDifference $Printer $queue @(Get-Port) }
    if (-not (Wait-Until 3 { -not (& $difference) })) {
        Stop-Run "Windows added a queue for $($Printer.IppUrl), but $(& $difference). Is the path right?"
    }
    if ($queue.Name -eq $Printer.Name) { return $queue }
    Write-Log "Windows named the queue $($queue.Name)."
    Invoke-Print { Rename-Printer -InputObject $queue -NewName $Printer.Name -ErrorAction Stop }
    $renamed = Get-LocalQueue $Printer.Name
    if ($null -eq $renamed) { Stop-Run "Windows named the queue $($queue.Name), and does not rename it." }
    return $renamed
}

function Remove-Stray {
    # Removes queues that an interrupted run left under another name: newer ones on the same port.
    param($Queue, $Noted)
    foreach ($other in @(Get-Queue)) {
        if ($other.Name -eq $Queue.Name -or $Noted -contains $other.Name) { continue }
        if ($other.PortName -eq $Queue.PortName) { $null = Remove-Queue $other.Name }
    }
}

function Get-AddedQueue {
    # The queue of the wanted name, else a new one with its driver. Windows adds printers by itself: one at another
    # address is not ours.
    param($Printer, $Before)
    $queues = @(Get-Queue | Where-Object { [string]$_.Type -ne 'Connection' })
    foreach ($queue in $queues) { if ($queue.Name -eq $Printer.Name) { return $queue } }
    $queues = @($queues | Where-Object { $_.DriverName -eq $Printer.DriverName -and $Before -notcontains $_.Name })
    if ($queues.Count -eq 0) { return }
    $own = @()
    try { $own = [Net.Dns]::GetHostAddresses($Printer.Address) } catch { Write-Log $_.Exception.Message }
    $kinds = @($own | ForEach-Object { $_.AddressFamily })
    $addresses = Get-PortAddress @(Get-Port)
    $unsure = $null
    foreach ($queue in $queues) {
        $address = $addresses[[string]$queue.PortName] -as [Net.IPAddress]
        if ($own -contains $address) { return $queue }
        # A device may have IPv4 and IPv6, and Windows may have noted the other one.
        if ($null -eq $unsure -and ($null -eq $address -or $kinds -notcontains $address.AddressFamily)) { $unsure = $queue }
    }
    return $unsure
}

#</if>
