#region The driver

function Remove-Driver {
    param($Printer, $Driver)
    if ($Printer.KeepDriver) {
        Write-Log -Message "Driver $($Printer.DriverName) stays, as the printer's settings say."
        return
    }
    if (Test-DriverNeeded -Printer $Printer) { return }
    #<if ipp|windows>
    if ($Driver.Origin -in 'ipp', 'windows') {
        # Of Windows' own only the entry: its files stay in the driver store, and it is no loss if the entry does.
        $isGone = Wait-Until -Seconds $script:MaxWaitForDeletionSeconds -Condition { Remove-DriverByName -Name $Printer.DriverName }
        if (-not $isGone) { Write-Log -Message "Driver $($Printer.DriverName) stays: Windows does not let it go." }
        return
    }
    #</if>
    #<if package|apart>
    $isGone = Invoke-UntilFree -What "the driver $($Printer.DriverName)" -Remove {
        Remove-DriverByName -Name $Printer.DriverName -AndFiles
    }
    if (-not $isGone) { Add-Remark -Message "the driver $($Printer.DriverName) stays until Windows lets it go" }
    #</if>
}

function Test-DriverNeeded {
    # Whether another queue, or another printer that install deployed, uses the driver.
    param($Printer)
    foreach ($queue in @(Invoke-Print -Command { Get-Printer -ErrorAction Stop })) {
        if ($queue.DriverName -eq $Printer.DriverName -and $queue.Name -ne $Printer.Name) {
            Write-Log -Message "Driver $($Printer.DriverName) stays: $($queue.Name) uses it."
            return $true
        }
    }
    foreach ($marker in @(Get-OtherMarker -Printer $Printer)) {
        if ($marker.Key.GetValue('DriverName') -eq $Printer.DriverName) {
            Write-Log -Message "Driver $($Printer.DriverName) stays: deployment $($marker.Name) uses it."
            return $true
        }
    }
    return $false
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

#endregion
