#<if preferences|ticket>
### Preferences
function Get-Configuration {
    # The preferences of the printer's queue; $null if Windows cannot read them.
    param($Printer)
    try { return Invoke-Print { Get-PrintConfiguration -PrinterName $Printer.Name -ErrorAction Stop } }
    catch {
        if ((Get-FailureCode $_) -eq $ExitBusy) { throw }
        Write-Log "The preferences of $($Printer.Name) cannot be read: $($_.Exception.Message)"
        return $null
    }
}

function Set-Configuration {
    # Returns whether the driver accepts them. If it does not, the printer still prints, so that is only a remark.
    param($Printer, [string]$What, $Values)
    try {
        Invoke-Print { Set-PrintConfiguration -PrinterName $Printer.Name -ErrorAction Stop @Values }
        return $true
    }
    catch {
        if ((Get-FailureCode $_) -eq $ExitBusy) { throw }
        Add-Remark "the driver refuses $What ($(Get-ErrorCode $_))"
        return $false
    }
}

#<if preferences>
function Set-Preference {
    # One by one, because a driver may refuse one of them.
    param($Printer)
    $wanted = [ordered]@{
        Collate = $Printer.Collate
        Color = $Printer.Color
        DuplexingMode = $Printer.Duplex
        PaperSize = $Printer.PaperSize
    }
    #<if many>
    if (-not (-join $wanted.Values)) { return }
    #</if>
    $current = Get-Configuration $Printer
    foreach ($name in $wanted.Keys) {
        $value = [string]$wanted[$name]
        if (-not $value -or [string](Get-Property $current $name) -eq $value) { continue }
        if (-not (Confirm-Change "set $name of $($Printer.Name) to $value")) { continue }
        if (-not (Set-Configuration $Printer "$name = $value" @{ $name = $wanted[$name] })) { continue }
        $current = Get-Configuration $Printer
        if ([string](Get-Property $current $name) -eq $value) { Write-Change "$name of $($Printer.Name) is $value" }
        else { Add-Remark "the driver ignores $name = $value" }
    }
}
#</if>
#</if>
