#<if alone>
#region A driver by itself

function Remove-DriverAlone {
    # Each name of it that nothing uses, also those that it was deployed under before; with the last one its files.
    param($Printer)
    $former = @(Get-RegistryValue (Get-MarkerPath $Printer) 'DriverName')
    $free = @()
    $isUsed = $false
    foreach ($name in @(@($Printer.DriverNames) + $former | Where-Object { $_ } | Select-Object -Unique)) {
        if ($null -eq (Get-Driver $name)) { continue }
        $user = Get-DriverUser $name $Printer
        if (-not $user) { $free += $name; continue }
        $isUsed = $true
        Add-Remark "the driver $name stays: $user uses it"
    }
    foreach ($name in $free) {
        $isLast = -not $isUsed -and $name -eq $free[-1]
        $isGone = Invoke-UntilFree "the driver $name" { Remove-DriverByName $name -AndFiles:$isLast }
        if ($isGone) { continue }
        $isUsed = $true
        Add-Remark "the driver $name stays until Windows lets it go"
    }
}

#endregion
#</if>
