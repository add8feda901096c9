#region Dependencies

$DependencyType = '#microsoft.graph.mobileAppDependency'

function Set-Dependencies {
    # Makes an app depend on the apps of its drivers. Returns 'Dependencies' if that is a change. The request replaces the whole
    # set, so it contains what an administrator added. $KeepAll: drivers that are no longer needed stay for now.
    param($App, [string]$Id, $Ours, $Done, [bool]$KeepAll)
    if ($App.Kind -ne 'printer') { return }
    $wanted = @($App.DependsOn | ForEach-Object { $Done[$_] })
    # With -WhatIf, drivers that would be created have no id.
    $isUnknown = $wanted -contains ''
    $children = @(Get-GraphList "mobileApps/$Id/relationships" 'list the dependencies' | Where-Object { (Get-Field $_ 'targetType') -ne 'parent' })
    $there = @($children | ForEach-Object { [string](Get-Field $_ 'targetId') })
    $missing = @($wanted | Where-Object { $_ -and $there -notcontains $_ })
    $stale = @()
    if (-not $KeepAll -and -not $isUnknown) { $stale = @(Get-DriverIds $Ours | Where-Object { $wanted -notcontains $_ }) }
    $kept = @($children | Where-Object { -not (Test-Stale $_ $stale) } | ForEach-Object { Copy-Relationship $_ })
    if ($missing.Count -eq 0 -and $kept.Count -eq $children.Count -and -not $isUnknown) { return }
    if (Test-Go $App.Fields.displayName 'Set its dependencies') {
        $all = $kept + @($missing | ForEach-Object { New-Dependency $_ })
        $null = Invoke-Graph 'POST' "mobileApps/$Id/updateRelationships" @{ relationships = @($all) } @{ Doing = 'set the dependencies'; Again = 404, 409, 412 }
    }
    return 'Dependencies'
}

function Test-Stale {
    # Returns whether a relationship is a dependency of our kind on one of these apps.
    param($Relationship, [string[]]$Stale)
    if ((Get-Field $Relationship '@odata.type') -ne $DependencyType) { return $false }
    return ((Get-Field $Relationship 'dependencyType') -eq 'autoInstall' -and $Stale -contains (Get-Field $Relationship 'targetId'))
}

function Get-DriverIds {
    # The ids of the drivers' apps in the tenant.
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
    # The form in which Graph accepts it again.
    param($Relationship)
    $copy = @{}
    foreach ($name in '@odata.type', 'targetId', 'dependencyType', 'supersedenceType') {
        $value = Get-Field $Relationship $name
        if ($null -ne $value) { $copy[$name] = $value }
    }
    return $copy
}

#endregion
