#region A run

# Why the rest of the current tenant is not tried.
$script:Stopped = ''

function Invoke-ForTargets {
    # Works for one client after another. A failure at one does not stop the next.
    param($Targets, [scriptblock]$Work)
    foreach ($target in $Targets) {
        Enter-Target $target
        if (-not $Remove) {
            foreach ($left in $target.Part.LeftOut) { Add-Row $left.Name 'LeftOut' -Reason $left.Reason }
            if (@($target.Part.Apps).Count -eq 0) { continue }
        }
        if (-not $target.Tenant) {
            Add-Row $target.Client 'LeftOut' -Reason 'this client has no tenant: set it in Platen, or use -Tenants'
            continue
        }
        if ($target.Tenant -ne 'organizations') { Write-Line "$($target.Client): tenant $($target.Tenant)" }
        try { & $Work $target.Part }
        catch {
            $name = $target.Client
            if (-not $name) { $name = $target.Part.Title }
            Add-Row $name 'Failed' -Reason "$_"
        }
    }
}

function Test-Current {
    # Throws when Platen has changed since this script was made, because the script would miss the changes. $What: Apps, or
    # Records for the numbers of all records.
    param($Part, [string]$What)
    $made = Get-TimeText $Settings.Made
    Write-Line "$($Part.Title): script of $made"
    if ($Package) { return }
    if (-not $Part.Source.Url) { return Write-Unasked 'this script does not know the address of Platen' $made }
    Write-Step 'Asking Platen whether it has changed'
    $answer = Send-Request 'HEAD' $Part.Source.Url @{ Accept = '*/*' } $null
    $why = $answer.Problem
    if ($answer.Status) { $why = "answer $($answer.Status)" }
    Write-Log "Asked Platen whether it has changed: $why"
    if (Test-Passing $answer.Status @()) { return Write-Unasked $why $made }
    if ($answer.Status -eq 404) { throw "'$($Part.Title)' was deleted in Platen. Any other script removes its apps with -Remove." }
    if ($answer.Status -ne 200) { throw "Platen no longer gives this script ($why). Open its page, and download the script again." }
    # publish-<the script's bytes>-<apps>-<records>
    $tag = $answer.ETag.Trim([char]34).Split('-')
    if ($tag.Count -ne 4) { return Write-Unasked 'its answer does not say' $made }
    $now = @{ Apps = $tag[2]; Records = $tag[3] }
    if ($now[$What] -cne $Part.Source[$What]) { throw 'Platen has changed since this script was made. Download the script again.' }
}

function Write-Unasked {
    param([string]$Why, [string]$Made)
    Write-Line "Note: whether Platen has changed since $Made is unknown ($Why)."
}

function Publish-Part {
    # Publishes what the script contains for one client, printer or driver.
    param($Part)
    $apps = @($Part.Apps)
    if ($Together) { $apps = @(Get-TogetherApp $Part) }
    Test-Current $Part 'Apps'
    Connect-Graph
    Read-AssignmentNames
    Write-Step 'Looking for existing apps'
    $ours = Get-OurApps
    # Two apps for one record stop the run before it changes anything.
    foreach ($app in $apps) { $null = Find-OurApp $ours (Get-Key $app) }
    Write-Line (Get-CountText $apps.Count 'app')
    Write-MissingFiles $apps
    foreach ($text in $Part.Attention) { Write-Line "Note: $text" }
    $before = $script:Rows.Count
    $script:ProgressTitle = 'Platen'
    Publish-Apps $apps $ours
    $rows = @($script:Rows | Select-Object -Skip $before)
    if ($script:Stopped) { Write-Line "Stopped: $script:Stopped" }
    Write-Others $Part $ours $rows
    if (-not $script:Stopped) { Write-Unneeded $ours $apps }
    if ($AssignTo.Count -eq 0 -and @($rows | Where-Object { $_.Result -eq 'Created' }).Count -gt 0) {
        Write-Line 'The new apps are not assigned yet. Assign them in Intune, or run this script again with -AssignTo.'
    }
}

function Get-TogetherApp {
    param($Part)
    if ($null -ne $Part.Together) { return $Part.Together }
    if ($Part.TogetherRefusal) { throw "-Together: $($Part.TogetherRefusal)" }
    throw '-Together is for the script of a client. This script is for one printer or driver.'
}

function Write-MissingFiles {
    # Names the files that the folder of -Package lacks. An app that needs no change needs no file.
    param($Apps)
    if (-not $Package -or -not [IO.Directory]::Exists((Get-PackagePath))) { return }
    foreach ($app in $Apps) {
        $name = $app.Package.FileName
        if ([IO.File]::Exists([IO.Path]::Combine((Get-PackagePath), $name))) { continue }
        $from = ''
        if ($app.Package.Url) { $from = ". Download it from $($app.Package.Url -replace '[?&]link=.*')" }
        Write-Line "Note: the folder has no $name$from"
    }
}

function Publish-Apps {
    param($Apps, $Ours)
    $done = @{}
    $number = 0
    foreach ($app in $Apps) {
        $number++
        $script:RowClock.Restart()
        if ($script:Stopped) { Add-Row $app.Fields.displayName 'Failed' -Reason 'not tried after the failure before'; continue }
        if ($Apps.Count -gt 1) { $script:ProgressTitle = "$number of $($Apps.Count)" }
        $script:Unfinished = ''
        try {
            Publish-App $app $Ours $done
        }
        catch {
            if (Test-Problem $_ 'Fatal') { $script:Stopped = "$_" }
            Add-Row $app.Fields.displayName 'Failed' -Reason (Get-FailureText "$_") -AppId $script:Unfinished
        }
        finally {
            Close-Package
        }
    }
}

function Get-FailureText {
    param([string]$Text)
    if ($script:Unfinished) { return "$Text The app ($script:Unfinished) has no content yet. Run this script again." }
    return $Text
}

function Write-Others {
    # Says that the same printers also are other apps: each alone, or all of the client as one.
    param($Part, $Ours, $Rows)
    if (@($Rows | Where-Object { 'Created', 'Updated', 'Unchanged' -notcontains $_.Result }).Count -gt 0) { return }
    $others = @($Part.Together | Where-Object { $null -ne $_ })
    if ($Together) { $others = @($Part.Apps | Where-Object { $_.Kind -eq 'printer' }) }
    $names = @($others | ForEach-Object { $Ours[(Get-Key $_)] } | Where-Object { $null -ne $_ } | ForEach-Object { "'$($_.Name)' ($($_.Id))" })
    if ($names.Count -eq 0) { return }
    Write-Line "Note: these printers are also in $(Get-CountText $names.Count 'other app'): $(Get-FirstText $names). Remove the assignments that you no longer want there, and delete the apps."
}

function Write-Unneeded {
    # Names what a person may want to delete: apps of deleted records, and drivers' apps that no app depends on.
    param($Ours, $Apps)
    $gone = 0
    if ($null -ne $Settings.Records) { $gone = @(Find-Leftovers $Ours).Count }
    if ($gone -gt 0) { Write-Line "Note: this tenant has $(Get-CountText $gone 'app') of printers, clients or drivers that were deleted in Platen. -Remove lists and deletes them." }
    # A script for one printer or driver looks no further.
    if ($Apps.Count -gt 1) { Write-UnneededDrivers $Ours @($Apps | ForEach-Object { Get-Key $_ }) }
}

function Write-UnneededDrivers {
    # $Needed: the keys of apps not to name.
    param($Ours, [string[]]$Needed)
    $unneeded = @(foreach ($key in @(Get-Sorted @($Ours.Keys))) {
            if ($key -notlike 'driver:*' -or $Needed -contains $key) { continue }
            foreach ($app in $Ours[$key]) { if (-not (Test-InUse $app.Id)) { "'$($app.Name)' ($($app.Id))" } }
        })
    if ($unneeded.Count -gt 0) { Write-Line "Note: no app depends on $(Get-FirstText $unneeded), and nothing is assigned. Delete in Intune what you no longer need." }
}

function Test-InUse {
    # Returns whether another app depends on an app, or it is assigned. Also true if that is unknown.
    param([string]$Id)
    try {
        $parents = @(Get-GraphList "mobileApps/$Id/relationships" 'list what depends on a driver' @() | Where-Object { (Get-Field $_ 'targetType') -eq 'parent' })
        return ($parents.Count -gt 0 -or @(Get-GraphList "mobileApps/$Id/assignments" 'list the assignments' @()).Count -gt 0)
    }
    catch {
        Write-Log "Whether $Id is needed is unknown: $_"
        return $true
    }
}

#endregion
