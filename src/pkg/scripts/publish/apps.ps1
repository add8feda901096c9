#region An app

# Of a package this large Intune may take minutes until its content can be used.
$LargeBytes = 104857600
$TriesOfSmall = 6
$TriesOfLarge = 12
# Requests to create an app, and looks for the one that one of them may have made.
$MostCreations = 4
$LooksForCreated = 5
# The id of an app without content that is being worked on.
$script:Unfinished = ''
# Whether somebody said no to something of the app that is being worked on.
$script:IsDeclined = $false

function Publish-App {
    # Makes one app what it should be; its row of the table.
    param($App, $Ours, $Done)
    foreach ($key in $App.DependsOn) {
        if ($Done.ContainsKey($key)) { continue }
        $driver = @($Settings.Apps | Where-Object { (Get-Key $_) -eq $key } | ForEach-Object { $_.Fields.displayName })[0]
        throw "It depends on '$driver', which there is not: see what is said of that."
    }
    $script:IsDeclined = $false
    $id = Find-OurApp $Ours (Get-Key $App)
    if ($id) { $work = Update-App $App $id $Ours $Done }
    else { $work = New-App $App }
    if ($work.Id -or $WhatIfPreference) { $Done[(Get-Key $App)] = $work.Id }
    if ($work.Id -and -not $script:IsDeclined) {
        $work.What += @(Set-Dependencies $App $work.Id $Ours $Done $false)
        $work.What += @(Set-Assignments $App $work.Id)
    }
    # A new app has all of it.
    if ($work.Result -like '*create*') { $work.What = @($work.What | Where-Object { $_ -ne 'Dependencies' }) }
    if ($work.What.Count -gt 0 -and $work.Result -eq 'Nothing to do') { $work.Result = Get-UpdateResult }
    if ($script:IsDeclined) { $work.Result = 'Declined' }
    $details = @(@($work.What | Select-Object -Unique) -join ', ') + @($work.Notes)
    return New-Row $work.Name $work.Result ((@($details | Where-Object { $_ })) -join '; ')
}

function Get-UpdateResult {
    if ($WhatIfPreference) { return 'Would update' }
    return 'Updated'
}

function New-App {
    param($App)
    $name = $App.Fields.displayName
    $work = @{ Id = ''; Name = $name; Result = 'Would create'; What = @(); Notes = @() }
    if (-not (Test-Go $name 'Create the app and upload its content')) { return $work }
    # First of all: where there is no package, there is no app without content either.
    $info = Open-Package $App
    Write-Step "Creating the app: $name"
    $work.Id = Add-App $App
    $work.Result = 'Created'
    $script:Unfinished = $work.Id
    # Lists and content of a new app may not be there yet.
    $null = Read-App $work.Id
    Save-App $App $work.Id (Publish-Content $App $work.Id $info '')
    return $work
}

function Read-App {
    param([string]$Id)
    $app = Invoke-Graph 'GET' "mobileApps/$Id" $null @{ Doing = 'show the app'; Again = 404, 409 }
    if ((Get-Id $app 'show the app') -ne $Id) { throw "Graph answered with another app than $Id." }
    # What is missing must not be taken for empty: what is sent next replaces it.
    foreach ($name in 'notes', 'rules') {
        if ($null -eq $app.PSObject.Properties[$name]) { throw "Graph answered without the app's $name." }
    }
    return $app
}

function Add-App {
    # Creates the app; its id. A request without an answer may have had its effect: the marker tells.
    param($App)
    $content = Get-NewApp $App
    for ($try = 1; ; $try++) {
        try {
            return Get-Id (Invoke-Graph 'POST' 'mobileApps' $content @{ Doing = 'create the app'; Tries = 1 }) 'create the app'
        }
        catch {
            if ($try -ge $MostCreations -or -not (Test-Problem $_ 'Passing')) { throw }
            $id = Find-CreatedApp $App (Get-ProblemAnswer $_)
            if ($id) { return $id }
        }
    }
}

function Find-CreatedApp {
    # The id of an app that a request without an answer may have made; '' where it made none. Lists are late.
    param($App, $Answer)
    for ($look = 1; $look -le $LooksForCreated; $look++) {
        Wait-Pause $Answer $look
        $id = Find-OurApp (Get-OurApps) (Get-Key $App)
        if ($id) { return $id }
    }
    return ''
}

function Update-App {
    # Brings an app up to date. What: the changes, for people.
    param($App, [string]$Id, $Ours, $Done)
    $plan = Get-Plan $App (Read-App $Id)
    $work = @{ Id = $Id; Name = $plan.Name; Result = 'Nothing to do'; What = $plan.What; Notes = @(Get-KeptText $plan.Kept) }
    if ($plan.Body.Count -eq 0 -and -not $plan.NeedsContent) { return $work }
    Test-Newer $plan
    if ($work.What.Count -eq 0) { $work.What = @(Get-Titles @('notes')) }
    $work.Result = Get-UpdateResult
    if (-not (Test-Go $App.Fields.displayName "Update $($work.What -join ', ')")) { return $work }
    $version = ''
    if ($plan.NeedsContent) {
        if (-not $plan.Committed) { $script:Unfinished = $Id }
        $info = Open-Package $App
        # Before the content of a package without its driver can arrive anywhere.
        $work.What += @(Set-Dependencies $App $Id $Ours $Done $true)
        if ($script:IsDeclined) { return $work }
        $version = Publish-Content $App $Id $info $plan.Committed
    }
    Save-App $App $Id $version
    return $work
}

function Get-Plan {
    # What is to be done to an app as it is. Name: its name afterwards; Body: properties to set; What: their names, for
    # people; Kept: those that stay as somebody set them; Committed: its content version; At: when the script was made that
    # published it.
    param($App, $Current)
    $notes = [string](Get-Field $Current 'notes')
    $noted = Read-Notes $notes $App
    $fields = Compare-Fields $App $Current $noted.Set
    $body = $fields.Changes
    $rules = Get-WantedRules $App $Current
    # Collected anew: 5.1 would write what came out of a function as an object with a count.
    if ($null -ne $rules) { $body.rules = @($rules) }
    $what = @(Get-Titles @($body.Keys))
    $committed = [string](Get-Field $Current 'committedContentVersion')
    $needsContent = ($noted.Revision -ne $App.Revision -or -not $committed)
    if ($needsContent) { $what = @('Content') + $what }
    if ((Format-Notes $notes $App $App.Revision $fields.Set $noted.At) -cne $notes) {
        $body.notes = Format-Notes $notes $App $App.Revision $fields.Set $Settings.Made
    }
    $name = [string](Get-Field $Current 'displayName')
    if ($body.ContainsKey('displayName')) { $name = $body.displayName }
    return @{ Name = $name; Body = $body; What = $what; Kept = $fields.Kept; NeedsContent = $needsContent; Committed = $committed; At = $noted.At }
}

function Test-Newer {
    # Throws where an app was published by a script that is newer than this one.
    param($Plan)
    if ($Force -or [string]::CompareOrdinal($Plan.At, $Settings.Made) -le 0) { return }
    throw "A newer script, of $(Get-TimeText $Plan.At), published this app. Download this one anew, or run it with -Force to put the app back."
}

function Get-KeptText {
    param($Kept)
    if (@($Kept).Count -gt 0) { return "kept as in Intune: $((Get-Titles @($Kept)) -join ', ') (-Force sets them)" }
}

function Save-App {
    # Sets what differs and, where there is one, the new content version at once: detection must not change before the
    # content. The app is read anew: while the content was uploaded somebody may have changed it.
    param($App, [string]$Id, [string]$Version)
    $current = Read-App $Id
    $plan = Get-Plan $App $current
    Test-Newer $plan
    $body = $plan.Body
    $body['@odata.type'] = $AppType
    $icon = Get-Field $current 'largeIcon'
    # Without it an icon was lost.
    if (-not $body.ContainsKey('largeIcon') -and (Get-Field $icon 'value')) {
        $body.largeIcon = @{ '@odata.type' = '#microsoft.graph.mimeContent'; type = [string](Get-Field $icon 'type'); value = [string](Get-Field $icon 'value') }
    }
    $how = @{ Doing = 'update the app' }
    if ($Version) {
        $body.committedContentVersion = $Version
        foreach ($name in $OfPackage) { $body[$name] = $App.Fields[$name] }
        # After a large file's commit it may be refused for some minutes.
        $how.Again = 400, 409
        $how.Tries = $TriesOfSmall
        if ($App.Package.Size -gt $LargeBytes) { $how.Tries = $TriesOfLarge }
    }
    Write-Step "Updating the app: $($App.Fields.displayName)"
    $null = Invoke-Graph 'PATCH' "mobileApps/$Id" $body $how
    if (-not $Version) { return }
    $null = Wait-Published $Id $Version
    $script:Unfinished = ''
}

function Wait-Published {
    # Until the app has the content version; '': whichever it has.
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
