#<if default>
### The default printer
function Set-DefaultPrinter {
    # The default printer is a setting of each user. The script for log-on sets it for users who are not logged on now.
    param($Printer)
    #<if many>
    if (-not $Printer.SetDefault) { return }
    #</if>
    #<if subnets>
    if (Get-SiteDifference $Printer) { return }
    #</if>
    foreach ($sid in @(Get-LoadedUser)) { Set-UserDefault $Printer $sid }
}

function Set-UserDefault {
    # Notes first what it was before, for uninstall.
    param($Printer, [string]$Sid)
    $path = Get-UserSettingsPath $Sid
    $device = Get-RegistryValue "$path\Windows" 'Device'
    $mode = Get-RegistryValue "$path\Windows" 'LegacyDefaultPrinterMode'
    if ($mode -eq 1 -and $device -and ([string]$device).StartsWith("$($Printer.Name),", 'OrdinalIgnoreCase')) { return }
    # Whoever has had it once, and has chosen another one since, keeps that.
    $done = Get-RegistryValue "Registry::HKEY_USERS\$Sid\Software\Platen\$($Printer.Id)" 'Default'
    if ($done -eq "$(Get-RegistryValue (Get-MarkerPath $Printer) 'LogonSince') $($Printer.Name)") { return }
    $what = "make $($Printer.Name) the default printer of $Sid"
    if (-not (Confirm-Change $what)) { return }
    $record = Get-UserRecordPath $Printer $Sid
    if ($null -eq (Get-RegistryValue $record 'LegacyDefaultPrinterMode')) {
        Set-RegistryValue $record 'Device' ([string]$device)
        Set-RegistryValue $record 'LegacyDefaultPrinterMode' ([string]$mode)
    }
    try {
        Set-RegistryValue "$path\Windows" -Name 'LegacyDefaultPrinterMode' -Value 1 -Type 'DWord'
        Set-RegistryValue "$path\Windows" 'Device' (Get-UserDevice $Printer $path)
        Write-Change "$what, was $device"
    }
    catch {
        Add-Remark "the default printer of $Sid stays: $($_.Exception.Message)"
        return
    }
    Set-UserRecord $Printer $Sid 'Default' $Printer.Name
}
#</if>
