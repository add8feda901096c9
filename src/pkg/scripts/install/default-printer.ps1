#<if default>
#region The default printer

function Set-DefaultPrinter {
    # The default printer is a setting of each user: made now for those who are logged on, and by Active Setup at
    # the next log-on of everybody else.
    param($Printer)
    #<if many>
    if (-not $Printer.SetDefault) { return }
    #</if>
    foreach ($sid in @(Get-LoadedUser)) { Set-UserDefault $Printer $sid }
    $code = "`$q=(Get-ItemProperty '$(Get-MarkerPath $Printer)').Queue;" +
    "Set-ItemProperty 'HKCU:\Software\Microsoft\Windows NT\CurrentVersion\Windows' LegacyDefaultPrinterMode 1 -Type DWord;" +
    "(New-Object -ComObject WScript.Network).SetDefaultPrinter(`$q)"
    Register-LogonSetup $Printer '' $code "make $($Printer.Name) the default printer" -Name 'Queue' -Value $Printer.Name
}

function Set-UserDefault {
    # For one user who is logged on; what was there before is recorded, for uninstall.
    param($Printer, [string]$Sid)
    $path = Get-UserSettingsPath $Sid
    $device = Get-RegistryValue "$path\Windows" 'Device'
    $mode = Get-RegistryValue "$path\Windows" 'LegacyDefaultPrinterMode'
    if ($mode -eq 1 -and $device -and ([string]$device).StartsWith("$($Printer.Name),", 'OrdinalIgnoreCase')) { return }
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
    catch { Add-Remark "the default printer of $Sid stays: $($_.Exception.Message)" }
}

#endregion
#</if>
