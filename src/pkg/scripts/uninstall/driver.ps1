### The driver
#<if printer>
function Remove-Driver {
    # Removes the driver unless the settings keep it or something else uses it.
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
        # Windows keeps the files of its own drivers, so it does no harm if the driver stays.
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
    # The other queue or the other deployment that uses a driver; $null if there is none.
    param([string]$Name, $Printer)
    # An interrupted exchange of drivers has queues on another driver that need this one back.
    if ((Get-RegistryValue "$RegistryRoot\Exchange" 'Driver') -eq $Name) { return 'an interrupted exchange of drivers' }
    foreach ($queue in @(Get-Queue)) {
        $isOwn = $Printer.HasQueue -and $queue.Name -eq $Printer.Name
        if ($queue.DriverName -eq $Name -and -not $isOwn) { return $queue.Name }
    }
    foreach ($marker in @(Get-OtherMarker $Printer)) {
        if (@($marker.Key.GetValue('DriverName')) -contains $Name) { return "deployment $($marker.Name)" }
    }
    return $null
}
#</if>
