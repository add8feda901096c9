#region The queue

#<if port>
function Install-Queue {
    # Adds the queue, or repairs what is not as wanted. The port of an IPP queue goes with the queue alone.
    param($Printer, $Queue, [string]$PortName)
    $isIpp = $null -ne $Queue -and $Queue.DriverName -eq 'Microsoft IPP Class Driver'
    if ($null -ne $Queue -and -not $isIpp) {
        Repair-Queue -Printer $Printer -Queue $Queue -PortName $PortName
        return
    }
    $what = "add queue $($Printer.Name)"
    if ($isIpp) { $what = "remove and $what" }
    if (-not (Confirm-Change -Message $what)) { return }
    if ($isIpp) { Remove-WrongQueue -Queue $Queue }
    Add-Queue -Printer $Printer -PortName $PortName
}

function Add-Queue {
    # Adds the queue and reads it back: Add-Printer has reported success without one.
    param($Printer, [string]$PortName)
    $queue = @{ Name = $Printer.Name; DriverName = $Printer.DriverName; PortName = $PortName; ErrorAction = 'Stop' }
    if ($Printer.Location) { $queue.Location = $Printer.Location }
    if ($Printer.Comment) { $queue.Comment = $Printer.Comment }
    if ($Printer.Shared) {
        $queue.Shared = $true
        $queue.ShareName = $Printer.ShareName
    }
    for ($try = 1; $try -le 2; $try++) {
        try {
            Invoke-Print -Command { Add-Printer @queue }
        }
        catch {
            if ((Get-ErrorCode -ErrorRecord $_) -ne '0x8007070a') { throw }
            Write-Log -Message "Queue $($Printer.Name) was added meanwhile."
        }
        $isThere = Wait-Until -Seconds 3 -Condition { $null -ne (Invoke-Print -Command { Get-LocalQueue -Name $Printer.Name }) }
        if ($isThere) {
            Write-Change -Message "queue $($Printer.Name) added"
            return
        }
        Write-Log -Message "Windows said that it added the queue $($Printer.Name), but it is not there."
    }
    Stop-Run -Message "Windows says that it adds the queue $($Printer.Name), but it is never there."
}
#</if>

#<if queue>
function Repair-Queue {
    # Changes what is not as wanted.
    param($Printer, $Queue, [string]$PortName)
    $difference = Get-QueueDifference -Queue $Queue -Printer $Printer -PortName $PortName
    if ($difference.Count -eq 0) { return }
    $what = "queue $($Printer.Name): $(@($difference.Keys | Sort-Object) -join ', ')"
    if (-not (Confirm-Change -Message "repair $what")) { return }
    Invoke-Print -Command { Set-Printer -InputObject $Queue -ErrorAction Stop @difference }
    $after = Invoke-Print -Command { Get-LocalQueue -Name $Printer.Name }
    if ($null -eq $after) { Stop-Run -Message "The queue $($Printer.Name) went away while it was repaired." }
    $rest = Get-QueueDifference -Queue $after -Printer $Printer -PortName $PortName
    if ($rest.Count -gt 0) {
        Stop-Run -Message "Windows did not take over for the queue $($Printer.Name): $(@($rest.Keys | Sort-Object) -join ', ')."
    }
    foreach ($name in @($difference.Keys | Sort-Object)) {
        Write-Change -Message "queue $($Printer.Name): $name is $($difference[$name]), was $(Get-Property -InputObject $Queue -Name $name)"
    }
}
#</if>

#<if queue>
function Remove-WrongQueue {
    # Removes a queue that has to be added anew.
    param($Queue)
    $name = $Queue.Name
    if (Remove-Queue -Name $name) { return }
    #<if ipp>
    $hasJobs = [int](Get-Property -InputObject $Queue -Name 'JobCount') -gt 0
    if (-not $hasJobs -and (Restart-Spooler -Because "the queue $name is still listed") -and (Remove-Queue -Name $name)) { return }
    #</if>
    Stop-Run -Code $script:ExitBusy -Message "The queue $name goes when its jobs are done; the next run adds it."
}
#</if>

function Remove-Replaced {
    # Removes old queues, now that the new one is there, and records those ports of theirs that nothing else uses.
    param($Printer)
    $names = @($Printer.Replaces -notmatch '^(\\\\|address:)')
    #<if addresses>
    $names += @(Get-QueueAtAddress -Printer $Printer)
    #</if>
    $former = Get-RegistryValue -Path (Get-MarkerPath -Printer $Printer) -Name 'Queue'
    if ($former -and ($former -ne $Printer.Name -or -not $Printer.HasQueue)) { $names += $former }
    foreach ($name in $names) {
        $old = Invoke-Print -Command { Get-LocalQueue -Name $name }
        if ($null -eq $old) { continue }
        if (-not (Confirm-Change -Message "remove the old queue $name")) { continue }
        if (-not (Test-PortForeign -Name $old.PortName -Queues $names)) { Register-Port -Printer $Printer -Name $old.PortName }
        if (-not (Remove-Queue -Name $name)) { Add-Remark -Message "the old queue $name goes when its jobs are done" }
    }
}

#endregion
