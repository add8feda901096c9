#region Assignments, scope tags and categories

$GroupTarget = '#microsoft.graph.groupAssignmentTarget'
$ExclusionTarget = '#microsoft.graph.exclusionGroupAssignmentTarget'
$AllDevicesTarget = '#microsoft.graph.allDevicesAssignmentTarget'
$AllUsersTarget = '#microsoft.graph.allLicensedUsersAssignmentTarget'
# What the names in the parameters mean in the current tenant: Targets (Type, Id, Name), Filter, ScopeTags and Category (ids).
$script:Names = @{ Targets = @(); Filter = ''; ScopeTags = @(); Category = '' }

function Get-NamePermission {
    # The permissions for looking up the names that were given.
    $names = @($AssignTo + $Exclude | Where-Object { $_ -and $_ -notmatch $GuidPattern -and $_ -notin 'AllDevices', 'AllUsers' })
    if ($names.Count -gt 0) { 'GroupMember.Read.All' }
    if ($Filter) { 'DeviceManagementConfiguration.Read.All' }
    if ($ScopeTag.Count -gt 0) { 'DeviceManagementRBAC.Read.All' }
}

function Read-AssignmentNames {
    # Looks up the names of the parameters in the current tenant.
    $targets = @()
    foreach ($name in $AssignTo) {
        if ($name -eq 'AllDevices') { $targets += @{ Type = $AllDevicesTarget; Id = ''; Name = 'all devices' } }
        elseif ($name -eq 'AllUsers') { $targets += @{ Type = $AllUsersTarget; Id = ''; Name = 'all users' } }
        else { $targets += @{ Type = $GroupTarget; Id = (Get-GroupId $name '-AssignTo'); Name = "the group $name" } }
    }
    if (@($Exclude | Where-Object { $_ -in 'AllDevices', 'AllUsers' }).Count -gt 0) { throw '-Exclude takes groups only.' }
    foreach ($name in $Exclude) { $targets += @{ Type = $ExclusionTarget; Id = (Get-GroupId $name '-Exclude'); Name = "the group $name" } }
    $known = @{}
    foreach ($target in $targets) {
        $key = "$($target.Id)"
        if (-not $key) { $key = $target.Type }
        if ($known.ContainsKey($key)) { throw "-AssignTo and -Exclude name $($target.Name) twice." }
        $known[$key] = $true
    }
    $script:Names = @{ Targets = $targets; Filter = ''; ScopeTags = @(); Category = '' }
    if ($Filter) { $script:Names.Filter = Find-ByName '/beta/deviceManagement/assignmentFilters' $Filter '-Filter' 'filter' }
    $script:Names.ScopeTags = @($ScopeTag | ForEach-Object { Find-ByName '/beta/deviceManagement/roleScopeTags' $_ '-ScopeTag' 'scope tag' })
    if ($Category) { $script:Names.Category = Find-ByName 'mobileAppCategories' $Category '-Category' 'category' }
}

function Get-GroupId {
    param([string]$Name, [string]$Parameter)
    if ($Name -match $GuidPattern) { return $Name.ToLowerInvariant() }
    $quoted = [Uri]::EscapeDataString("displayName eq '$($Name.Replace("'", "''"))'")
    return Find-ByName "/v1.0/groups?`$select=id,displayName&`$filter=$quoted" $Name $Parameter 'group'
}

function Find-ByName {
    # The id of the only item with a name. Throws if there is none, or more than one.
    param([string]$Path, [string]$Name, [string]$Parameter, [string]$What)
    $found = @(Get-GraphList $Path "look for the $What '$Name'" @() | Where-Object { [string](Get-Field $_ 'displayName') -eq $Name })
    if ($found.Count -eq 0) { throw "${Parameter}: this tenant has no $What '$Name'." }
    if ($found.Count -gt 1) { throw "${Parameter}: this tenant has $($found.Count) ${What}s '$Name'. Use the id: $(@($found | ForEach-Object { Get-Id $_ "look for the $What" }) -join ', ')." }
    return Get-Id $found[0] "look for the $What"
}

function Set-Assignments {
    # Adds the assignments of the parameters. Returns 'Assignments' if that is a change. The request replaces the whole set, so
    # it contains the existing assignments.
    param($App, [string]$Id)
    if ($script:Names.Targets.Count -eq 0) { return }
    # A driver is installed with the printers that depend on it.
    if ($App.Kind -eq 'driver' -and @($script:Target.Part.Apps).Count -gt 1) { return }
    $all = @()
    $changes = 0
    $found = @()
    foreach ($assignment in @(Get-GraphList "mobileApps/$Id/assignments" 'list the assignments')) {
        $copy = Copy-Assignment $assignment
        $wanted = Find-Target $copy
        if ($null -ne $wanted) {
            $found += $wanted
            if (Set-Assignment $App $copy $wanted) { $changes++ }
        }
        $all += $copy
    }
    foreach ($target in $script:Names.Targets) {
        if ($found -contains $target) { continue }
        $all += New-Assignment $target
        $changes++
    }
    if ($changes -eq 0) { return }
    if (Test-Go $App.Fields.displayName 'Assign it') {
        # Graph refuses assignments before the content is published.
        $null = Wait-Published $Id ''
        $null = Invoke-Graph 'POST' "mobileApps/$Id/assign" @{ mobileAppAssignments = @($all) } @{ Doing = 'assign the app'; Again = 404, 409, 412 }
    }
    return 'Assignments'
}

function Find-Target {
    # The parameter that means the target of an assignment. A group has one assignment, so an exclusion is the same target.
    param($Copy)
    $type, $group = [string](Get-Field $Copy.target '@odata.type'), [string](Get-Field $Copy.target 'groupId')
    foreach ($target in $script:Names.Targets) {
        if (($target.Id -and $target.Id -eq $group) -or (-not $target.Id -and $target.Type -eq $type)) { return $target }
    }
}

function Set-Assignment {
    # An existing assignment that differs stays as it is, unless -Force. Returns whether it was changed.
    param($App, $Copy, $Wanted)
    $new = New-Assignment $Wanted
    $isSame = $Copy.intent -eq $new.intent -and [string](Get-Field $Copy.target '@odata.type') -eq $Wanted.Type
    if ($isSame -and -not (Test-SettingsDiffer $Copy $new)) { return $false }
    if ($Force) {
        Copy-OtherSettings $Copy $new
        foreach ($name in @($new.Keys)) { $Copy[$name] = $new[$name] }
        if (-not $new.ContainsKey('settings')) { $Copy.Remove('settings') }
        return $true
    }
    $state = "assigned as $($Copy.intent)"
    if ($isSame) { $state = "$state with other settings" }
    if ([string](Get-Field $Copy.target '@odata.type') -eq $ExclusionTarget) { $state = 'excluded' }
    # The wider assignment would reach the group that is to be excluded.
    if ($Wanted.Type -eq $ExclusionTarget) { throw "$($Wanted.Name) is $state in Intune, so it is not excluded. Nothing was assigned. Use -Force to exclude it." }
    $script:KeptAssignments += "kept as in Intune: $($Wanted.Name) is $state (-Force changes it)"
    return $false
}

function Copy-OtherSettings {
    # Keeps what an administrator set, where no parameter says otherwise.
    param($From, $To)
    if (-not $To.ContainsKey('settings')) { return }
    foreach ($name in 'deviceAndAppManagementAssignmentFilterId', 'deviceAndAppManagementAssignmentFilterType') {
        $value = Get-Field $From.target $name
        if (-not $Filter -and $null -ne $value) { $To.target[$name] = $value }
    }
    $there = Get-Field $From 'settings'
    $given = @{ notifications = $Notifications; deliveryOptimizationPriority = $DeliveryOptimization }
    foreach ($name in @($To.settings.Keys)) {
        $value = Get-Field $there $name
        if ($null -ne $value -and -not $given[$name]) { $To.settings[$name] = $value }
    }
}

function Test-SettingsDiffer {
    # Returns whether a setting that was given as a parameter differs.
    param($Copy, $New)
    foreach ($name in 'deviceAndAppManagementAssignmentFilterId', 'deviceAndAppManagementAssignmentFilterType') {
        if ($Filter -and [string](Get-Field $Copy.target $name) -ne [string](Get-Field $New.target $name)) { return $true }
    }
    if (-not $New.ContainsKey('settings')) { return $false }
    $there = Get-Field $Copy 'settings'
    if ($Notifications -and [string](Get-Field $there 'notifications') -ne $Notifications) { return $true }
    return ($DeliveryOptimization -and [string](Get-Field $there 'deliveryOptimizationPriority') -ne $DeliveryOptimization)
}

function New-Assignment {
    param($Target)
    $to = @{ '@odata.type' = $Target.Type }
    if ($Target.Id) { $to.groupId = $Target.Id }
    $assignment = @{ '@odata.type' = '#microsoft.graph.mobileAppAssignment'; intent = $Intent; target = $to }
    # Exclusions have neither filters nor settings.
    if ($Target.Type -eq $ExclusionTarget) { return $assignment }
    if ($script:Names.Filter) {
        $to.deviceAndAppManagementAssignmentFilterId = $script:Names.Filter
        $to.deviceAndAppManagementAssignmentFilterType = $FilterMode
    }
    $assignment.settings = @{
        '@odata.type' = '#microsoft.graph.win32LobAppAssignmentSettings'
        notifications = @($Notifications, 'showReboot' | Where-Object { $_ })[0]
        restartSettings = $null
        installTimeSettings = $null
        deliveryOptimizationPriority = @($DeliveryOptimization, 'notConfigured' | Where-Object { $_ })[0]
    }
    return $assignment
}

function Copy-Assignment {
    # The form in which Graph accepts it again.
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

function Get-WantedTags {
    # All scope tags of an app, if -ScopeTag adds one; else $null.
    param($Current)
    $there = @(Get-List $Current 'roleScopeTagIds' | ForEach-Object { [string]$_ })
    $missing = @($script:Names.ScopeTags | Where-Object { $there -notcontains $_ })
    if ($missing.Count -eq 0) { return $null }
    return , @($there + $missing)
}

function Set-Category {
    # Adds the category of -Category. Returns 'Category' if that is a change.
    param($App, [string]$Id)
    $wanted = $script:Names.Category
    if (-not $wanted) { return }
    $there = @(Get-GraphList "mobileApps/$Id/categories" 'list the categories' | ForEach-Object { [string](Get-Field $_ 'id') })
    if ($there -contains $wanted) { return }
    if (Test-Go $App.Fields.displayName 'Add it to its category') {
        $null = Invoke-Graph 'POST' "mobileApps/$Id/categories/`$ref" @{ '@odata.id' = "$($script:Graph)/beta/deviceAppManagement/mobileAppCategories/$wanted" } @{ Doing = 'add the category'; Again = 404, 409 }
    }
    return 'Category'
}

#endregion
