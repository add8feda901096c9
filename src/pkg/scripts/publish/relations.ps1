#region Dependencies and assignments

$DependencyType = '#microsoft.graph.mobileAppDependency'

function Set-Dependencies {
    # Makes an app depend on the apps with its drivers; 'Dependencies' where that changed something. A call replaces the
    # whole set: what an administrator added goes along. $KeepAll: drivers that are not needed any more stay for now.
    param($App, [string]$Id, $Ours, $Done, [bool]$KeepAll)
    if ($App.Kind -ne 'printer') { return }
    $wanted = @($App.DependsOn | ForEach-Object { $Done[$_] })
    # Drivers that would only be created have no id.
    $isUnknown = $wanted -contains ''
    $children = @(Get-GraphList "mobileApps/$Id/relationships" 'list the dependencies' | Where-Object { (Get-Field $_ 'targetType') -ne 'parent' })
    $there = @($children | ForEach-Object { [string](Get-Field $_ 'targetId') })
    $missing = @($wanted | Where-Object { $_ -and $there -notcontains $_ })
    $stale = @()
    if (-not $KeepAll -and -not $isUnknown) { $stale = @(Get-DriverIds $Ours | Where-Object { $wanted -notcontains $_ }) }
    $kept = @($children | Where-Object { -not (Test-Stale $_ $stale) } | ForEach-Object { Copy-Relationship $_ })
    if ($missing.Count -eq 0 -and $kept.Count -eq $children.Count -and -not $isUnknown) { return }
    if (-not (Test-Go $App.Fields.displayName 'Set its dependencies')) { return Get-Planned 'Dependencies' }
    $all = $kept + @($missing | ForEach-Object { New-Dependency $_ })
    $null = Invoke-Graph 'POST' "mobileApps/$Id/updateRelationships" @{ relationships = @($all) } @{ Doing = 'set the dependencies'; Again = 404, 409, 412 }
    return 'Dependencies'
}

function Get-Planned {
    # With -WhatIf, what would change; nothing where somebody declined it.
    param([string]$What)
    if ($WhatIfPreference) { return $What }
}

function Test-Stale {
    # Whether it is a dependency as we make them, on one of these apps.
    param($Relationship, [string[]]$Stale)
    if ((Get-Field $Relationship '@odata.type') -ne $DependencyType) { return $false }
    return ((Get-Field $Relationship 'dependencyType') -eq 'autoInstall' -and $Stale -contains (Get-Field $Relationship 'targetId'))
}

function Get-DriverIds {
    # The apps of Platen's drivers that are in the tenant.
    param($Ours)
    foreach ($key in $Ours.Keys) {
        if ($key -like 'driver:*') { foreach ($app in $Ours[$key]) { $app.Id } }
    }
}

function New-Dependency {
    param([string]$TargetId)
    return @{ '@odata.type' = $DependencyType; targetId = $TargetId; dependencyType = 'autoInstall' }
}

function Copy-Relationship {
    # As it can be sent again.
    param($Relationship)
    $copy = @{}
    foreach ($name in '@odata.type', 'targetId', 'dependencyType', 'supersedenceType') {
        $value = Get-Field $Relationship $name
        if ($null -ne $value) { $copy[$name] = $value }
    }
    return $copy
}

function Set-Assignments {
    # Assigns an app to the groups of -AssignTo; 'Assignments' where that changed something. A call replaces the whole set.
    param($App, [string]$Id)
    if ($AssignTo.Count -eq 0) { return }
    # It comes with the printers that depend on it.
    if ($App.Kind -eq 'driver' -and @($Settings.Apps).Count -gt 1) { return }
    $there = @(Get-GraphList "mobileApps/$Id/assignments" 'list the assignments')
    $all = @()
    $changes = 0
    $found = @()
    foreach ($assignment in $there) {
        $copy = Copy-Assignment $assignment
        $group = [string](Get-Field (Get-Field $assignment 'target') 'groupId')
        if ($group -and $AssignTo -contains $group) {
            $found += $group
            if (Set-GroupIntent $App $copy $group) { $changes++ }
        }
        $all += $copy
    }
    foreach ($group in $AssignTo) {
        if ($found -contains $group) { continue }
        $all += New-Assignment $group
        $changes++
    }
    if ($changes -eq 0) { return }
    if (-not (Test-Go $App.Fields.displayName 'Assign it to groups')) { return Get-Planned 'Assignments' }
    # Before that it is refused.
    $null = Wait-Published $Id ''
    $null = Invoke-Graph 'POST' "mobileApps/$Id/assign" @{ mobileAppAssignments = @($all) } @{ Doing = 'assign the app'; Again = 404, 409, 412 }
    return 'Assignments'
}

function Set-GroupIntent {
    # A group that is assigned otherwise stays so, unless -Force; whether that changed.
    param($App, $Copy, [string]$Group)
    $isExcluded = [string](Get-Field $Copy.target '@odata.type') -like '*exclusion*'
    if (-not $isExcluded -and $Copy.intent -eq $Intent) { return $false }
    if ($Force -and -not $isExcluded) {
        $Copy.intent = $Intent
        return $true
    }
    $is = "assigned as $($Copy.intent)"
    if ($isExcluded) { $is = 'excluded' }
    Write-Line "Note: '$($App.Fields.displayName)': the group $Group is $is in Intune, and stays so."
    return $false
}

function New-Assignment {
    param([string]$Group)
    return @{
        '@odata.type' = '#microsoft.graph.mobileAppAssignment'
        intent = $Intent
        target = @{ '@odata.type' = '#microsoft.graph.groupAssignmentTarget'; groupId = $Group }
        settings = @{
            '@odata.type' = '#microsoft.graph.win32LobAppAssignmentSettings'
            notifications = 'showReboot'
            restartSettings = $null
            installTimeSettings = $null
            deliveryOptimizationPriority = 'notConfigured'
        }
    }
}

function Copy-Assignment {
    # As it can be sent again. Exclusions have no settings.
    param($Assignment)
    $copy = @{
        '@odata.type' = '#microsoft.graph.mobileAppAssignment'
        intent = [string](Get-Field $Assignment 'intent')
        target = (Get-Field $Assignment 'target')
    }
    $settings = Get-Field $Assignment 'settings'
    if ($null -ne $settings) { $copy.settings = $settings }
    return $copy
}

#endregion
