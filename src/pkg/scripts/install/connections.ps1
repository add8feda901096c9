#<if connections>
### Connections to print servers
function Remove-Connection {
    # Removes the connections that this printer replaces: those of the machine, which would return at each log-on, and
    # those of users who are logged on. The script for log-on removes those of other users.
    param($Printer)
    foreach ($name in @($Printer.Replaces -like '\\*')) {
        $key = "Connections\,,$($name.Substring(2).Replace('\', ','))"
        $path = "$PrintRoot\$key"
        $what = "remove the machine's connection $name"
        if ((Test-Path -LiteralPath $path) -and (Confirm-Change $what)) {
            Remove-RegistryKey $path
            Write-Change $what
        }
        Invoke-OnUser "the connection $name" { param($sid) Remove-UserConnection $Printer $sid $name $key }
    }
}

function Remove-UserConnection {
    # Removes it from the user's settings and from the cache of the client-side rendering provider. If it was the default
    # printer, this printer becomes that.
    param($Printer, [string]$Sid, [string]$Name, [string]$Key)
    $settings = Get-UserSettingsPath $Sid
    $provider = 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Print\Providers\Client Side Rendering Print Provider'
    $keys = @("Registry::HKEY_USERS\$Sid\Printers\$Key", "$provider\$Sid\Printers\$Key" | Where-Object { Test-Path -LiteralPath $_ })
    $isDefault = ([string](Get-RegistryValue "$settings\Windows" 'Device')).StartsWith("$Name,", 'OrdinalIgnoreCase')
    $lists = @('Devices', 'PrinterPorts' | Where-Object { $null -ne (Get-RegistryValue "$settings\$_" $Name) })
    if (-not ($isDefault -or $lists -or $keys)) { return }
    $what = "remove the connection $Name of $Sid"
    if (-not (Confirm-Change $what)) { return }
    if ($isDefault -and $Printer.HasQueue) {
        Set-RegistryValue "$settings\Windows" 'Device' (Get-UserDevice $Printer $settings)
    }
    elseif ($isDefault) { Remove-RegistryValue "$settings\Windows" 'Device' }
    foreach ($path in $keys) { Remove-RegistryKey $path }
    foreach ($list in $lists) { Remove-RegistryValue "$settings\$list" $Name }
    Write-Change $what
}
#</if>
