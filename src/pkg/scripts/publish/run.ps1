#region A run

# The ids of drivers' apps that an app stopped to depend on.
$script:Dropped = @{}

function Publish-All {
    $apps = @($Settings.Apps)
    if ($Together) { $apps = @(Get-TogetherApp) }
    Connect-Graph
    Write-Step 'Looking for the apps that are there'
    $ours = Get-OurApps
    # Before anything is changed.
    foreach ($app in $apps) { $null = Find-OurApp $ours (Get-Key $app) }
    Write-Line "$($Settings.Title): $(Get-CountText $apps.Count 'app')"
    $rows = @(foreach ($left in $Settings.LeftOut) { New-Row $left.Name 'Left out' $left.Reason })
    $rows += @(Publish-Apps $apps $ours)
    $script:ProgressPlace = ''
    Write-Table $rows
    Write-Others $ours
    Write-Unneeded $ours
    if ($AssignTo.Count -eq 0 -and @($rows | Where-Object { $_.Result -eq 'Created' }).Count -gt 0) {
        Write-Line 'New apps are assigned to nobody yet: assign them in Intune, or run this again with -AssignTo and the ids of groups.'
    }
}

function Get-TogetherApp {
    if ($null -ne $Settings.Together) { return $Settings.Together }
    if ($Settings.TogetherRefusal) { throw "-Together: $($Settings.TogetherRefusal)" }
    throw '-Together is for the script of a client: this one is of a single printer or driver.'
}

function Publish-Apps {
    # One after the other; their rows of the table.
    param($Apps, $Ours)
    $done = @{}
    $fatal = $false
    $number = 0
    foreach ($app in $Apps) {
        $number++
        if ($fatal) { New-Row $app.Fields.displayName 'Failed' 'not tried'; continue }
        if ($Apps.Count -gt 1) { $script:ProgressPlace = "$number of $($Apps.Count), " }
        $script:Unfinished = ''
        try {
            Publish-App $app $Ours $done
        }
        catch {
            $fatal = Test-Problem $_ 'Fatal'
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
    param($Ours)
    $others = @($Settings.Together | Where-Object { $null -ne $_ })
    if ($Together) { $others = @($Settings.Apps | Where-Object { $_.Kind -eq 'printer' }) }
    foreach ($app in $others) {
        $id = [string]@($Ours[(Get-Key $app)] | Where-Object { $null -ne $_ } | ForEach-Object { $_.Id })[0]
        if ($id) { Write-Line "Note: '$($app.Fields.displayName)' ($id) brings some of these printers, too. Delete it in Intune if it is not wanted any more." }
    }
}

function Write-Unneeded {
    # What a person may want to delete: apps of records that are gone, and drivers' apps that nothing depends on any more.
    param($Ours)
    $gone = 0
    if ($null -ne $Settings.Records) { $gone = @(Find-Leftovers $Ours).Count }
    if ($gone -eq 1) { Write-Line 'Note: 1 app in this tenant is of a record that Platen has no more. Run this with -Remove to see it, and to delete it.' }
    if ($gone -gt 1) { Write-Line "Note: $gone apps in this tenant are of records that Platen has no more. Run this with -Remove to see them, and to delete them." }
    foreach ($id in @(Get-Sorted @($script:Dropped.Keys))) {
        $parents = @(Get-GraphList "mobileApps/$id/relationships" 'list what depends on a driver' | Where-Object { (Get-Field $_ 'targetType') -eq 'parent' })
        $names = @($Ours.Values | ForEach-Object { $_ } | Where-Object { $_.Id -eq $id } | ForEach-Object { $_.Name })
        if ($parents.Count -eq 0) { Write-Line "Note: no app depends on '$($names[0])' ($id) any more. Delete it in Intune if it is not assigned by itself." }
    }
}

#endregion
