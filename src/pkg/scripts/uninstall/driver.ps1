#region The driver

#<if printer>
function Remove-Driver {
    param($Printer, $Driver)
    $name = $Printer.DriverName
    if ($Printer.KeepDriver) {
        Write-Log -Message "Driver $name stays, as the printer's settings say."
        return
    }
    #<if apart>
    if ($Driver.Origin -eq 'apart') {
        Write-Log -Message "Driver $name stays: its own package removes it."
        return
    }
    #</if>
    #<if package|windows|ipp>
    $user = Get-DriverUser -Name $name -Printer $Printer
    if ($user) {
        Write-Log -Message "Driver $name stays: $user uses it."
        return
    }
    #</if>
    #<if ipp|windows>
    if ($Driver.Origin -in 'ipp', 'windows') {
        # Of Windows' own only the entry: its files stay in the driver store, and it is no loss if the entry does.
        $isGone = Wait-Until -Seconds $script:MaxWaitForDeletionSeconds -Condition { Remove-DriverByName -Name $name }
        if (-not $isGone) { Write-Log -Message "Driver $name stays: Windows does not let it go." }
        return
    }
    #</if>
    #<if package>
    $isGone = Invoke-UntilFree -What "the driver $name" -Remove { Remove-DriverByName -Name $name -AndFiles }
    if (-not $isGone) { Add-Remark -Message "the driver $name stays until Windows lets it go" }
    #</if>
}
#</if>

#<if package|windows|ipp>
function Get-DriverUser {
    # What else uses a driver: another queue, or another deployment; $null where nothing does.
    param([string]$Name, $Printer)
    foreach ($queue in @(Invoke-Print -Command { Get-Printer -ErrorAction Stop })) {
        $isOwn = $Printer.HasQueue -and $queue.Name -eq $Printer.Name
        if ($queue.DriverName -eq $Name -and -not $isOwn) { return $queue.Name }
    }
    foreach ($marker in @(Get-OtherMarker -Printer $Printer)) {
        if (@($marker.Key.GetValue('DriverName')) -contains $Name) { return "deployment $($marker.Name)" }
    }
    return $null
}

function Remove-DriverByName {
    # One try; whether the driver is gone. With its files in the driver store, where no other driver of the INF is left.
    param([string]$Name, [switch]$AndFiles)
    if ($null -eq (Invoke-Print -Command { Get-Driver -Name $Name })) { return $true }
    $isRemoved = $AndFiles -and (Invoke-DriverRemoval -Name $Name -AndFiles)
    if (-not $isRemoved -and -not (Invoke-DriverRemoval -Name $Name)) { return $false }
    if ($null -ne (Invoke-Print -Command { Get-Driver -Name $Name })) { return $false }
    Write-Change -Message "driver $Name removed"
    return $true
}

function Invoke-DriverRemoval {
    # Whether Windows says that it did.
    param([string]$Name, [switch]$AndFiles)
    $more = @{ ErrorAction = 'Stop' }
    if ($AndFiles) { $more.RemoveFromDriverStore = $true }
    try {
        Invoke-Print -Command { Remove-PrinterDriver -Name ([WildcardPattern]::Escape($Name)) @more }
        return $true
    }
    catch {
        if ((Get-FailureCode -ErrorRecord $_) -eq $script:ExitBusy) { throw }
        Write-Log -Message "Driver ${Name}: $(Get-ErrorCode -ErrorRecord $_)"
        return $false
    }
}
#</if>

#endregion
