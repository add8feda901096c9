#<if connections>
#region Connections to print servers

function Remove-Connection {
    # Those that this printer replaces: of the machine, which would come back at each log-on, and of who is logged on; those
    # of everybody else go at their next log-on. Windows shows a machine's connection to who is logged on until they log off.
    param($Printer)
    $names = @($Printer.Replaces -like '\\*')
    #<if many>
    if ($names.Count -eq 0) { return }
    #</if>
    foreach ($name in $names) {
        $key = "Connections\,,$($name.Substring(2).Replace('\', ','))"
        $path = "$PrintRoot\$key"
        $what = "remove the machine's connection $name"
        if ((Test-Path -LiteralPath $path) -and (Confirm-Change $what)) {
            Remove-RegistryKey $path
            Write-Change $what
        }
        Invoke-OnUser "the connection $name" { param($sid) Remove-UserConnection $Printer $sid $name "Registry::HKEY_USERS\$sid\Printers\$key" }
    }
    $code = "`$m=Get-ItemProperty '$(Get-MarkerPath $Printer)';`$n=New-Object -ComObject WScript.Network;" +
    "`$d=[string](Get-ItemProperty 'HKCU:\Software\Microsoft\Windows NT\CurrentVersion\Windows').Device;" +
    "foreach(`$c in `$m.Connections.Split('|')){try{`$n.RemovePrinterConnection(`$c,`$true,`$true)}catch{}" +
    "if(`$m.Queue -and `$d.StartsWith(`$c+',','OrdinalIgnoreCase')){`$n.SetDefaultPrinter(`$m.Queue)}}"
    Register-LogonSetup $Printer '-connections' $code "remove $($names -join ', ')" -Name 'Connections' -Value ($names -join '|')
}

function Remove-UserConnection {
    # Of one user who is logged on. Where it was the default printer, this one becomes that.
    param($Printer, [string]$Sid, [string]$Name, [string]$Path)
    $settings = Get-UserSettingsPath $Sid
    $isDefault = ([string](Get-RegistryValue "$settings\Windows" 'Device')).StartsWith("$Name,", 'OrdinalIgnoreCase')
    $lists = @('Devices', 'PrinterPorts' | Where-Object { $null -ne (Get-RegistryValue "$settings\$_" $Name) })
    if (-not ($isDefault -or $lists -or (Test-Path -LiteralPath $Path))) { return }
    $what = "remove the connection $Name of $Sid"
    if (-not (Confirm-Change $what)) { return }
    if ($isDefault -and $Printer.HasQueue) {
        Set-RegistryValue "$settings\Windows" 'Device' (Get-UserDevice $Printer $settings)
    }
    elseif ($isDefault) { Remove-RegistryValue "$settings\Windows" 'Device' }
    Remove-RegistryKey $Path
    foreach ($key in $lists) { Remove-RegistryValue "$settings\$key" $Name }
    Write-Change $what
}

#endregion
#</if>
