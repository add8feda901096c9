#<if package>
#region The driver

function Install-Driver {
    param($Printer, $Driver)
    $installed = Get-DriverVersion $Printer.DriverName
    if (Test-Driver $Printer $Driver) {
        Write-Log "Driver $($Printer.DriverName) is there: version $($installed.Version), wanted $($Driver.Version)"
        return
    }
    $what = "driver $($Printer.DriverName) $($Driver.Version)"
    if ($null -ne $installed) { $what = "$what in place of $($installed.Version)" }
    if (-not (Confirm-Change "install $what")) { return }
    Add-DriverPackage $Driver
    $script:DriverError = 'Windows gave no reason'
    $done = Add-DriverByName $Printer $Driver
    foreach ($inf in @(Find-StoreInf $Driver)) {
        if (-not $done) { $done = Add-DriverByName $Printer $Driver @{ InfPath = $inf } }
    }
    if (-not $done -and (Restart-Spooler 'the driver is staged but not installed')) {
        $done = Add-DriverByName $Printer $Driver
    }
    if (-not $done) { Stop-Run "The driver $($Printer.DriverName) was staged, but Windows does not install it: $script:DriverError" }
    Write-Change $what
}

function Add-DriverByName {
    # Tries to install the driver from the driver store; whether Windows has it now.
    param($Printer, $Driver, $Source = @{})
    try { Invoke-Print { Add-PrinterDriver -Name $Printer.DriverName -ErrorAction Stop @Source } }
    catch {
        if ((Get-FailureCode $_) -eq $ExitBusy) { throw }
        $script:DriverError = $_.Exception.Message
        Write-Log "Add-PrinterDriver $($Source.Values) failed ($(Get-ErrorCode $_)): $($_.Exception.Message)"
    }
    return Test-Driver $Printer $Driver
}

function Find-StoreInf {
    # Copies of the driver's INF in the driver store, the newest first: Add-PrinterDriver takes no other path.
    param($Driver)
    $name = ($Driver.Inf -split '\\')[-1]
    $store = "$env:windir\System32\DriverStore\FileRepository"
    $folders = @(Get-ChildItem -LiteralPath $store -Filter "$name*" -ErrorAction SilentlyContinue)
    $folders | Sort-Object LastWriteTime -Descending | ForEach-Object { "$($_.FullName)\$name" }
}

#endregion
#</if>
