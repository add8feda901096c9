#region What people see

$ProgressTitle = 'Publishing to Intune'
$script:ProgressClock = [Diagnostics.Stopwatch]::StartNew()
$script:ProgressText = ''

function Get-LogPath {
    param([string]$Path)
    if ($Path) { return $Path }
    $folder = [Environment]::GetFolderPath('LocalApplicationData', 'Create')
    if (-not $folder) { $folder = [IO.Path]::GetTempPath() }
    return [IO.Path]::Combine($folder, 'Platen', 'Logs', "$($Settings.LogName).log")
}

function Write-Line {
    # A line for people, and for the log. Names come from outside: nothing in them moves the cursor.
    param([string]$Text)
    Write-Log $Text
    Write-Host ($Text -replace $Unprintable, ' ')
}

function Write-Failure {
    param([string]$Text)
    $script:ExitCode = 1
    Write-Line "Failed: $Text"
}

function Write-Step {
    # What is being done, where a person watches. Windows PowerShell draws slowly: no more than four times a second.
    param([string]$Text, [int]$Percent = -1)
    $isNew = ($Text -replace '[0-9]') -ne ($script:ProgressText -replace '[0-9]')
    if (-not $isNew -and $script:ProgressClock.ElapsedMilliseconds -lt 250) { return }
    $script:ProgressText = $Text
    $script:ProgressClock.Restart()
    Write-Progress -Activity $ProgressTitle -Status ($Text -replace $Unprintable, ' ') -PercentComplete $Percent
}

function Write-Table {
    param($Rows)
    Write-Progress -Activity $ProgressTitle -Completed
    if (@($Rows).Count -eq 0) { return }
    # One at a time: the table would wait for all of them, and 5.1 measures the first ones only.
    $width = 4
    foreach ($row in $Rows) { $width = [Math]::Max($width, [Math]::Min(50, $row.App.Length)) }
    Write-Host ''
    Write-Host ('App'.PadRight($width) + '  ' + 'Result'.PadRight(14) + '  Detail')
    foreach ($row in $Rows) {
        $text = $row.App.PadRight($width) + '  ' + $row.Result.PadRight(14) + '  ' + $row.Detail
        Write-Host ($text -replace '[\p{Cc}\p{Cf}-[\u200c\u200d]]+', ' ')
    }
    Write-Host ''
}

function New-Row {
    # Result: Created, Updated, Nothing to do, Would create, Would update, Failed, Left out, Deleted, Would delete, Kept.
    param([string]$Name, [string]$Result, [string]$Detail)
    $end = ''
    if ($Detail) { $end = ": $Detail" }
    Write-Line "$Name - $($Result.ToLowerInvariant())$end"
    if ($Result -eq 'Failed') { $script:ExitCode = 1 }
    return @{ App = $Name; Result = $Result; Detail = $Detail }
}

#endregion
