#region Apps of records that are gone

function Remove-Leftovers {
    if ($null -eq $Settings.Records) {
        throw '-Remove needs a script that was fetched by somebody who sees all of Platen: this one does not know which records there are.'
    }
    Test-Current 'Records'
    Connect-Graph
    Write-Step 'Looking for the apps that are there'
    $ours = Get-OurApps
    $gone = @(Find-Leftovers $ours)
    if ($gone.Count -eq 0) {
        Write-Line "There is nothing to remove: each of Platen's apps in this tenant belongs to a printer, client or driver that is there."
        return
    }
    Write-Line "These apps belong to printers, clients or drivers that were deleted in Platen:"
    foreach ($app in $gone) { Write-Line "  $($app.Name) ($($app.Id)), $($app.Kind) $($app.Number), $(Get-AssignedText $app.Id)" }
    if (-not (Test-Removal $gone.Count)) {
        Write-Table @($gone | ForEach-Object { New-Row $_.Name (Get-KeptResult) '' })
        return
    }
    $rows = @(foreach ($app in $gone) {
            try {
                $null = Invoke-Graph 'DELETE' "mobileApps/$($app.Id)" $null @{ Doing = 'delete the app'; Allow = 404 }
                New-Row $app.Name 'Deleted' ''
            }
            catch {
                New-Row $app.Name 'Failed' "$_"
            }
        })
    Write-Table $rows
    $deleted = @($gone | ForEach-Object { "$($_.Kind):$($_.Number)" })
    Write-UnneededDrivers $ours $deleted
}

function Get-KeptResult {
    if ($WhatIfPreference) { return 'Would delete' }
    return 'Kept'
}

function Test-Removal {
    # Whether somebody said so.
    param([int]$Count)
    Clear-Step
    if (-not $script:Run.ShouldProcess((Get-CountText $Count 'app'), 'Delete from Intune')) { return $false }
    if ($Force) { return $true }
    $question = "Delete $(Get-CountText $Count 'app')? What they installed stays on the PCs."
    $choices = [Management.Automation.Host.ChoiceDescription[]]@('&Yes', '&No')
    try {
        return $Host.UI.PromptForChoice('Delete from Intune', $question, $choices, 1) -eq 0
    }
    catch {
        throw 'Nobody can be asked here. Look at the list, and run it again with -Force.'
    }
}

function Find-Leftovers {
    # Printers and clients first: drivers can go when nothing depends on them. Records that are younger than this script
    # are unknown to it; an app with another marker that is in use stays, and so does one that nobody published yet.
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
