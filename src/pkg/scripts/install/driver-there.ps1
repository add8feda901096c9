#<if package|apart>
#region Is the driver there?

function Test-Driver {
    # Whether Windows has the driver, in this version or a newer one.
    param($Printer, $Driver)
    if ($null -eq (Invoke-Print -Command { Get-Driver -Name $Printer.DriverName })) { return $false }
    return Test-DriverCurrent -Installed (Get-DriverVersion -Name $Printer.DriverName) -Driver $Driver
}

#<if apart>
function Assert-Driver {
    # Another package installs it: this one neither has its files nor fetches them.
    param($Printer, $Driver)
    if (Test-Driver -Printer $Printer -Driver $Driver) { return }
    $what = "the driver $($Printer.DriverName)"
    if ($Driver.Version) { $what = "$what in version $($Driver.Version) or newer" }
    $installed = Get-DriverVersion -Name $Printer.DriverName
    if ($null -ne $installed) { $what = "$what (it has $($installed.Version))" }
    Stop-Run -Message ("This machine lacks $what, and this package does not bring it. Install `"$($Driver.Package)`" first; " +
        'in Intune, make that app a dependency of this one that is installed automatically.')
}
#</if>

#endregion
#</if>
