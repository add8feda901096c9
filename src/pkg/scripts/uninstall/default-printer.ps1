#region The default printer

function Undo-Default {
    # Gives logged-on users their former default printer back.
    param($Printer)
    $queues = @(Get-Queue | ForEach-Object Name)
    foreach ($sid in @(Get-LoadedUser)) {
        $path = "$(Get-UserSettingsPath $sid)\Windows"
        $record = Get-UserRecordPath $Printer $sid
        $isOurs = ([string](Get-RegistryValue $path 'Device')).StartsWith("$($Printer.Name),", 'OrdinalIgnoreCase')
        if ($isOurs) {
            $former = [string](Get-RegistryValue $record 'Device')
            if ($former -and $queues -contains ($former -replace ',[^,]*,[^,]*$', '')) {
                Set-RegistryValue $path 'Device' $former
            }
            else {
                Remove-RegistryValue $path 'Device'
            }
            Write-Change "$($Printer.Name) is no longer the default printer of $sid"
        }
        if (-not (Test-Path -LiteralPath $record)) { continue }
        $mode = [string](Get-RegistryValue $record 'LegacyDefaultPrinterMode')
        if ($mode) {
            Set-RegistryValue $path -Name 'LegacyDefaultPrinterMode' -Value ([int]$mode) -Type 'DWord'
        }
        else {
            Remove-RegistryValue $path 'LegacyDefaultPrinterMode'
        }
    }
}

function Remove-LogonSetup {
    # Ends all that happens at log-on.
    param($Printer)
    foreach ($task in '', '-connections', '-reset') {
        $setup = Get-LogonSetupPath $Printer $task
        Remove-RegistryKey $setup
        foreach ($sid in @(Get-LoadedUser)) { Remove-RegistryKey "Registry::HKEY_USERS\$sid\$($setup.Substring(6))" }
    }
}

#endregion
