#region An app

# After uploading a package of this size, Intune may take minutes until its content can be used.
$LargeBytes = 104857600
$TriesOfSmall = 6
$TriesOfLarge = 12
# Requests to create an app, and looks for the app that such a request may have made.
$MaxCreations = 4
$MaxLooks = 5
# The id of the current app while it has no content.
$script:Unfinished = ''
# Whether a person declined a change of the current app.
$script:IsDeclined = $false
# Assignments of the current app that differ from the parameters and stay, as sentences.
$script:KeptAssignments = @()

function Publish-App {
    # Creates or updates one app.
    param($App, $Ours, $Done)
    foreach ($key in $App.DependsOn) {
        if ($Done.ContainsKey($key)) { continue }
        $driver = @($script:Target.Part.Apps | Where-Object { (Get-Key $_) -eq $key } | ForEach-Object { $_.Fields.displayName })[0]
        throw "It depends on '$driver', which was not published."
    }
    $script:IsDeclined = $false
    $script:KeptAssignments = @()
    $id = Find-OurApp $Ours (Get-Key $App)
    if ($id) { $work = Update-App $App $id $Ours $Done }
    else { $work = New-App $App }
    if ($work.Id -or $WhatIfPreference) { $Done[(Get-Key $App)] = $work.Id }
    if ($work.Id -and -not $script:IsDeclined) {
        $work.Changed += @(Set-Dependencies $App $work.Id $Ours $Done $false)
        $work.Changed += @(Set-Assignments $App $work.Id)
        $work.Changed += @(Set-Category $App $work.Id)
    }
    $changed = @($work.Changed | Select-Object -Unique)
    # A new app has its dependencies from the start.
    if ($work.IsNew) { $changed = @('New app') + @($changed | Where-Object { $_ -ne 'Dependencies' }) }
    $result = 'Unchanged'
    if ($changed.Count -gt 0) { $result = 'Updated' }
    if ($work.IsNew) { $result = 'Created' }
    if ($changed.Count -gt 0 -and ($WhatIfPreference -or $script:IsDeclined)) { $result = 'Pending' }
    if ($result -eq 'Created') { $changed = @($changed | Where-Object { $_ -ne 'New app' }) }
    $reasons = @($work.Reason) + $script:KeptAssignments
    if ($script:IsDeclined) { $reasons += 'declined' }
    Add-Row $work.Name $result $changed (@($reasons | Where-Object { $_ }) -join '; ') $work.Id
}

function New-App {
    param($App)
    $name = $App.Fields.displayName
    $work = @{ Id = ''; Name = $name; IsNew = $true; Changed = @(); Reason = '' }
    if (-not (Test-Go $name 'Create the app and upload its content')) { return $work }
    # The package comes first, so that a missing one leaves no app without content.
    $info = Open-Package $App
    Write-Step "Creating the app: $name"
    $work.Id = Add-App $App
    $script:Unfinished = $work.Id
    Test-OnlyApp $App $work.Id
    $script:Lease = @{ Id = $work.Id; Clock = [Diagnostics.Stopwatch]::StartNew() }
    # Lists and content of a new app may be missing for a moment.
    $null = Read-App $work.Id
    Save-Content $App $work.Id $info ''
    return $work
}

function Test-OnlyApp {
    # Throws if another run created the same app at the same moment. The later app, which has no content yet, is deleted.
    param($App, [string]$Id)
    for ($look = 1; $look -le $MaxLooks; $look++) {
        $apps = @((Get-OurApps (Get-Key $App))[(Get-Key $App)] | Where-Object { $null -ne $_ })
        $own = @($apps | Where-Object { $_.Id -eq $Id })[0]
        if ($null -ne $own) { break }
        # New apps are listed late.
        Start-Sleep -Milliseconds ([Math]::Min($LongestPollMs, $PollMs * [Math]::Pow(2, $look)))
    }
    if ($null -eq $own) { return }
    $earlier = @($apps | Where-Object { $_.Id -ne $Id -and [string]::CompareOrdinal("$($_.Made) $($_.Id)", "$($own.Made) $Id") -lt 0 })
    if ($earlier.Count -eq 0) { return }
    $null = Invoke-Graph 'DELETE' "mobileApps/$Id" $null @{ Doing = 'delete the second app'; Allow = @(404) }
    $script:Unfinished = ''
    throw 'Another run of publish.ps1 created this app at the same moment. Run this script again when it has ended.'
}

function Read-App {
    param([string]$Id, [int]$Tries = $MaxTries)
    $app = Invoke-Graph 'GET' "mobileApps/$Id" $null @{ Doing = 'show the app'; Again = 404, 409; Tries = $Tries }
    if ((Get-Id $app 'show the app') -ne $Id) { throw "Graph answered with another app than $Id." }
    # The next request replaces these fields, so missing ones are not empty ones.
    foreach ($name in 'notes', 'rules') {
        if ($null -eq $app.PSObject.Properties[$name]) { throw "Graph answered without the app's $name." }
    }
    return $app
}

function Add-App {
    # Creates the app and returns its id. A request without an answer may have created it: the marker tells.
    param($App)
    $content = Get-NewApp $App
    for ($try = 1; ; $try++) {
        try {
            return Get-Id (Invoke-Graph 'POST' 'mobileApps' $content @{ Doing = 'create the app'; Tries = 1 }) 'create the app'
        }
        catch {
            if ($try -ge $MaxCreations -or -not (Test-Problem $_ 'Passing')) { throw }
            $id = Find-CreatedApp $App (Get-ProblemAnswer $_)
            if ($id) { return $id }
        }
    }
}

function Find-CreatedApp {
    # The id of the app that a request without an answer may have created; '' if none. New apps are listed late.
    param($App, $Answer)
    for ($look = 1; $look -le $MaxLooks; $look++) {
        Wait-Pause $Answer $look
        $id = Find-OurApp (Get-OurApps) (Get-Key $App)
        if ($id) { return $id }
    }
    return ''
}

function Update-App {
    # Changes what differs.
    param($App, [string]$Id, $Ours, $Done)
    $plan = Get-Plan $App (Read-App $Id)
    $work = @{ Id = $Id; Name = $plan.Name; IsNew = $false; Changed = $plan.Changed; Reason = (Get-KeptText $plan.Kept) }
    if ($plan.Body.Count -eq 0 -and -not $plan.NeedsContent) { return $work }
    Test-Newer $plan
    if ($work.Changed.Count -eq 0) { $work.Changed = @(Get-Titles @('notes')) }
    if (-not (Test-Go $App.Fields.displayName "Update $($work.Changed -join ', ')")) { return $work }
    # Another run may publish the same app just now.
    $plan = Get-Plan $App (Read-FreeApp $App $Id)
    $work.Changed = $plan.Changed
    if ($plan.Body.Count -eq 0 -and -not $plan.NeedsContent) { return $work }
    Test-Newer $plan
    if ($work.Changed.Count -eq 0) { $work.Changed = @(Get-Titles @('notes')) }
    if (-not $plan.NeedsContent) {
        Save-App $App $Id ''
        return $work
    }
    if (-not $plan.Committed) { $script:Unfinished = $Id }
    $info = Open-Package $App
    # A package without its driver needs its dependency before PCs get it.
    $work.Changed += @(Set-Dependencies $App $Id $Ours $Done $true)
    if ($script:IsDeclined) { return $work }
    Enter-Lease $App $Id
    Save-Content $App $Id $info $plan.Committed
    return $work
}

function Save-Content {
    # Uploads the package and sets everything that differs.
    param($App, [string]$Id, $Info, [string]$Committed)
    try {
        Save-App $App $Id (Publish-Content $App $Id $Info $Committed)
        $script:Lease = $null
    }
    finally { Exit-Lease }
}

function Get-Plan {
    # What has to change. Name: the app's name afterwards; Body: properties to set; Changed: their names for people; Kept: those
    # that a person changed in Intune; Committed: its content version; At: when the script was made that published it.
    param($App, $Current)
    $notes = [string](Get-Field $Current 'notes')
    $noted = Read-Notes $notes $App
    $fields = Compare-Fields $App $Current $noted.Set
    $text = Compare-NotesText $App $noted $fields
    $body = $fields.Changes
    $rules = Get-WantedRules $App $Current
    # Collected anew, because 5.1 would write the output of a function as an object with a count.
    if ($null -ne $rules) { $body.rules = @($rules) }
    $tags = Get-WantedTags $Current
    if ($null -ne $tags) { $body.roleScopeTagIds = @($tags) }
    $changed = @(Get-Titles @($body.Keys))
    $committed = [string](Get-Field $Current 'committedContentVersion')
    $needsContent = ($noted.Revision -ne $App.Revision -or -not $committed)
    if ($needsContent) { $changed = @('Content') + $changed }
    if ((Format-Notes $notes $App $App.Revision $fields.Set $noted.At $text) -cne $notes) {
        $body.notes = Format-Notes $notes $App $App.Revision $fields.Set $Settings.Made $text
        if ($null -ne $text) { $changed += @(Get-Titles @('notes')) }
    }
    $name = [string](Get-Field $Current 'displayName')
    if ($body.ContainsKey('displayName')) { $name = $body.displayName }
    return @{ Name = $name; Body = $body; Changed = $changed; Kept = $fields.Kept; NeedsContent = $needsContent; Committed = $committed; At = $noted.At }
}

function Test-Newer {
    # Throws if a newer script published the app.
    param($Plan)
    if ($Force -or [string]::CompareOrdinal($Plan.At, $Settings.Made) -le 0) { return }
    throw "A newer script, of $(Get-TimeText $Plan.At), published this app. Download the script again, or use -Force to put the app back."
}

function Get-KeptText {
    param($Kept)
    if (@($Kept).Count -gt 0) { return "kept as in Intune: $((Get-Titles @($Kept)) -join ', ') (-Force sets them)" }
}

function Save-App {
    # Sets what differs, and with it a new content version: detection must not change before the content. Reads the app again,
    # because a person may have changed it during the upload.
    param($App, [string]$Id, [string]$Version)
    $current = Read-App $Id
    $plan = Get-Plan $App $current
    Test-Newer $plan
    $body = $plan.Body
    if ($body.Count -eq 0 -and -not $Version) { return }
    $how = @{ Doing = 'update the app' }
    if ($Version) {
        $body.committedContentVersion = $Version
        foreach ($name in $OfPackage) { $body[$name] = $App.Fields[$name] }
        # Graph may refuse it for some minutes after the commit of a large file.
        $how.Again = 400, 409
        $how.Tries = $TriesOfSmall
        if ($App.Package.Size -gt $LargeBytes) { $how.Tries = $TriesOfLarge }
    }
    Write-Step "Updating the app: $($App.Fields.displayName)"
    Save-Fields $current $body $how
    if (-not $Version) { return }
    $null = Wait-Published $Id $Version
    $script:Unfinished = ''
}

function Save-Fields {
    # Sets properties of an app, and keeps its icon: a request without the icon has removed it.
    param($Current, $Body, $How)
    $Body['@odata.type'] = $AppType
    $icon = Get-Field $Current 'largeIcon'
    if (-not $Body.ContainsKey('largeIcon') -and (Get-Field $icon 'value')) {
        $Body.largeIcon = @{ '@odata.type' = '#microsoft.graph.mimeContent'; type = [string](Get-Field $icon 'type'); value = [string](Get-Field $icon 'value') }
    }
    $null = Invoke-Graph 'PATCH' "mobileApps/$(Get-Id $Current 'update the app')" $Body $How
}

function Wait-Published {
    # Waits until the app has the content version. '': any version.
    param([string]$Id, [string]$Version)
    return Wait-Until {
        $app = Read-App $Id
        $state = [string](Get-Field $app 'publishingState')
        $isThere = (-not $Version -or [string](Get-Field $app 'committedContentVersion') -eq $Version)
        if ($isThere -and $state -eq 'published') { return $app }
        if (-not $isThere -and $state -eq 'published') { Write-Log 'Intune does not show the new content yet' }
    } 'Publishing the content'
}

#endregion
