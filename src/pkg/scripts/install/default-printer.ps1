#<if default>
#region The default printer

function Set-DefaultPrinter {
    # The default printer is a setting of each user: made now for those who are logged on, and by Active Setup at
    # the next log-on of everybody else.
    param($Printer)
    if (-not $Printer.SetDefault) { return }
    foreach ($sid in @(Get-LoadedUser)) { Set-UserDefault -Printer $Printer -Sid $sid }
    $code = "`$q=(Get-ItemProperty '$(Get-MarkerPath -Printer $Printer)').Queue;" +
    "Set-ItemProperty 'HKCU:\Software\Microsoft\Windows NT\CurrentVersion\Windows' LegacyDefaultPrinterMode 1 -Type DWord;" +
    "(New-Object -ComObject WScript.Network).SetDefaultPrinter(`$q)"
    Register-LogonSetup -Printer $Printer -Code $code -What "make $($Printer.Name) the default printer" -Name 'Queue' -Value $Printer.Name
}

function Set-UserDefault {
    # For one user who is logged on; what was there before is recorded, for uninstall.
    param($Printer, [string]$Sid)
    $path = Get-UserSettingsPath -Sid $Sid
    $device = Get-RegistryValue -Path "$path\Windows" -Name 'Device'
    $mode = Get-RegistryValue -Path "$path\Windows" -Name 'LegacyDefaultPrinterMode'
    if ($mode -eq 1 -and $device -and ([string]$device).StartsWith("$($Printer.Name),", 'OrdinalIgnoreCase')) { return }
    if (-not (Confirm-Change -Message "make $($Printer.Name) the default printer of $Sid")) { return }
    $record = Get-UserRecordPath -Printer $Printer -Sid $Sid
    if ($null -eq (Get-RegistryValue -Path $record -Name 'LegacyDefaultPrinterMode')) {
        $null = Set-RegistryValue -Path $record -Name 'Device' -Value ([string]$device)
        $null = Set-RegistryValue -Path $record -Name 'LegacyDefaultPrinterMode' -Value ([string]$mode)
    }
    $null = Set-RegistryValue -Path "$path\Windows" -Name 'LegacyDefaultPrinterMode' -Value 1 -Type 'DWord'
    $null = Set-RegistryValue -Path "$path\Windows" -Name 'Device' -Value (Get-UserDevice -Printer $Printer -Path $path)
    Write-Change -Message "$($Printer.Name) is the default printer of $Sid, was $device"
}

#endregion
#</if>
