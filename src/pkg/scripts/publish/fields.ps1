#region An app's fields

$AppType = '#microsoft.graph.win32LobApp'
# These are the same for all packages of Platen.
$SameForAll = @{
    allowAvailableUninstall = $true
    installExperience = @{ runAsAccount = 'system'; maxRunTimeInMinutes = 60; deviceRestartBehavior = 'basedOnReturnCode' }
    returnCodes = @(
        @{ returnCode = 0; type = 'success' },
        @{ returnCode = 1707; type = 'success' },
        @{ returnCode = 3010; type = 'softReboot' },
        @{ returnCode = 1641; type = 'hardReboot' },
        @{ returnCode = 1618; type = 'retry' }
    )
}
# The names in Intune's portal.
$Titles = @{
    displayName = 'Name'
    description = 'Description'
    publisher = 'Publisher'
    displayVersion = 'App Version'
    largeIcon = 'Logo'
    installCommandLine = 'Install command'
    uninstallCommandLine = 'Uninstall command'
    installExperience = 'Install behavior'
    allowAvailableUninstall = 'Allow available uninstall'
    returnCodes = 'Return codes'
    allowedArchitectures = 'Operating system architecture'
    minimumSupportedWindowsRelease = 'Minimum operating system'
    rules = 'Rules'
    fileName = 'App package file'
    setupFilePath = 'Setup file'
    notes = 'Notes'
    owner = 'Owner'
    roleScopeTagIds = 'Scope tags'
}
# These belong to the package. Another value would break it.
$OfPackage = @('fileName', 'setupFilePath')
# An app that was created by hand may have another installer.
$OfInstaller = @('installCommandLine', 'uninstallCommandLine')

function Get-WantedFields {
    # By their names in Graph, without rules and notes.
    param($App)
    $wanted = @{}
    foreach ($name in $App.Fields.Keys) { $wanted[$name] = $App.Fields[$name] }
    foreach ($name in $SameForAll.Keys) { $wanted[$name] = $SameForAll[$name] }
    if ($App.Icon) {
        $wanted.largeIcon = @{ '@odata.type' = '#microsoft.graph.mimeContent'; type = 'image/png'; value = $Settings.Icons[$App.Icon] }
    }
    return $wanted
}

function Get-Titles {
    # The names of properties for people, always in the same order.
    param([string[]]$Names)
    return @((Get-Sorted @($Names)) | Where-Object { $Titles.ContainsKey($_) } | ForEach-Object { $Titles[$_] })
}

function Compare-Fields {
    # Changes: properties to set. Kept: those that a person changed in Intune. Set: the hashes to note afterwards.
    param($App, $Current, $Noted)
    $wanted = Get-WantedFields $App
    $result = @{ Changes = @{}; Kept = @(); Set = @{} }
    foreach ($name in $Noted.Keys) { $result.Set[$name] = $Noted[$name] }
    foreach ($name in @($wanted.Keys | Sort-Object)) {
        $text = Get-FieldText $name $wanted[$name] $wanted[$name]
        $there = Get-FieldText $name (Get-Field $Current $name) $wanted[$name]
        $isPackages = ($OfPackage -contains $name -or ($Noted.Count -eq 0 -and $OfInstaller -contains $name))
        if ($text -ceq $there -or $Force -or $isPackages -or (Test-Ours $name $there $Noted)) {
            if ($text -cne $there) { $result.Changes[$name] = $wanted[$name] }
            $result.Set[$name] = Get-ShortHash $text
        }
        else { $result.Kept += $name }
    }
    Add-Removals $result $wanted $Current $Noted
    if ($result.Changes.ContainsKey('allowedArchitectures')) { $result.Changes.applicableArchitectures = 'none' }
    return $result
}

function Test-Ours {
    # Returns whether a value is still the one that a run set, or is empty and was never set.
    param([string]$Name, [string]$Text, $Noted)
    if ($Noted.ContainsKey($Name)) { return $Noted[$Name] -eq (Get-ShortHash $Text) }
    return $Text -eq ''
}

function Add-Removals {
    # Clears what Platen no longer has, unless a person changed it in Intune.
    param($Result, $Wanted, $Current, $Noted)
    foreach ($name in 'largeIcon', 'owner') {
        if ($Wanted.ContainsKey($name) -or -not $Noted.ContainsKey($name)) { continue }
        $there = Get-FieldText $name (Get-Field $Current $name) $null
        $Result.Set.Remove($name)
        if (-not $there -or -not (Test-Ours $name $there $Noted)) { continue }
        $Result.Changes[$name] = $null
        if ($name -eq 'owner') { $Result.Changes[$name] = '' }
    }
}

function Compare-NotesText {
    # The lines of the notes besides the marker: $null if they stay. $Fields: what Compare-Fields returned; gets the hash.
    param($App, $Noted, $Fields)
    $wanted = [string](Get-Field $App 'Notes')
    $isKnown = $Noted.Set.ContainsKey('text')
    if (-not $wanted -and -not $isKnown) { return $null }
    $there = $Noted.Text
    if ($there -cne $wanted -and -not $Force -and -not (Test-Ours 'text' $there $Noted.Set)) {
        $Fields.Kept += 'notes'
        return $null
    }
    if ($wanted) { $Fields.Set.text = Get-ShortHash $wanted }
    else { $Fields.Set.Remove('text') }
    if ($there -ceq $wanted) { return $null }
    return $wanted
}

function Get-NewApp {
    # The properties of a new app. Its notes say that it has no content yet.
    param($App)
    $wanted = Get-WantedFields $App
    $set = @{}
    foreach ($name in @($wanted.Keys)) { $set[$name] = Get-ShortHash (Get-FieldText $name $wanted[$name] $wanted[$name]) }
    $wanted['@odata.type'] = $AppType
    $wanted.applicableArchitectures = 'none'
    $wanted.rules = @(Get-OurRules $App)
    $text = [string](Get-Field $App 'Notes')
    if ($text) { $set.text = Get-ShortHash $text }
    $wanted.notes = (Format-Notes $text $App 'none' $set $Settings.Made $null) + "`n$(Format-Lease)"
    $tags = @($script:Names.ScopeTags)
    if ($tags.Count -gt 0) { $wanted.roleScopeTagIds = $tags }
    return $wanted
}

#endregion
