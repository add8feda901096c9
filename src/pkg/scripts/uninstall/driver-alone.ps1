#<if alone>
### A driver without a printer
function Remove-DriverAlone {
    # Removes each of its names that nothing uses, also names of earlier deployments, and with the last one the files.
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
#</if>
