### Removing drivers
$MaxWaitForDeletionSeconds = 10

function Invoke-UntilFree {
    # Tries to remove something that Windows may still call busy: for some seconds, then again after a restart of the
    # spooler. Returns whether it is removed.
    param([string]$What, [scriptblock]$Remove)
    if (Wait-Until $MaxWaitForDeletionSeconds $Remove) { return $true }
    if (-not (Restart-Spooler "$What is still called busy")) { return $false }
    return Wait-Until $MaxWaitForDeletionSeconds $Remove
}

#<if package|windows|ipp>
#<if uninstall>
function Remove-DriverByName {
    # Tries once to remove a driver. The files in the driver store stay if another driver needs them. Returns whether the
    # driver is gone.
    param([string]$Name, [switch]$AndFiles)
    if ($null -eq (Get-Driver $Name)) { return $true }
    $isRemoved = $AndFiles -and (Invoke-DriverRemoval $Name -AndFiles)
    if (-not $isRemoved -and -not (Invoke-DriverRemoval $Name)) { return $false }
    if ($null -ne (Get-Driver $Name)) { return $false }
    Write-Change "driver $Name removed"
    return $true
}
#</if>

function Invoke-DriverRemoval {
    # Returns whether Windows reports success.
    param([string]$Name, [switch]$AndFiles)
    $more = @{ ErrorAction = 'Stop' }
    if ($AndFiles) { $more.RemoveFromDriverStore = $true }
    try {
        Invoke-Print { Remove-PrinterDriver -Name ([WildcardPattern]::Escape($Name)) @more }
        return $true
    }
    catch {
        if ((Get-FailureCode $_) -eq $ExitBusy) { throw }
        Write-Log "Driver $Name was not removed ($(Get-ErrorCode $_)): $($_.Exception.Message)"
        return $false
    }
}
#</if>
