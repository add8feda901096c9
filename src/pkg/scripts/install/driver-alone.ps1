#<if alone>
#region A driver by itself

function Install-DriverAlone {
    # Under each name that printers use; its package is staged once.
    param($Printer, $Driver)
    foreach ($name in $Printer.DriverNames) { Install-Driver @{ DriverName = $name } $Driver }
}

function Get-DeployedName {
    # These names, and those that it was deployed under before: uninstall goes by them.
    param($Printer)
    $former = @(Get-RegistryValue (Get-MarkerPath $Printer) 'DriverName')
    return , [string[]]@(@($Printer.DriverNames) + $former | Where-Object { $_ } | Select-Object -Unique)
}

#endregion
#</if>
