#<if package>
#region The driver

function Install-Driver {
    param($Printer, $Driver)
    $installed = Get-DriverVersion -Name $Printer.DriverName
    if (Test-Driver -Printer $Printer -Driver $Driver) {
        Write-Log -Message "Driver $($Printer.DriverName) is there: version $($installed.Version), wanted $($Driver.Version)"
        return
    }
    $what = "driver $($Printer.DriverName) $($Driver.Version)"
    if ($null -ne $installed) { $what = "$what in place of $($installed.Version)" }
    if (-not (Confirm-Change -Message "install $what")) { return }
    Add-DriverPackage -Driver $Driver
    $script:DriverError = 'Windows gave no reason'
    $done = Add-DriverByName -Printer $Printer -Driver $Driver
    foreach ($inf in @(Find-StoreInf -Driver $Driver)) {
        if (-not $done) { $done = Add-DriverByName -Printer $Printer -Driver $Driver -InfPath $inf }
    }
    if (-not $done -and (Restart-Spooler -Because 'the driver is staged but not installed')) {
        $done = Add-DriverByName -Printer $Printer -Driver $Driver
    }
    if (-not $done) {
        Stop-Run -Message "The driver $($Printer.DriverName) was staged, but Windows does not install it: $script:DriverError"
    }
    Write-Change -Message $what
}

function Add-DriverByName {
    # Tries to install the driver from the driver store; whether Windows has it now.
    param($Printer, $Driver, [string]$InfPath = '')
    try {
        if ($InfPath) {
            Invoke-Print -Command { Add-PrinterDriver -Name $Printer.DriverName -InfPath $InfPath -ErrorAction Stop }
        }
        else {
            Invoke-Print -Command { Add-PrinterDriver -Name $Printer.DriverName -ErrorAction Stop }
        }
    }
    catch {
        if ((Get-FailureCode -ErrorRecord $_) -eq $script:ExitBusy) { throw }
        $script:DriverError = $_.Exception.Message
        Write-Log -Message "Add-PrinterDriver $InfPath failed ($(Get-ErrorCode -ErrorRecord $_)): $($_.Exception.Message)"
    }
    return Test-Driver -Printer $Printer -Driver $Driver
}

function Find-StoreInf {
    # Copies of the driver's INF in the driver store, the newest first: Add-PrinterDriver takes no other path.
    param($Driver)
    $name = $Driver.Inf.Substring($Driver.Inf.LastIndexOf('\') + 1)
    $store = "$env:windir\System32\DriverStore\FileRepository"
    $folders = @(Get-ChildItem -LiteralPath $store -Filter "$name*" -ErrorAction SilentlyContinue)
    foreach ($folder in @($folders | Sort-Object -Property LastWriteTime -Descending)) { "$($folder.FullName)\$name" }
}

#endregion
#</if>
