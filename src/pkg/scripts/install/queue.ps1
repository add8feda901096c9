### The queue
#<if port>
function Install-Queue {
    # Adds the queue, or repairs it. A queue with the IPP class driver has a port of its own and is replaced.
    param($Printer, $Queue, [string]$PortName)
    if ($null -ne $Queue -and $Queue.DriverName -ne 'Microsoft IPP Class Driver') {
        Repair-Queue $Printer $Queue $PortName
        return
    }
    if (-not (Confirm-Change "$(if ($null -ne $Queue) { 'remove and ' })add queue $($Printer.Name)")) { return }
    if ($null -ne $Queue -and -not (Remove-Queue $Printer.Name)) {
        Stop-Run "The queue $($Printer.Name) goes when its jobs are done; the next run adds it." $ExitBusy
    }
    #<if files>
    Remove-RegistryValue (Get-MarkerPath $Printer) 'Preferences'
    #</if>
    # Add-Printer may report success without a queue.
    $wanted = Get-QueueDifference @{ DriverName = ''; PortName = ''; Location = ''; Comment = ''; Shared = $false; ShareName = '' } $Printer $PortName
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
    # Changes what is not as wanted. Set-Printer may report success without a change.
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
    foreach ($name in $names) { Write-Change "queue $($Printer.Name): $name is $($difference[$name]), was $(Get-Property $Queue $name)" }
}

#<if ipp>
function Remove-WrongQueue {
    # Removes a queue that has to be added anew.
    param($Queue)
    $name = $Queue.Name
    if (Remove-Queue $name) { return }
    $hasJobs = [int](Get-Property $Queue 'JobCount') -gt 0
    if (-not $hasJobs -and (Restart-Spooler "the queue $name is still listed") -and (Remove-Queue $name)) { return }
    Stop-Run "The queue $name goes when its jobs are done; the next run adds it." $ExitBusy
}
#</if>
#</if>

function Remove-Replaced {
    # Removes old queues, now that the new one is there, and notes their ports.
    param($Printer)
    $names = @($Printer.Replaces -notmatch '^(\\\\|address:)')
    #<if addresses>
    $names += @(Get-QueueAtAddress $Printer)
    #</if>
    # The queue of an earlier deployment, if it had another name.
    $former = Get-RegistryValue (Get-MarkerPath $Printer) 'Queue'
    if ($former -and ($former -ne $Printer.Name -or -not $Printer.HasQueue)) { $names += $former }
    foreach ($name in $names) {
        $old = Get-LocalQueue $name
        if ($null -eq $old -or -not (Confirm-Change "remove the old queue $name")) { continue }
        Register-Port $Printer $old.PortName $names
        if (-not (Remove-Queue $name)) { Add-Remark "the old queue $name goes when its jobs are done" }
    }
}
