#region The driver

function Remove-Driver {
    param($Printer)
    if ($Printer.KeepDriver) {
        Write-Log -Message "Driver $($Printer.DriverName) stays, as the printer's settings say."
        return
    }
    if (Test-DriverNeeded -Printer $Printer) { return }
    $isGone = Invoke-UntilFree -What "the driver $($Printer.DriverName)" -Remove { Remove-DriverByName -Name $Printer.DriverName }
    if (-not $isGone) { Add-Remark -Message "the driver $($Printer.DriverName) stays until Windows lets it go" }
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
    # One try; whether the driver is gone. From the driver store as well, where no other driver of the INF is left.
    param([string]$Name)
    if ($null -eq (Invoke-Print -Command { Get-Driver -Name $Name })) { return $true }
    try {
        Invoke-Print -Command { Remove-PrinterDriver -Name ([WildcardPattern]::Escape($Name)) -RemoveFromDriverStore -ErrorAction Stop }
    }
    catch {
        if ((Get-FailureCode -ErrorRecord $_) -eq $script:ExitBusy) { throw }
        Write-Log -Message "Driver ${Name}: $(Get-ErrorCode -ErrorRecord $_)"
        try {
            Invoke-Print -Command { Remove-PrinterDriver -Name ([WildcardPattern]::Escape($Name)) -ErrorAction Stop }
        }
        catch {
            if ((Get-FailureCode -ErrorRecord $_) -eq $script:ExitBusy) { throw }
            return $false
        }
    }
    if ($null -ne (Invoke-Print -Command { Get-Driver -Name $Name })) { return $false }
    Write-Change -Message "driver $Name removed"
    return $true
}

#endregion
