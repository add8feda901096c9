#region What people see

$ProgressTitle = 'Publishing to Intune'
$script:ProgressClock = [Diagnostics.Stopwatch]::StartNew()
$script:ProgressText = ''
# Which of how many apps it is.
$script:ProgressPlace = ''
$WidestName = 36

function Get-LogPath {
    param([string]$Path)
    # .NET has another current folder than PowerShell.
    if ($Path) { return $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($Path) }
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

function Stop-Interrupted {
    $script:ExitCode = 1
    Write-Line 'Interrupted. Run this script again: it finishes what it began.'
    # Who runs it in a window of theirs keeps the window; to whoever started PowerShell for this script it would end with 0.
    $names = @([Environment]::GetCommandLineArgs() | ForEach-Object { $_.TrimStart([char[]]'-/').ToLowerInvariant() })
    if ($names -contains 'file' -and $names -notcontains 'noexit') { $Host.SetShouldExit(1) }
}

function Write-Step {
    # What is being done, where a person watches. Windows PowerShell draws slowly: no more than four times a second.
    param([string]$Text, [int]$Percent = -1)
    $isNew = ($Text -replace '[0-9]') -ne ($script:ProgressText -replace '[0-9]')
    if (-not $isNew -and $script:ProgressClock.ElapsedMilliseconds -lt 250) { return }
    $script:ProgressText = $Text
    $script:ProgressClock.Restart()
    Write-Progress -Activity $ProgressTitle -Status ("$script:ProgressPlace$Text" -replace $Unprintable, ' ') -PercentComplete $Percent
}

function Test-Go {
    # Whether to do something: not with -WhatIf, nor where somebody says no to -Confirm.
    param([string]$Name, [string]$What)
    if ($script:Run.ShouldProcess($Name, $What)) { return $true }
    if (-not $WhatIfPreference) { $script:IsDeclined = $true }
    return $false
}

function Write-Table {
    param($Rows)
    Write-Progress -Activity $ProgressTitle -Completed
    if (@($Rows).Count -eq 0) { return }
    # One at a time: the table would wait for all of them, and 5.1 measures the first ones only.
    $width = 4
    foreach ($row in $Rows) { $width = [Math]::Max($width, [Math]::Min($WidestName, $row.App.Length)) }
    Write-Host ''
    Write-Host ('App'.PadRight($width) + '  ' + 'Result'.PadRight(14) + '  Detail')
    foreach ($row in $Rows) {
        $text = $row.App.PadRight($width) + '  ' + $row.Result.PadRight(14) + '  ' + $row.Detail
        Write-Host ($text -replace '[\p{Cc}\p{Cf}-[\u200c\u200d]]+', ' ')
    }
    Write-Host ''
}

function New-Row {
    # Result: Created, Updated, Nothing to do, Would create, Would update, Failed, Left out, Declined, Deleted, Would delete,
    # Kept.
    param([string]$Name, [string]$Result, [string]$Detail)
    $end = ''
    if ($Detail) { $end = ": $Detail" }
    Write-Line "$Name - $($Result.ToLowerInvariant())$end"
    if ('Failed', 'Left out', 'Declined' -contains $Result) { $script:ExitCode = 1 }
    return @{ App = $Name; Result = $Result; Detail = $Detail }
}

#endregion
