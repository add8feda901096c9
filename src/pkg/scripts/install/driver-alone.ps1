#<if alone>
### A driver without a printer
function Install-DriverAlone {
    # Under each name that printers use.
    param($Printer, $Driver)
    foreach ($name in $Printer.DriverNames) { Install-Driver @{ DriverName = $name; Id = $Printer.Id } $Driver }
}

function Get-DeployedName {
    # These names and those of earlier deployments, for uninstall.
    param($Printer)
    $former = @(Get-RegistryValue (Get-MarkerPath $Printer) 'DriverName')
    return , [string[]]@(@($Printer.DriverNames) + $former | Where-Object { $_ } | Select-Object -Unique)
}
#</if>
