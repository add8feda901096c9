### Print jobs
$MaxJobHours = 24
$StoppingJobStatus = 'Error', 'Offline', 'PaperOut', 'Blocked', 'UserIntervention', 'Deleting'
$DoneJobStatus = 'Printed', 'Complete', 'Retained', 'Deleted'
# A queue that keeps printed jobs also shows its unprinted ones as retained.
$ActiveJobStatus = 'Paused', 'Spooling', 'Printing', 'Restart'
# Some Windows versions give the number of these bits instead of their names.
$JobStatusBits = 'Paused', 'Error', 'Deleting', 'Spooling', 'Printing', 'Offline', 'PaperOut', 'Printed', 'Deleted', 'Blocked',
'UserIntervention', 'Restart', 'Complete', 'Retained', 'RenderingLocally'

function ConvertTo-StatusName {
    # A status as names, from names with commas between them or from a number of bits.
    param($Status, [string[]]$Bits)
    $text = [string]$Status
    if ($text -notmatch '^[0-9]+$') { return @($text -split ',' | ForEach-Object { $_.Trim() } | Where-Object { $_ -and $_ -ne 'Normal' }) }
    for ($i = 0; $i -lt $Bits.Count; $i++) {
        if ([long]$text -band ([long]1 -shl $i)) { $Bits[$i] }
    }
}

function ConvertTo-OpenJob {
    # What stops a job, and its age. Nothing for a job that is printed and only kept.
    param($Job)
    $names = @()
    if ($Job.PSObject.Properties['JobStatus']) { $names = @(ConvertTo-StatusName $Job.JobStatus $JobStatusBits) }
    $stopped = @($names | Where-Object { $StoppingJobStatus -contains $_ })
    $isDone = @($names | Where-Object { $DoneJobStatus -contains $_ }).Count -gt 0 -and @($names | Where-Object { $ActiveJobStatus -contains $_ }).Count -eq 0
    if ($stopped.Count -eq 0 -and $isDone) { return }
    $minutes = 0
    if ($Job.PSObject.Properties['SubmittedTime'] -and $Job.SubmittedTime -is [datetime]) {
        $minutes = [int][Math]::Max(0, ([datetime]::UtcNow - $Job.SubmittedTime.ToUniversalTime()).TotalMinutes)
    }
    return @{ Stopped = $stopped; Minutes = $minutes }
}
