#region An app's fields

$AppType = '#microsoft.graph.win32LobApp'
# What every package of Platen's is installed with.
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
# As Intune's portal calls them.
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
}
# They belong to the package: somebody's change would break it.
$OfPackage = @('fileName', 'setupFilePath')
# An app that was made by hand may have had another installer.
$OfInstaller = @('installCommandLine', 'uninstallCommandLine')

function Get-WantedFields {
    # By Graph's names, without rules and notes.
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
    # What these properties are called, in the same order every time.
    param([string[]]$Names)
    return @((Get-Sorted @($Names)) | Where-Object { $Titles.ContainsKey($_) } | ForEach-Object { $Titles[$_] })
}

function Compare-Fields {
    # Changes: what is to be set. Kept: what somebody set in Intune by hand. Set: what is noted of all of them afterwards.
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
    Add-IconChange $result $wanted $Current $Noted
    if ($result.Changes.ContainsKey('allowedArchitectures')) { $result.Changes.applicableArchitectures = 'none' }
    return $result
}

function Test-Ours {
    # Whether a value is still the one that was set by us, or there is none and there never was.
    param([string]$Name, [string]$Text, $Noted)
    if ($Noted.ContainsKey($Name)) { return $Noted[$Name] -eq (Get-ShortHash $Text) }
    return $Text -eq ''
}

function Add-IconChange {
    # An icon that is gone in Platen goes here, too, where it is ours.
    param($Result, $Wanted, $Current, $Noted)
    if ($Wanted.ContainsKey('largeIcon') -or -not $Noted.ContainsKey('largeIcon')) { return }
    $there = Get-FieldText 'largeIcon' (Get-Field $Current 'largeIcon') $null
    $Result.Set.Remove('largeIcon')
    if ($there -and (Test-Ours 'largeIcon' $there $Noted)) { $Result.Changes.largeIcon = $null }
}

function Get-NewApp {
    # What an app is made of. It has no content yet, and its notes say so.
    param($App)
    $wanted = Get-WantedFields $App
    $set = @{}
    foreach ($name in @($wanted.Keys)) { $set[$name] = Get-ShortHash (Get-FieldText $name $wanted[$name] $wanted[$name]) }
    $wanted['@odata.type'] = $AppType
    $wanted.applicableArchitectures = 'none'
    $wanted.rules = @(Get-OurRules $App)
    $wanted.notes = Format-Notes '' $App 'none' $set $Settings.Made
    return $wanted
}

#endregion
