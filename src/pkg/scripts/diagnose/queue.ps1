### What the queue itself says: its status and its jobs
# Of Get-Printer's PrinterStatus: what stops printing, and what soon may.
$StoppingStatus = 'Error', 'Paused', 'PendingDeletion', 'PaperJam', 'PaperOut', 'PaperProblem', 'Offline', 'OutputBinFull',
'NotAvailable', 'NoToner', 'UserIntervention', 'UserInterventionRequired', 'OutOfMemory', 'DoorOpen', 'ServerOffline'
$WarningStatus = 'TonerLow', 'ManualFeed', 'ServerUnknown', 'PagePunt'
# Some Windows versions give the number of these bits instead of their names.
$PrinterStatusBits = 'Paused', 'Error', 'PendingDeletion', 'PaperJam', 'PaperOut', 'ManualFeed', 'PaperProblem', 'Offline',
'IOActive', 'Busy', 'Printing', 'OutputBinFull', 'NotAvailable', 'Waiting', 'Processing', 'Initialization', 'WarmingUp', 'TonerLow',
'NoToner', 'PagePunt', 'UserIntervention', 'OutOfMemory', 'DoorOpen', 'ServerUnknown', 'PowerSave', 'ServerOffline'

function Test-QueueStatus {
    param($Printer, $Queue)
    $names = @(ConvertTo-StatusName (Get-Property $Queue 'PrinterStatus') $PrinterStatusBits)
    $key = @(Get-RegistryChild "$PrintRoot\Printers" | Where-Object { $_.Name -eq $Printer.Name })[0]
    $attributes = $null
    if ($null -ne $key) { $attributes = $key.Key.GetValue('Attributes') }
    # PRINTER_ATTRIBUTE_WORK_OFFLINE: somebody chose "Use Printer Offline".
    if ($null -ne $attributes -and ([long]$attributes -band 0x400)) {
        Add-Finding 'bad' 'status' 'somebody has set the queue to be used offline'
    }
    $level = 'ok'
    if (@($names | Where-Object { $WarningStatus -contains $_ }).Count -gt 0) { $level = 'warn' }
    if (@($names | Where-Object { $StoppingStatus -contains $_ }).Count -gt 0) { $level = 'bad' }
    if ($names.Count -eq 0) { $names = @('Normal') }
    Add-Finding $level 'status' "Windows calls the queue $($names -join ', ')"
}

function Test-Job {
    # How many jobs wait, and whether they are stuck. Their owners and names are private.
    param($Printer)
    $jobs = @(Get-PrintJob -PrinterName $Printer.Name -ErrorAction Stop | ForEach-Object { ConvertTo-OpenJob $_ })
    if ($jobs.Count -eq 0) {
        Add-Finding 'ok' 'jobs' 'none open'
        return
    }
    $minutes = 0
    foreach ($job in $jobs) { $minutes = [Math]::Max($minutes, $job.Minutes) }
    $text = "$($jobs.Count) open, the oldest for $minutes minutes"
    $stuck = @($jobs | Where-Object { $_.Stopped.Count -gt 0 })
    if ($stuck.Count -gt 0) {
        $reasons = @($stuck | ForEach-Object { $_.Stopped } | Select-Object -Unique) -join ', '
        Add-Finding 'bad' 'jobs' "$text, $($stuck.Count) stuck ($reasons)"
    }
    elseif ($minutes -ge 60 * $MaxJobHours) {
        Add-Finding 'bad' 'jobs' "$text, which is too long: the queue does not move"
    }
    else {
        $level = 'ok'
        if ($minutes -ge 60) { $level = 'warn' }
        Add-Finding $level 'jobs' $text
    }
}

