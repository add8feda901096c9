#region The queue

#<if port>
function Install-Queue {
    # Adds the queue, or repairs what is not as wanted. The port of an IPP queue goes with the queue alone.
    param($Printer, $Queue, [string]$PortName)
    if ($null -ne $Queue -and $Queue.DriverName -ne 'Microsoft IPP Class Driver') {
        Repair-Queue $Printer $Queue $PortName
        return
    }
    $what = "add queue $($Printer.Name)"
    if ($null -ne $Queue) { $what = "remove and $what" }
    if (-not (Confirm-Change $what)) { return }
    if ($null -ne $Queue) { Remove-WrongQueue $Queue }
    Add-Queue $Printer $PortName
}

function Add-Queue {
    # Adds the queue and reads it back: Add-Printer has reported success without one.
    param($Printer, [string]$PortName)
    $none = @{ DriverName = ''; PortName = ''; Location = ''; Comment = ''; Shared = $false; ShareName = '' }
    $wanted = Get-QueueDifference $none $Printer $PortName
    for ($try = 1; $try -le 2; $try++) {
        try { Invoke-Print { Add-Printer -Name $Printer.Name -ErrorAction Stop @wanted } }
        catch { if ((Get-ErrorCode $_) -ne '0x8007070a') { throw } }
        if (Wait-Until 3 { Get-LocalQueue $Printer.Name }) {
            Write-Change "queue $($Printer.Name) added"
            return
        }
    }
    Stop-Run "Windows says that it adds the queue $($Printer.Name), but it is never there."
}
#</if>

#<if queue>
function Repair-Queue {
    # Changes what is not as wanted.
    param($Printer, $Queue, [string]$PortName)
    $difference = Get-QueueDifference $Queue $Printer $PortName
    if ($difference.Count -eq 0) { return }
    $names = @($difference.Keys | Sort-Object)
    if (-not (Confirm-Change "repair queue $($Printer.Name): $($names -join ', ')")) { return }
    Invoke-Print { Set-Printer -InputObject $Queue -ErrorAction Stop @difference }
    $after = Get-LocalQueue $Printer.Name
    if ($null -eq $after) { Stop-Run "The queue $($Printer.Name) went away while it was repaired." }
    $rest = @((Get-QueueDifference $after $Printer $PortName).Keys | Sort-Object) -join ', '
    if ($rest) { Stop-Run "Windows did not take over for the queue $($Printer.Name): $rest." }
    foreach ($name in $names) {
        Write-Change "queue $($Printer.Name): $name is $($difference[$name]), was $(Get-Property $Queue $name)"
    }
}
#</if>

#<if queue>
function Remove-WrongQueue {
    # Removes a queue that has to be added anew.
    param($Queue)
    $name = $Queue.Name
    if (Remove-Queue $name) { return }
    #<if ipp>
    $hasJobs = [int](Get-Property $Queue 'JobCount') -gt 0
    if (-not $hasJobs -and (Restart-Spooler "the queue $name is still listed") -and (Remove-Queue $name)) { return }
    #</if>
    Stop-Run "The queue $name goes when its jobs are done; the next run adds it." $ExitBusy
}
#</if>

function Remove-Replaced {
    # Removes old queues, now that the new one is there, and records those ports of theirs that nothing else uses.
    param($Printer)
    $names = @($Printer.Replaces -notmatch '^(\\\\|address:)')
    #<if addresses>
    $names += @(Get-QueueAtAddress $Printer)
    #</if>
    $former = Get-RegistryValue (Get-MarkerPath $Printer) 'Queue'
    if ($former -and ($former -ne $Printer.Name -or -not $Printer.HasQueue)) { $names += $former }
    foreach ($name in $names) {
        $old = Get-LocalQueue $name
        if ($null -eq $old) { continue }
        if (-not (Confirm-Change "remove the old queue $name")) { continue }
        Register-Port $Printer $old.PortName $names
        if (-not (Remove-Queue $name)) { Add-Remark "the old queue $name goes when its jobs are done" }
    }
}

#endregion
