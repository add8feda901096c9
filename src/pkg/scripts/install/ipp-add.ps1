#<if ipp>
#region An IPP queue, added

$script:MaxWaitForQueueSeconds = 20
# Of Windows, WinINet and sockets: not ready, timed out, no connection, connection lost.
$script:NoAnswer = '0x80070015', '0x80070079', '0x800705b4', '0x80072ee2', '0x80072efd', '0x80072efe', '0x80072eff', '0x8007274c'

function Add-IppQueue {
    param($Printer)
    do {
        try {
            Invoke-Print -Command { Add-Printer -Name $Printer.Name -IppURL $Printer.IppUrl -ErrorAction Stop }
            return
        }
        catch {
            if ((Get-ErrorCode -ErrorRecord $_) -ne '0x8007070a') { Stop-OnAddError -Printer $Printer -ErrorRecord $_ }
            # Made already, by the call that a dying spooler cut off.
            if (@(Get-LocalQueueName) -contains $Printer.Name) { return }
        }
    } while (Remove-Known -Printer $Printer)
    $names = @(Get-LocalQueueName -Port 'WSD-*') -join ', '
    if (-not $names) { $names = 'none' }
    Stop-Run -Message ("Windows says that the printer is there already (0x8007070a). It may have made a queue of it by itself (on WSD ports: $names): " +
        'remove that, or name it under "replaces". Or it knows the device without a queue: pnputil /remove-device or a restart clears that.')
}

function Stop-OnAddError {
    param($Printer, $ErrorRecord)
    if ((Get-FailureCode -ErrorRecord $ErrorRecord) -eq $script:ExitBusy) { throw $ErrorRecord }
    $code = Get-ErrorCode -ErrorRecord $ErrorRecord
    if ($code -in $script:NoAnswer -or -not (Test-Reachable -Address $Printer.Address -Port $Printer.PortNumber)) {
        Stop-Run -Code $script:ExitBusy -Message "The printer does not answer at $($Printer.IppUrl) ($code). Try again later."
    }
    Stop-Run -Message "Windows does not add the queue $($Printer.Name) for $($Printer.IppUrl) ($code): $($ErrorRecord.Exception.Message)"
}

function Remove-Known {
    # Removes old queues of this printer that may be what Windows calls existing; whether there was one.
    param($Printer)
    $isRemoved = $false
    foreach ($name in @($Printer.Replaces) + (Get-RegistryValue -Path (Get-MarkerPath -Printer $Printer) -Name 'Queue')) {
        $old = Invoke-Print -Command { Get-LocalQueue -Name $name }
        if ($null -eq $old) { continue }
        $port = Invoke-Print -Command { Get-Port -Name $old.PortName }
        if ($null -ne $port -and (Get-Property -InputObject $port -Name 'PrinterHostAddress')) { continue }
        if (Remove-Queue -Name $name) { $isRemoved = $true }
    }
    return $isRemoved
}

function Read-IppQueue {
    # What Add-Printer made: it has reported success without a queue, or with one that does not speak IPP, and has
    # named queues after the device.
    param($Printer, $Before)
    $null = Wait-Until -Seconds $script:MaxWaitForQueueSeconds -Condition { $null -ne (Get-AddedQueue -Printer $Printer -Before $Before) }
    $queue = Get-AddedQueue -Printer $Printer -Before $Before
    if ($null -eq $queue) { Stop-Run -Message "Windows says that it added a queue for $($Printer.IppUrl), but there is none. Is the path right?" }
    # What Windows notes of a port may come a moment after the queue.
    $difference = { Get-IppDifference -Printer $Printer -Queue $queue -Ports @(Invoke-Print -Command { Get-PrinterPort -ErrorAction Stop }) }
    if (-not (Wait-Until -Seconds 3 -Condition { -not (& $difference) })) {
        Stop-Run -Message "Windows added a queue for $($Printer.IppUrl), but $(& $difference). Is the path right?"
    }
    if ($queue.Name -eq $Printer.Name) { return $queue }
    Write-Log -Message "Windows named the queue $($queue.Name)."
    Invoke-Print -Command { Rename-Printer -InputObject $queue -NewName $Printer.Name -ErrorAction Stop }
    $renamed = Invoke-Print -Command { Get-LocalQueue -Name $Printer.Name }
    if ($null -eq $renamed) { Stop-Run -Message "Windows named the queue $($queue.Name), and does not rename it." }
    return $renamed
}

function Remove-Stray {
    # Removes what an interrupted run left under another name: queues that came after it began, on the same port.
    param($Queue, $Noted)
    foreach ($other in @(Invoke-Print -Command { Get-Printer -ErrorAction Stop })) {
        if ($other.Name -eq $Queue.Name -or $Noted -contains $other.Name) { continue }
        if ($other.PortName -eq $Queue.PortName) { $null = Remove-Queue -Name $other.Name }
    }
}

function Get-AddedQueue {
    # The queue of the wanted name, else one of its driver that was not there before.
    param($Printer, $Before)
    $queues = @(Invoke-Print -Command { Get-Printer -ErrorAction Stop } | Where-Object -FilterScript { [string]$_.Type -ne 'Connection' })
    foreach ($queue in $queues) { if ($queue.Name -eq $Printer.Name) { return $queue } }
    foreach ($queue in $queues) { if ($queue.DriverName -eq $Printer.DriverName -and $Before -notcontains $queue.Name) { return $queue } }
    return $null
}

#endregion
#</if>
