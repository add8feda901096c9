#<if package>
### The driver
function Install-Driver {
    # Installs the driver unless Windows has it in the wanted version.
    param($Printer, $Driver)
    $name = $Printer.DriverName
    $installed = Get-DriverVersion $name
    #<if exact>
    if (Test-Exchange $name) {
        if (Confirm-Change "complete the exchange of the driver $name") { Invoke-Exchange $Printer $Driver }
        return
    }
    #</if>
    if (Test-Driver $Printer $Driver) {
        foreach ($text in @(Get-NewerDriverText $name $Driver)) { Add-Remark $text }
        return
    }
    $what = "driver $name $($Driver.Version)"
    if ($null -ne $installed) { $what = "$what in place of $($installed.Version)" }
    if (-not (Confirm-Change "install $what")) { return }
    #<if exact>
    if ($Driver.ExactVersion -and (Compare-DriverVersion $installed $Driver) -gt 0) {
        Invoke-Exchange $Printer $Driver
        return
    }
    #</if>
    Add-Driver $Printer $Driver
    Write-Change $what
}

function Add-Driver {
    # Windows adds a driver by its name from the driver store. Some need the path of the INF there, some a new spooler.
    param($Printer, $Driver)
    Add-DriverPackage $Driver
    $script:DriverError = 'Windows gave no reason'
    $inf = ($Driver.Inf -split '\\')[-1]
    do {
        if (Add-DriverByName $Printer $Driver) { return }
        $copies = @(Get-ChildItem -LiteralPath "$env:windir\System32\DriverStore\FileRepository" -Filter "$inf*" -ErrorAction SilentlyContinue)
        foreach ($copy in @($copies | Sort-Object LastWriteTime -Descending)) {
            if (Add-DriverByName $Printer $Driver @{ InfPath = "$($copy.FullName)\$inf" }) { return }
        }
    } while (Restart-Spooler 'the driver is staged but not installed')
    Stop-Run "The driver $($Printer.DriverName) was staged, but Windows does not install it: $script:DriverError"
}

function Add-DriverByName {
    # Tries once. Returns whether Windows now has the driver.
    param($Printer, $Driver, $Source = @{})
    try { Invoke-Print { Add-PrinterDriver -Name $Printer.DriverName -ErrorAction Stop @Source } }
    catch {
        if ((Get-FailureCode $_) -eq $ExitBusy) { throw }
        $script:DriverError = $_.Exception.Message
        Write-Log "Add-PrinterDriver $($Source.Values) failed ($(Get-ErrorCode $_)): $($_.Exception.Message)"
    }
    return Test-Driver $Printer $Driver
}
#</if>
