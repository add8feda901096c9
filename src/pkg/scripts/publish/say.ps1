#region What people see

$script:ProgressClock = [Diagnostics.Stopwatch]::StartNew()
$script:ProgressText = ''
# Or which of how many apps it is: narrow windows show the beginning of what is said.
$script:ProgressTitle = 'Publishing'
# Of a table where nobody knows the window's width.
$TableWidth = 120

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
    Write-Line 'Interrupted. Run this script again: it finishes what was begun.'
    # Who runs it in a window of theirs keeps the window; to whoever started PowerShell for this script it would end with 0.
    $file = [IO.Path]::GetFileName($PSCommandPath)
    $given = @([Environment]::GetCommandLineArgs())
    $isAlone = @($given | Where-Object { $_.EndsWith($file, [StringComparison]::OrdinalIgnoreCase) }).Count -gt 0
    if ($isAlone -and $given -notcontains '-NoExit') { $Host.SetShouldExit(1) }
}

function Write-Step {
    # What is being done, where a person watches. Windows PowerShell draws slowly: no more than four times a second.
    param([string]$Text, [int]$Percent = -1)
    $isNew = ($Text -replace '[0-9]') -ne ($script:ProgressText -replace '[0-9]')
    if (-not $isNew -and $script:ProgressClock.ElapsedMilliseconds -lt 250) { return }
    $script:ProgressText = $Text
    $script:ProgressClock.Restart()
    Write-Progress -Activity $script:ProgressTitle -Status ($Text -replace $Unprintable, ' ') -PercentComplete $Percent
}

function Test-Go {
    # Whether to do something: not with -WhatIf, nor where somebody says no to -Confirm.
    param([string]$Name, [string]$What)
    Clear-Step
    if ($script:Run.ShouldProcess($Name, $What)) { return $true }
    if (-not $WhatIfPreference) { $script:IsDeclined = $true }
    return $false
}

function Clear-Step {
    # Before what stays on the screen, and before questions.
    $script:ProgressText = ''
    Write-Progress -Activity $script:ProgressTitle -Completed
}

function Write-Table {
    param($Rows)
    Clear-Step
    if (@($Rows).Count -eq 0) { return }
    # One at a time: the table would wait for all of them, and 5.1 measures the first ones only.
    $width = 4
    $most = [Math]::Max(24, (Get-WindowWidth) - 34)
    foreach ($row in $Rows) { $width = [Math]::Max($width, [Math]::Min($most, $row.App.Length)) }
    Write-Host ''
    Write-Host ('App'.PadRight($width) + '  ' + 'Result'.PadRight(14) + '  Detail')
    foreach ($row in $Rows) {
        $name = $row.App
        if ($name.Length -gt $width) { $name = $name.Substring(0, $width - 3) + '...' }
        $text = $name.PadRight($width) + '  ' + $row.Result.PadRight(14) + '  ' + $row.Detail
        Write-Host ($text -replace '[\p{Cc}\p{Cf}-[\u200c\u200d]]+', ' ')
    }
    Write-Host ''
    if (@($Rows).Count -gt 1) { Write-Line (Get-Totals $Rows) }
}

function Get-Totals {
    # 30 created, 2 failed
    param($Rows)
    $counts = [ordered]@{}
    foreach ($row in $Rows) { $counts[$row.Result] = 1 + $counts[$row.Result] }
    return @($counts.Keys | ForEach-Object { "$($counts[$_]) $($_.ToLowerInvariant())" }) -join ', '
}

function Get-WindowWidth {
    # In characters; not every host has a window.
    try {
        $width = $Host.UI.RawUI.WindowSize.Width
        if ($width -gt 0) { return $width }
    }
    catch {
        Write-Log 'There is no window'
    }
    return $TableWidth
}

function New-Row {
    # Result: Created, Updated, Nothing to do, Would create, Would update, Failed, Not tried, Left out, Declined, Deleted,
    # Would delete, Kept.
    param([string]$Name, [string]$Result, [string]$Detail)
    $end = ''
    if ($Detail) { $end = ": $Detail" }
    Write-Line "$Name - $($Result.ToLowerInvariant())$end"
    if ('Failed', 'Left out', 'Declined' -contains $Result) { $script:ExitCode = 1 }
    return @{ App = $Name; Result = $Result; Detail = $Detail }
}

#endregion
