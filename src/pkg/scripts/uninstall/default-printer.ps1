### Users' settings
function Undo-Default {
    # Gives users who are logged on their former default printer.
    param($Printer)
    $queues = @(Get-Queue | ForEach-Object { $_.Name })
    Invoke-OnUser 'the default printer' { param($sid) Undo-UserDefault $Printer $sid $queues }
}

function Undo-UserDefault {
    # What install noted came from the user's own registry. Only a queue that exists, and the numbers 0 and 1, are used.
    param($Printer, [string]$Sid, [string[]]$Queues)
    $path = "$(Get-UserSettingsPath $Sid)\Windows"
    $record = Get-UserRecordPath $Printer $Sid
    if (([string](Get-RegistryValue $path 'Device')).StartsWith("$($Printer.Name),", 'OrdinalIgnoreCase')) {
        $former = [string](Get-RegistryValue $record 'Device')
        if ($former -and $Queues -contains ($former -replace ',[^,]*,[^,]*$', '')) { Set-RegistryValue $path 'Device' $former }
        else { Remove-RegistryValue $path 'Device' }
        Write-Change "$($Printer.Name) is no longer the default printer of $Sid"
    }
    if (-not (Test-Path -LiteralPath $record)) { return }
    $mode = [string](Get-RegistryValue $record 'LegacyDefaultPrinterMode')
    if ($mode -in '0', '1') { Set-RegistryValue $path -Name 'LegacyDefaultPrinterMode' -Value ([int]$mode) -Type 'DWord' }
    else { Remove-RegistryValue $path 'LegacyDefaultPrinterMode' }
}

function Remove-LogonRecord {
    # Removes from users who are logged on what they did at log-on.
    param($Printer)
    Invoke-OnUser 'the record' {
        param($sid)
        $root = "Registry::HKEY_USERS\$sid\Software\Platen"
        Remove-RegistryKey "$root\$($Printer.Id)"
        $key = Get-Item -LiteralPath $root -ErrorAction SilentlyContinue
        if ($null -ne $key -and $key.SubKeyCount -eq 0) { Remove-RegistryKey $root }
        foreach ($suffix in '', '-connections', '-reset') {
            Remove-RegistryKey "Registry::HKEY_USERS\$sid\$($ComponentsKey.Substring(6))\Platen-$($Printer.Id)$suffix"
        }
    }
}
