#<if alone>
#region A driver by itself

function Remove-DriverAlone {
    # Each name of it that nothing uses, also those that it was deployed under before; with the last one its files.
    param($Printer)
    $former = @(Get-RegistryValue -Path (Get-MarkerPath -Printer $Printer) -Name 'DriverName')
    $free = @()
    $isUsed = $false
    foreach ($name in @(@($Printer.DriverNames) + $former | Where-Object -FilterScript { $_ } | Select-Object -Unique)) {
        if ($null -eq (Invoke-Print -Command { Get-Driver -Name $name })) { continue }
        $user = Get-DriverUser -Name $name -Printer $Printer
        if (-not $user) { $free += $name; continue }
        $isUsed = $true
        Add-Remark -Message "the driver $name stays: $user uses it"
    }
    foreach ($name in $free) {
        $isLast = -not $isUsed -and $name -eq $free[-1]
        $isGone = Invoke-UntilFree -What "the driver $name" -Remove { Remove-DriverByName -Name $name -AndFiles:$isLast }
        if ($isGone) { continue }
        $isUsed = $true
        Add-Remark -Message "the driver $name stays until Windows lets it go"
    }
}

#endregion
#</if>
