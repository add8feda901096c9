#<if connections>
#region Connections to print servers

function Remove-Connection {
    # Those that this printer replaces: of the machine, which would come back at each log-on, and of who is logged on; those
    # of everybody else go at their next log-on. Windows shows a machine's connection to who is logged on until they log off.
    param($Printer)
    $names = @($Printer.Replaces -like '\\*')
    if ($names.Count -eq 0) { return }
    foreach ($name in $names) {
        $key = "Connections\,,$($name.Substring(2).Replace('\', ','))"
        $path = "$script:PrintRoot\$key"
        if ((Test-Path -LiteralPath $path) -and (Confirm-Change -Message "remove the machine's connection $name")) {
            Remove-RegistryKey -Path $path
            Write-Change -Message "the machine's connection $name removed"
        }
        foreach ($sid in @(Get-LoadedUser)) {
            try {
                Remove-UserConnection -Printer $Printer -Sid $sid -Name $name -Path "Registry::HKEY_USERS\$sid\Printers\$key"
            }
            catch {
                Add-Remark -Message "the connection $name of $sid stays: $($_.Exception.Message)"
            }
        }
    }
    $code = "`$m=Get-ItemProperty '$(Get-MarkerPath -Printer $Printer)';`$n=New-Object -ComObject WScript.Network;" +
    "`$d=[string](Get-ItemProperty 'HKCU:\Software\Microsoft\Windows NT\CurrentVersion\Windows').Device;" +
    "foreach(`$c in `$m.Connections.Split('|')){try{`$n.RemovePrinterConnection(`$c,`$true,`$true)}catch{}" +
    "if(`$m.Queue -and `$d.StartsWith(`$c+',','OrdinalIgnoreCase')){`$n.SetDefaultPrinter(`$m.Queue)}}"
    Register-LogonSetup -Printer $Printer -Task '-connections' -Code $code -What "remove $($names -join ', ')" -Name 'Connections' -Value ($names -join '|')
}

function Remove-UserConnection {
    # Of one user who is logged on. Where it was the default printer, this one becomes that.
    param($Printer, [string]$Sid, [string]$Name, [string]$Path)
    $settings = Get-UserSettingsPath -Sid $Sid
    $isDefault = ([string](Get-RegistryValue -Path "$settings\Windows" -Name 'Device')).StartsWith("$Name,", 'OrdinalIgnoreCase')
    $isListed = @('Devices', 'PrinterPorts' | Where-Object -FilterScript { $null -ne (Get-RegistryValue -Path "$settings\$_" -Name $Name) }).Count -gt 0
    if (-not ($isDefault -or $isListed -or (Test-Path -LiteralPath $Path))) { return }
    if (-not (Confirm-Change -Message "remove the connection $Name of $Sid")) { return }
    if ($isDefault -and $Printer.HasQueue) {
        $null = Set-RegistryValue -Path "$settings\Windows" -Name 'Device' -Value (Get-UserDevice -Printer $Printer -Path $settings)
    }
    elseif ($isDefault) { Remove-RegistryValue -Path "$settings\Windows" -Name 'Device' }
    Remove-RegistryKey -Path $Path
    foreach ($key in 'Devices', 'PrinterPorts') { Remove-RegistryValue -Path "$settings\$key" -Name $Name }
    Write-Change -Message "connection $Name of $Sid removed"
}

#endregion
#</if>
