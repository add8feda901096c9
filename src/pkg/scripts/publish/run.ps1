#region A run

# What no other app fares better with.
$script:Stopped = ''
# Of many apps so many are named.
$MostNamed = 5

function Test-Current {
    # Throws where Platen has changed since this script was made: what it does not know of would be left as it is, and
    # nothing would say so. $Part: Apps, or Records for what the numbers of all records decide.
    param([string]$Part)
    $made = Get-TimeText $Settings.Made
    Write-Line "$($Settings.Title): script of $made"
    if ($Package) { return }
    if (-not $Settings.Source.Url) { return Write-Unasked 'this script does not know where Platen is' $made }
    Write-Step 'Asking Platen whether it has changed'
    $answer = Send-Request 'HEAD' $Settings.Source.Url @{ Accept = '*/*' } $null
    $why = $answer.Problem
    if ($answer.Status) { $why = "answer $($answer.Status)" }
    Write-Log "Asked Platen whether it has changed: $why"
    if (Test-Passing $answer.Status @()) { return Write-Unasked $why $made }
    if ($answer.Status -eq 404) { throw "Platen has no '$($Settings.Title)' any more. Any other script shows with -Remove what is left of it." }
    if ($answer.Status -ne 200) { throw "Platen does not give this script any more ($why). Look at its page, and download it anew." }
    # publish-<the script's bytes>-<apps>-<records>
    $tag = $answer.ETag.Trim([char]34).Split('-')
    if ($tag.Count -ne 4) { return Write-Unasked 'its answer does not say' $made }
    $now = @{ Apps = $tag[2]; Records = $tag[3] }
    if ($now[$Part] -cne $Settings.Source[$Part]) { throw 'Platen has changed since this script was made. Download it anew.' }
}

function Write-Unasked {
    param([string]$Why, [string]$Made)
    Write-Line "Note: whether Platen has changed since $Made is not known ($Why)."
}

function Publish-All {
    $apps = @($Settings.Apps)
    if ($Together) { $apps = @(Get-TogetherApp) }
    Test-Current 'Apps'
    Connect-Graph
    Write-Step 'Looking for the apps that are there'
    $ours = Get-OurApps
    # Before anything is changed.
    foreach ($app in $apps) { $null = Find-OurApp $ours (Get-Key $app) }
    Write-Line (Get-CountText $apps.Count 'app')
    Write-MissingFiles $apps
    foreach ($text in $Settings.Attention) { Write-Line "Note: $text" }
    $rows = @(foreach ($left in $Settings.LeftOut) { New-Row $left.Name 'Left out' $left.Reason })
    $published = @(Publish-Apps $apps $ours)
    $rows += $published
    Write-Table $rows
    if (@($rows | Where-Object { $_.Result -eq 'Not tried' }).Count -gt 0) { Write-Line "Stopped: $script:Stopped" }
    Write-Others $ours $published
    if (-not $script:Stopped) { Write-Unneeded $ours $apps }
    if ($AssignTo.Count -eq 0 -and @($rows | Where-Object { $_.Result -eq 'Created' }).Count -gt 0) {
        Write-Line 'New apps are assigned to nobody yet: assign them in Intune, or run this again with -AssignTo and the ids of groups.'
    }
}

function Get-TogetherApp {
    if ($null -ne $Settings.Together) { return $Settings.Together }
    if ($Settings.TogetherRefusal) { throw "-Together: $($Settings.TogetherRefusal)" }
    throw '-Together is for the script of a client: this one is of a single printer or driver.'
}

function Write-MissingFiles {
    # What the folder of -Package lacks, and where that is had. An app that is as it should be needs no file.
    param($Apps)
    if (-not $Package -or -not [IO.Directory]::Exists((Get-PackagePath))) { return }
    foreach ($app in $Apps) {
        $name = $app.Package.FileName
        if ([IO.File]::Exists([IO.Path]::Combine((Get-PackagePath), $name))) { continue }
        $from = ''
        if ($app.Package.Url) { $from = ": Platen gives it at $($app.Package.Url -replace '[?&]link=.*')" }
        Write-Line "Note: the folder has no $name$from"
    }
}

function Publish-Apps {
    # One after the other; their rows of the table.
    param($Apps, $Ours)
    $done = @{}
    $number = 0
    foreach ($app in $Apps) {
        $number++
        if ($script:Stopped) { @{ App = $app.Fields.displayName; Result = 'Not tried'; Detail = '' }; continue }
        if ($Apps.Count -gt 1) { $script:ProgressTitle = "$number of $($Apps.Count)" }
        $script:Unfinished = ''
        try {
            Publish-App $app $Ours $done
        }
        catch {
            if (Test-Problem $_ 'Fatal') { $script:Stopped = "$_" }
            New-Row $app.Fields.displayName 'Failed' (Get-FailureText "$_")
        }
        finally {
            Close-Package
        }
    }
}

function Get-CountText {
    param([int]$Count, [string]$What)
    if ($Count -eq 1) { return "1 $What" }
    return "$Count ${What}s"
}

function Get-FailureText {
    param([string]$Text)
    if ($script:Unfinished) { return "$Text The app ($script:Unfinished) has no content yet: run this script again, which finishes it." }
    return $Text
}

function Write-Others {
    # The same printers may be there twice: by themselves, and as the client's one app.
    param($Ours, $Rows)
    if (@($Rows | Where-Object { 'Created', 'Updated', 'Nothing to do' -notcontains $_.Result }).Count -gt 0) { return }
    $others = @($Settings.Together | Where-Object { $null -ne $_ })
    if ($Together) { $others = @($Settings.Apps | Where-Object { $_.Kind -eq 'printer' }) }
    $names = @($others | ForEach-Object { $Ours[(Get-Key $_)] } | Where-Object { $null -ne $_ } | ForEach-Object { "'$($_.Name)' ($($_.Id))" })
    if ($names.Count -eq 0) { return }
    Write-Line "Note: these printers are in $(Get-CountText $names.Count 'other app'), too: $(Get-FirstText $names). Take the assignments away there that are not wanted any more, and delete the apps."
}

function Get-FirstText {
    # The first ones of many, and how many there are besides.
    param([string[]]$Texts)
    $text = @($Texts | Select-Object -First $MostNamed) -join ', '
    if ($Texts.Count -gt $MostNamed) { $text += " and $($Texts.Count - $MostNamed) more" }
    return $text
}

function Write-Unneeded {
    # What a person may want to delete: apps of records that are gone, and drivers' apps that nothing depends on.
    param($Ours, $Apps)
    $gone = 0
    if ($null -ne $Settings.Records) { $gone = @(Find-Leftovers $Ours).Count }
    if ($gone -eq 1) { Write-Line 'Note: 1 app in this tenant belongs to a printer, client or driver that was deleted in Platen. -Remove shows it, asks, and deletes it.' }
    if ($gone -gt 1) { Write-Line "Note: $gone apps in this tenant belong to printers, clients or drivers that were deleted in Platen. -Remove shows them, asks, and deletes them." }
    # One printer's script, or one driver's, looks no further.
    if ($Apps.Count -gt 1) { Write-UnneededDrivers $Ours @($Apps | ForEach-Object { Get-Key $_ }) }
}

function Write-UnneededDrivers {
    # $Needed: keys of apps that are none of these.
    param($Ours, [string[]]$Needed)
    $unneeded = @(foreach ($key in @(Get-Sorted @($Ours.Keys))) {
            if ($key -notlike 'driver:*' -or $Needed -contains $key) { continue }
            foreach ($app in $Ours[$key]) { if (-not (Test-InUse $app.Id)) { "'$($app.Name)' ($($app.Id))" } }
        })
    if ($unneeded.Count -gt 0) { Write-Line "Note: no app depends on $(Get-FirstText $unneeded), and nobody is assigned. Delete in Intune what is not wanted any more." }
}

function Test-InUse {
    # Whether another app depends on an app, or it is assigned; also where that cannot be seen, as of one that is just gone.
    param([string]$Id)
    try {
        $parents = @(Get-GraphList "mobileApps/$Id/relationships" 'list what depends on a driver' @() | Where-Object { (Get-Field $_ 'targetType') -eq 'parent' })
        return ($parents.Count -gt 0 -or @(Get-GraphList "mobileApps/$Id/assignments" 'list the assignments' @()).Count -gt 0)
    }
    catch {
        Write-Log "Whether $Id is needed is not known: $_"
        return $true
    }
}

#endregion
