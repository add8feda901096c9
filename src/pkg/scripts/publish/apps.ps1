#region Apps

# Of a package this large Intune may take minutes until its content can be used.
$LargeBytes = 104857600
$TriesOfSmall = 6
$TriesOfLarge = 12
# The id of an app without content that is being worked on.
$script:Unfinished = ''

function Publish-All {
    $apps = @($Settings.Apps)
    if ($Together) {
        if ($null -eq $Settings.Together) { throw "-Together: $($Settings.TogetherRefusal)" }
        $apps = @($Settings.Together)
    }
    Connect-Graph
    Write-Step 'Looking for the apps that are there'
    $ours = Get-OurApps
    # Before anything is changed.
    foreach ($app in $apps) { $null = Find-OurApp $ours (Get-Key $app) }
    Write-Line "$($Settings.Title): $(Get-CountText $apps.Count 'app')"
    $rows = @(foreach ($left in $Settings.LeftOut) { New-Row $left.Name 'Left out' $left.Reason })
    $done = @{}
    $fatal = ''
    foreach ($app in $apps) {
        if ($fatal) { $rows += New-Row $app.Fields.displayName 'Failed' 'not tried'; continue }
        $script:Unfinished = ''
        try {
            $rows += Publish-App $app $ours $done
        }
        catch {
            if (Test-Problem $_ 'Fatal') { $fatal = "$_" }
            $rows += New-Row $app.Fields.displayName 'Failed' (Get-FailureText "$_")
        }
        finally {
            Close-Package
        }
    }
    Write-Table $rows
    Write-Others $ours
    if ($AssignTo.Count -eq 0 -and @($rows | Where-Object { $_.Result -eq 'Created' }).Count -gt 0) {
        Write-Line 'New apps are assigned to nobody yet: assign them in Intune, or run this again with -AssignTo and the ids of groups.'
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

function Publish-App {
    # Makes one app what it should be; its row of the table.
    param($App, $Ours, $Done)
    foreach ($key in $App.DependsOn) {
        if (-not $Done.ContainsKey($key)) { throw 'The app with its driver failed.' }
    }
    $id = Find-OurApp $Ours (Get-Key $App)
    if ($id) { $work = Update-App $App $id $Ours $Done }
    else { $work = New-App $App }
    $Done[(Get-Key $App)] = $work.Id
    if ($work.Id) {
        $work.What += @(Set-Dependencies $App $work.Id $Ours $Done $false)
        $work.What += @(Set-Assignments $App $work.Id)
    }
    if ($work.What.Count -gt 0 -and $work.Result -eq 'Nothing to do') { $work.Result = Get-UpdateResult }
    $details = @(@($work.What) -join ', ') + @($work.Notes)
    return New-Row $App.Fields.displayName $work.Result ((@($details | Where-Object { $_ })) -join '; ')
}

function Get-UpdateResult {
    if ($WhatIfPreference) { return 'Would update' }
    return 'Updated'
}

function New-App {
    param($App)
    $name = $App.Fields.displayName
    $work = @{ Id = ''; Result = 'Would create'; What = @(); Notes = @() }
    if (-not $script:Run.ShouldProcess($name, 'Create the app and upload its content')) { return $work }
    # First of all: where there is no package, there is no app without content either.
    $info = Open-Package $App
    Write-Step "${name}: creating the app"
    $work.Id = Add-App $App
    $work.Result = 'Created'
    $script:Unfinished = $work.Id
    $current = Invoke-Graph 'GET' "mobileApps/$($work.Id)" $null @{ Doing = 'show the app that was created'; Again = 404, 409 }
    $version = Publish-Content $App $work.Id $info ''
    $noted = Read-Notes ([string](Get-Field $current 'notes')) $App
    $body = @{ notes = (Format-Notes ([string](Get-Field $current 'notes')) $App $App.Revision $noted.Set) }
    Save-App $App $work.Id $current $body $version
    return $work
}

function Add-App {
    # Creates the app; its id. A request without an answer may have had its effect: the marker tells.
    param($App)
    $content = Get-NewApp $App
    for ($try = 1; ; $try++) {
        try {
            $id = [string](Get-Field (Invoke-Graph 'POST' 'mobileApps' $content @{ Doing = 'create the app'; Tries = 1 }) 'id')
            if (-not $id) { throw 'Intune created the app without telling its id.' }
            return $id
        }
        catch {
            if ($try -ge $MostTries -or -not (Test-Problem $_ 'Passing')) { throw }
            Wait-Pause (Get-ProblemAnswer $_) $try
            $id = Find-OurApp (Get-OurApps) (Get-Key $App)
            if ($id) { return $id }
        }
    }
}

function Update-App {
    # Brings an app up to date. What: the changes, for people.
    param($App, [string]$Id, $Ours, $Done)
    $current = Invoke-Graph 'GET' "mobileApps/$Id" $null @{ Doing = 'show the app'; Again = 404, 409 }
    $notes = [string](Get-Field $current 'notes')
    $noted = Read-Notes $notes $App
    $fields = Compare-Fields $App $current $noted.Set
    $body = $fields.Changes
    $rules = Get-WantedRules $App $current
    # Collected anew: 5.1 would write what came out of a function as an object with a count.
    if ($null -ne $rules) { $body.rules = @($rules) }
    $committed = [string](Get-Field $current 'committedContentVersion')
    $what = @($body.Keys | Where-Object { $_ -ne 'applicableArchitectures' } | Sort-Object)
    $needsContent = ($noted.Revision -ne $App.Revision -or -not $committed)
    if ($needsContent) { $what = @('content') + $what }
    $newNotes = Format-Notes $notes $App $App.Revision $fields.Set
    if ($newNotes -cne $notes) { $body.notes = $newNotes }
    $work = @{ Id = $Id; Result = 'Nothing to do'; What = $what; Notes = @(Get-KeptText $fields.Kept) }
    if ($body.Count -eq 0 -and -not $needsContent) { return $work }
    if ($what.Count -eq 0) { $work.What = @('notes') }
    $work.Result = Get-UpdateResult
    if (-not $script:Run.ShouldProcess($App.Fields.displayName, "Update $($work.What -join ', ')")) { return $work }
    $version = ''
    if ($needsContent) {
        if (-not $committed) { $script:Unfinished = $Id }
        $info = Open-Package $App
        # Before the content of a package without its driver can arrive anywhere.
        $work.What += @(Set-Dependencies $App $Id $Ours $Done $true)
        $version = Publish-Content $App $Id $info $committed
    }
    Save-App $App $Id $current $body $version
    return $work
}

function Get-KeptText {
    param($Kept)
    if (@($Kept).Count -gt 0) { return "kept as changed in Intune: $(@($Kept) -join ', ') (-Force sets them)" }
}

function Save-App {
    # Sets fields and, where there is one, the new content version at once: detection must not change before the content.
    param($App, [string]$Id, $Current, $Body, [string]$Version)
    $how = @{ Doing = 'update the app' }
    $Body['@odata.type'] = $AppType
    $icon = Get-Field $Current 'largeIcon'
    # Without it an icon was lost.
    if (-not $Body.ContainsKey('largeIcon') -and (Get-Field $icon 'value')) {
        $Body.largeIcon = @{ '@odata.type' = '#microsoft.graph.mimeContent'; type = [string](Get-Field $icon 'type'); value = [string](Get-Field $icon 'value') }
    }
    if ($Version) {
        $Body.committedContentVersion = $Version
        foreach ($name in $OfPackage) { $Body[$name] = $App.Fields[$name] }
        # After a large file's commit it may be refused for some minutes.
        $how.Again = 400, 409
        $how.Tries = $TriesOfSmall
        if ($App.Package.Size -gt $LargeBytes) { $how.Tries = $TriesOfLarge }
    }
    Write-Step "$($App.Fields.displayName): updating the app"
    $null = Invoke-Graph 'PATCH' "mobileApps/$Id" $Body $how
    if (-not $Version) { return }
    $null = Wait-Published $Id $Version
    $script:Unfinished = ''
}

function Wait-Published {
    # Until the app has the content version; '': whichever it has.
    param([string]$Id, [string]$Version)
    return Wait-Until {
        $app = Invoke-Graph 'GET' "mobileApps/$Id" $null @{ Doing = 'show the app'; Again = 404, 409 }
        $state = [string](Get-Field $app 'publishingState')
        $isThere = (-not $Version -or [string](Get-Field $app 'committedContentVersion') -eq $Version)
        if ($isThere -and $state -eq 'published') { return $app }
        if (-not $isThere -and $state -eq 'published') { Write-Log 'Intune does not show the new content yet' }
    } 'Publishing the content'
}

#endregion
