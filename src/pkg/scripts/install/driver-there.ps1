#<if package|apart>
function Test-Driver {
    # Whether Windows has the driver in the wanted version.
    param($Printer, $Driver)
    if ($null -eq (Get-Driver $Printer.DriverName)) { return $false }
    return Test-DriverCurrent (Get-DriverVersion $Printer.DriverName) $Driver
}

#<if apart>
function Assert-Driver {
    # Another package installs the driver. Ends the work on a printer if that has not happened.
    param($Printer, $Driver)
    if (Test-Driver $Printer $Driver) {
        foreach ($text in @(Get-NewerDriverText $Printer.DriverName $Driver)) { Add-Remark $text }
        return
    }
    $what = "the driver $($Printer.DriverName)"
    if ($Driver.Version) {
        $orNewer = ' or newer'
        if ($Driver.ExactVersion) { $orNewer = ', not newer' }
        $what = "$what in version $($Driver.Version)$orNewer"
    }
    $installed = Get-DriverVersion $Printer.DriverName
    if ($null -ne $installed) { $what = "$what (it has $($installed.Version))" }
    Stop-Run ("This machine lacks $what, and this package does not bring it. Install `"$($Driver.Package)`" first; " +
        'in Intune, make that app a dependency of this one that is installed automatically.')
}
#</if>
#</if>
