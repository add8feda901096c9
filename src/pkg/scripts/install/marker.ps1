function Set-Marker {
    # The last step. A printer without a marker is not installed.
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
    if (-not $Printer.IppUrl) { foreach ($name in 'IppUrl', 'Adding') { Remove-RegistryValue $path $name } }
    #</if>
    if ($Printer.HasQueue) { $values.Queue = $Printer.Name }
    #</if>
    $changed = @($values.Keys | Where-Object { "$(Get-RegistryValue $path $_)" -cne "$($values[$_])" })
    foreach ($name in $changed) { Set-RegistryValue $path $name $values[$name] }
    if ($changed.Count -eq 0) { return }
    Set-RegistryValue $path 'Deployed' ([datetime]::UtcNow.ToString('s', [Globalization.CultureInfo]::InvariantCulture) + 'Z')
    Write-Change "marker $($Printer.Id) is revision $($Printer.Revision)"
}
