#region The marker

function Set-Marker {
    # Written last of all: a printer without it is not installed.
    param($Printer, $Driver, [string]$PortName)
    $path = Get-MarkerPath -Printer $Printer
    $values = [ordered]@{
        Queue = ''
        DriverName = $Printer.DriverName
        DriverSha256 = $Driver.Sha256
        PortName = $PortName
        Revision = $Printer.Revision
    }
    #<if alone>
    $values.DriverName = Get-DeployedName -Printer $Printer
    #</if>
    #<if printer>
    #<if package|windows|apart>
    # Of the time when it was an IPP printer.
    if (-not $Printer.IppUrl) { foreach ($name in 'IppUrl', 'Adding') { Remove-RegistryValue -Path $path -Name $name } }
    #</if>
    if ($Printer.HasQueue) { $values.Queue = $Printer.Name }
    #</if>
    $isNew = $false
    foreach ($name in $values.Keys) {
        if (Set-RegistryValue -Path $path -Name $name -Value $values[$name]) { $isNew = $true }
    }
    if ($isNew) {
        $null = Set-RegistryValue -Path $path -Name 'Deployed' -Value ((Get-Date).ToUniversalTime().ToString('s') + 'Z')
        Write-Change -Message "marker $($Printer.Id) is revision $($Printer.Revision)"
    }
}

#endregion
