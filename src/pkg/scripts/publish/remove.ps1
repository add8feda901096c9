#region Apps of deleted records

function Remove-Leftovers {
    # Lists the apps of deleted records in a tenant, asks, and deletes them.
    param($Part)
    if ($null -eq $Settings.Records) {
        throw '-Remove needs a script from an account that sees all records of Platen. This script does not know them.'
    }
    # Platen gives no script for a client without printers.
    if (@($Part.Apps).Count -gt 0) { Test-Current $Part 'Records' }
    Connect-Graph
    Write-Step 'Looking for existing apps'
    $ours = Get-OurApps
    $gone = @(Find-Leftovers $ours)
    if ($gone.Count -eq 0) {
        Write-Line "There is nothing to remove. Each app of Platen in this tenant belongs to an existing printer, client or driver."
        return
    }
    Write-Line "These apps belong to printers, clients or drivers that were deleted in Platen:"
    foreach ($app in $gone) { Write-Line "  $($app.Name) ($($app.Id)), $($app.Kind) $($app.Number), $(Get-AssignedText $app.Id)" }
    if (-not (Test-Removal $gone.Count)) {
        foreach ($app in $gone) { Add-Row $app.Name 'Pending' @('Removal') -AppId $app.Id }
        return
    }
    foreach ($app in $gone) {
        try {
            $null = Invoke-Graph 'DELETE' "mobileApps/$($app.Id)" $null @{ Doing = 'delete the app'; Allow = 404 }
            Add-Row $app.Name 'Removed' -AppId $app.Id
        }
        catch {
            Add-Row $app.Name 'Failed' -Reason "$_" -AppId $app.Id
        }
    }
    Write-UnneededDrivers $ours @($gone | ForEach-Object { "$($_.Kind):$($_.Number)" })
}

function Test-Removal {
    # Returns whether to delete the apps.
    param([int]$Count)
    Clear-Step
    if ($AsJson -and $WhatIfPreference) { return $false }
    if (-not $script:Run.ShouldProcess((Get-CountText $Count 'app'), 'Delete from Intune')) { return $false }
    if ($Force) { return $true }
    return Read-Consent "Delete $(Get-CountText $Count 'app')? What they installed stays on the PCs." 'Delete from Intune'
}

function Find-Leftovers {
    # Printers and clients come first, because drivers can only be deleted when no app depends on them. Records newer than this
    # script are unknown to it, so their apps stay. So do apps that have another marker in use, or were never published.
    param($Ours)
    $kinds = @(
        @{ Kind = 'printer'; Ids = @($Settings.Records.Printers); Last = $Settings.Records.LastPrinter },
        @{ Kind = 'client'; Ids = @($Settings.Records.Clients); Last = $Settings.Records.LastClient },
        @{ Kind = 'driver'; Ids = @($Settings.Records.Drivers); Last = $Settings.Records.LastDriver }
    )
    $used = @{}
    $gone = @()
    foreach ($kind in $kinds) {
        $there = @{}
        foreach ($id in $kind.Ids) { $there[[long]$id] = $true }
        foreach ($key in @($Ours.Keys | Where-Object { $_ -like "$($kind.Kind):*" } | Sort-Object)) {
            foreach ($app in $Ours[$key]) {
                if ($there.ContainsKey([long]$app.Number) -or $app.Number -gt $kind.Last -or -not $app.IsPublished) { $used[$app.Id] = $true }
                else { $gone += $app }
            }
        }
    }
    $named = @{}
    foreach ($app in $gone) {
        if ($used.ContainsKey($app.Id) -or $named.ContainsKey($app.Id)) { continue }
        $named[$app.Id] = $true
        $app
    }
}

function Get-AssignedText {
    param([string]$Id)
    $count = @(Get-GraphList "mobileApps/$Id/assignments" 'list the assignments').Count
    if ($count -eq 0) { return 'not assigned' }
    if ($count -eq 1) { return 'assigned once' }
    return "assigned $count times"
}

#endregion
