#region Lines on the console

$script:ProgressClock = [Diagnostics.Stopwatch]::StartNew()
$script:ProgressText = ''
# The title of the progress bar: which of how many it is.
$script:ProgressTitle = 'Platen'
# The most names in a sentence about many.
$MaxNamed = 5

function Get-LogPath {
    param([string]$Path)
    # .NET and PowerShell have different current folders.
    if ($Path) { return $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($Path) }
    $folder = [Environment]::GetFolderPath('LocalApplicationData', 'Create')
    if (-not $folder) { $folder = [IO.Path]::GetTempPath() }
    return [IO.Path]::Combine($folder, 'Platen', 'Logs', "$($Settings.LogName).log")
}

function Write-Line {
    # A line for a person, and for the log.
    param([string]$Text)
    Write-Log $Text
    Write-Person $Text
}

function Write-Person {
    # A line for a person: with -AsJson on STDERR. Names come from outside, so control characters are removed.
    param([string]$Text)
    $Text = $Text -replace '[\p{Cc}\p{Cf}-[\u200c\u200d]]+', ' '
    if ($script:IsJson) { [Console]::Error.WriteLine($Text) }
    else { Write-Host $Text }
}

function Write-Step {
    # Shows what is done now. Windows PowerShell draws slowly, so at most four times a second.
    param([string]$Text, [int]$Percent = -1)
    if ($script:IsJson) { return }
    $isNew = ($Text -replace '[0-9]') -ne ($script:ProgressText -replace '[0-9]')
    if (-not $isNew -and $script:ProgressClock.ElapsedMilliseconds -lt 250) { return }
    $script:ProgressText = $Text
    $script:ProgressClock.Restart()
    Write-Progress -Activity $script:ProgressTitle -Status ($Text -replace $Unprintable, ' ') -PercentComplete $Percent
}

function Clear-Step {
    # Removes the progress bar before a question or the table.
    if ($script:IsJson) { return }
    $script:ProgressText = ''
    Write-Progress -Activity $script:ProgressTitle -Completed
}

function Get-CountText {
    param([int]$Count, [string]$What)
    if ($Count -eq 1) { return "1 $What" }
    return "$Count ${What}s"
}

function Get-FirstText {
    # The first texts of many, and the number of the others.
    param([string[]]$Texts)
    $text = @($Texts | Select-Object -First $MaxNamed) -join ', '
    if ($Texts.Count -gt $MaxNamed) { $text += " and $($Texts.Count - $MaxNamed) more" }
    return $text
}

function Read-Consent {
    # Asks a person. The default is no.
    param([string]$Question, [string]$Title)
    $choices = [Management.Automation.Host.ChoiceDescription[]]@('&Yes', '&No')
    try {
        return $Host.UI.PromptForChoice($Title, $Question, $choices, 1) -eq 0
    }
    catch {
        throw 'This session cannot ask. Check the list, and run the script again with -Force.'
    }
}

#endregion
