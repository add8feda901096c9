#region The driver

#<if printer>
function Remove-Driver {
    param($Printer, $Driver)
    $name = $Printer.DriverName
    if ($Printer.KeepDriver) {
        Write-Log "Driver $name stays, as the printer's settings say."
        return
    }
    #<if apart>
    if ($Driver.Origin -eq 'apart') {
        Write-Log "Driver $name stays: its own package removes it."
        return
    }
    #</if>
    #<if package|windows|ipp>
    $user = Get-DriverUser $name $Printer
    if ($user) {
        Write-Log "Driver $name stays: $user uses it."
        return
    }
    #</if>
    #<if ipp|windows>
    if ($Driver.Origin -in 'ipp', 'windows') {
        # Of Windows' own only the entry: its files stay in the driver store, and it is no loss if the entry does.
        $isGone = Wait-Until $MaxWaitForDeletionSeconds { Remove-DriverByName $name }
        if (-not $isGone) { Write-Log "Driver $name stays: Windows does not let it go." }
        return
    }
    #</if>
    #<if package>
    $isGone = Invoke-UntilFree "the driver $name" { Remove-DriverByName $name -AndFiles }
    if (-not $isGone) { Add-Remark "the driver $name stays until Windows lets it go" }
    #</if>
}
#</if>

#<if package|windows|ipp>
function Get-DriverUser {
    # What else uses a driver: another queue, or another deployment; $null where nothing does.
    param([string]$Name, $Printer)
    foreach ($queue in @(Get-Queue)) {
        $isOwn = $Printer.HasQueue -and $queue.Name -eq $Printer.Name
        if ($queue.DriverName -eq $Name -and -not $isOwn) { return $queue.Name }
    }
    foreach ($marker in @(Get-OtherMarker $Printer)) {
        if (@($marker.Key.GetValue('DriverName')) -contains $Name) { return "deployment $($marker.Name)" }
    }
    return $null
}

function Remove-DriverByName {
    # One try; whether the driver is gone. With its files in the driver store, where no other driver of the INF is left.
    param([string]$Name, [switch]$AndFiles)
    if ($null -eq (Get-Driver $Name)) { return $true }
    $isRemoved = $AndFiles -and (Invoke-DriverRemoval $Name -AndFiles)
    if (-not $isRemoved -and -not (Invoke-DriverRemoval $Name)) { return $false }
    if ($null -ne (Get-Driver $Name)) { return $false }
    Write-Change "driver $Name removed"
    return $true
}

function Invoke-DriverRemoval {
    # Whether Windows says that it did.
    param([string]$Name, [switch]$AndFiles)
    $more = @{ ErrorAction = 'Stop' }
    if ($AndFiles) { $more.RemoveFromDriverStore = $true }
    try {
        Invoke-Print { Remove-PrinterDriver -Name ([WildcardPattern]::Escape($Name)) @more }
        return $true
    }
    catch {
        if ((Get-FailureCode $_) -eq $ExitBusy) { throw }
        Write-Log "Driver ${Name}: $(Get-ErrorCode $_)"
        return $false
    }
}
#</if>

#endregion
