#region The marker

function Set-Marker {
    # Written last of all: a printer without it is not installed.
    param($Printer, $Driver, [string]$PortName)
    $path = Get-MarkerPath $Printer
    $values = [ordered]@{
        Queue = ''
        DriverName = $Printer.DriverName
        DriverSha256 = $Driver.Sha256
        PortName = $PortName
        Revision = $Printer.Revision
    }
    #<if alone>
    $values.DriverName = Get-DeployedName $Printer
    #</if>
    #<if printer>
    #<if package|windows|apart>
    # Of the time when it was an IPP printer.
    if (-not $Printer.IppUrl) { foreach ($name in 'IppUrl', 'Adding') { Remove-RegistryValue $path $name } }
    #</if>
    if ($Printer.HasQueue) { $values.Queue = $Printer.Name }
    #</if>
    $isNew = $false
    foreach ($name in $values.Keys) {
        if ("$(Get-RegistryValue $path $name)" -cne "$($values[$name])") { $isNew = $true }
        Set-RegistryValue $path $name $values[$name]
    }
    if ($isNew) {
        Set-RegistryValue $path 'Deployed' ((Get-Date).ToUniversalTime().ToString('s') + 'Z')
        Write-Change "marker $($Printer.Id) is revision $($Printer.Revision)"
    }
}

#endregion
