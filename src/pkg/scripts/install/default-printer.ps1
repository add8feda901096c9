#region The default printer

function Set-DefaultPrinter {
    # The default printer is a setting of each user: made now for those who are logged on, and by Active Setup at
    # the next log-on of everybody else.
    param($Printer)
    $setup = Get-LogonSetupPath -Printer $Printer
    if (-not $Printer.SetDefault) {
        if ((Test-Path -LiteralPath $setup) -and (Confirm-Change -Message 'stop setting the default printer at log-on')) {
            Remove-RegistryKey -Path $setup
            Write-Change -Message 'the default printer is no longer set at log-on'
        }
        return
    }
    #<if default>
    foreach ($sid in @(Get-LoadedUser)) { Set-UserDefault -Printer $Printer -Sid $sid }
    Register-LogonDefault -Printer $Printer -Setup $setup
    #</if>
}

#<if default>
function Register-LogonDefault {
    param($Printer, [string]$Setup)
    # The command holds no name of a printer: it reads the marker.
    $command = 'powershell.exe -NoProfile -NonInteractive -WindowStyle Hidden -ExecutionPolicy Bypass -Command ' +
    "`"`$q=(Get-ItemProperty '$(Get-MarkerPath -Printer $Printer)').Queue;" +
    "Set-ItemProperty 'HKCU:\Software\Microsoft\Windows NT\CurrentVersion\Windows' LegacyDefaultPrinterMode 1 -Type DWord;" +
    "(New-Object -ComObject WScript.Network).SetDefaultPrinter(`$q)`""
    $isSame = (Get-RegistryValue -Path $Setup -Name 'StubPath') -ceq $command
    $isSame = $isSame -and (Get-RegistryValue -Path (Get-MarkerPath -Printer $Printer) -Name 'Queue') -eq $Printer.Name
    if ($isSame -or -not (Confirm-Change -Message "make $($Printer.Name) the default printer at log-on")) { return }
    $null = Set-RegistryValue -Path $Setup -Name 'StubPath' -Value $command
    $null = Set-RegistryValue -Path $Setup -Name 'Version' -Value ('{0:yyyy,MMdd,HHmm,ss}' -f (Get-Date))
    Write-Change -Message "$($Printer.Name) becomes the default printer at log-on"
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
    if (-not (Test-Path -LiteralPath $record)) {
        $null = Set-RegistryValue -Path $record -Name 'Device' -Value ([string]$device)
        $null = Set-RegistryValue -Path $record -Name 'LegacyDefaultPrinterMode' -Value ([string]$mode)
    }
    # Device is <queue>,winspool,NeNN: and the NeNN: stands in Devices once the user has seen the queue.
    $port = Get-RegistryValue -Path "$path\Devices" -Name $Printer.Name
    if (-not $port) { $port = 'winspool,Ne00:' }
    $null = Set-RegistryValue -Path "$path\Windows" -Name 'LegacyDefaultPrinterMode' -Value 1 -Type 'DWord'
    $null = Set-RegistryValue -Path "$path\Windows" -Name 'Device' -Value "$($Printer.Name),$port"
    Write-Change -Message "$($Printer.Name) is the default printer of $Sid, was $device"
}
#</if>

#endregion
