#<if package|apart>
#region Is the driver there?

function Test-Driver {
    # Whether Windows has the driver, in this version or a newer one.
    param($Printer, $Driver)
    if ($null -eq (Get-Driver $Printer.DriverName)) { return $false }
    return Test-DriverCurrent (Get-DriverVersion $Printer.DriverName) $Driver
}

#<if apart>
function Assert-Driver {
    # Another package installs it: this one neither has its files nor fetches them.
    param($Printer, $Driver)
    if (Test-Driver $Printer $Driver) { return }
    $what = "the driver $($Printer.DriverName)"
    if ($Driver.Version) { $what = "$what in version $($Driver.Version) or newer" }
    $installed = Get-DriverVersion $Printer.DriverName
    if ($null -ne $installed) { $what = "$what (it has $($installed.Version))" }
    Stop-Run ("This machine lacks $what, and this package does not bring it. Install `"$($Driver.Package)`" first; " +
        'in Intune, make that app a dependency of this one that is installed automatically.')
}
#</if>

#endregion
#</if>
