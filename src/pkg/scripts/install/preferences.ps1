#<if preferences>
#region Preferences

function Set-Preference {
    # Duplex, colour, collate, paper. A driver that refuses is no failure: the printer prints all the same.
    param($Printer)
    $wanted = @{}
    if ($Printer.Duplex) { $wanted.DuplexingMode = $Printer.Duplex }
    if ($null -ne $Printer.Color) { $wanted.Color = $Printer.Color }
    if ($null -ne $Printer.Collate) { $wanted.Collate = $Printer.Collate }
    if ($Printer.PaperSize) { $wanted.PaperSize = $Printer.PaperSize }
    if ($wanted.Count -eq 0) { return }
    try {
        $current = Invoke-Print -Command { Get-PrintConfiguration -PrinterName $Printer.Name -ErrorAction Stop }
    }
    catch {
        $current = $null
        Write-Log -Message "The preferences of $($Printer.Name) cannot be read: $($_.Exception.Message)"
    }
    foreach ($name in @($wanted.Keys | Sort-Object)) {
        if ($null -ne $current -and [string](Get-Property -InputObject $current -Name $name) -eq [string]$wanted[$name]) { continue }
        if (-not (Confirm-Change -Message "set $name of $($Printer.Name) to $($wanted[$name])")) { continue }
        $one = @{ PrinterName = $Printer.Name; ErrorAction = 'Stop'; $name = $wanted[$name] }
        try {
            Invoke-Print -Command { Set-PrintConfiguration @one }
            $after = Invoke-Print -Command { Get-PrintConfiguration -PrinterName $Printer.Name -ErrorAction Stop }
            if ([string](Get-Property -InputObject $after -Name $name) -eq [string]$wanted[$name]) {
                Write-Change -Message "$name of $($Printer.Name) is $($wanted[$name])"
            }
            else {
                Add-Remark -Message "the driver ignores $name = $($wanted[$name])"
            }
        }
        catch {
            if ((Get-FailureCode -ErrorRecord $_) -eq $script:ExitBusy) { throw }
            Add-Remark -Message "the driver refuses $name = $($wanted[$name]) ($(Get-ErrorCode -ErrorRecord $_))"
        }
    }
}

#endregion
#</if>
