#region The default printer

function Undo-Default {
    # Gives logged-on users their former default printer back.
    param($Printer)
    $queues = @(Invoke-Print -Command { Get-Printer -ErrorAction Stop } | ForEach-Object -Process { $_.Name })
    foreach ($sid in @(Get-LoadedUser)) {
        $path = "$(Get-UserSettingsPath -Sid $sid)\Windows"
        $record = Get-UserRecordPath -Printer $Printer -Sid $sid
        $isOurs = ([string](Get-RegistryValue -Path $path -Name 'Device')).StartsWith("$($Printer.Name),", 'OrdinalIgnoreCase')
        if ($isOurs) {
            $former = [string](Get-RegistryValue -Path $record -Name 'Device')
            if ($former -and $queues -contains ($former -replace ',[^,]*,[^,]*$', '')) {
                $null = Set-RegistryValue -Path $path -Name 'Device' -Value $former
            }
            else {
                Remove-RegistryValue -Path $path -Name 'Device'
            }
            Write-Change -Message "$($Printer.Name) is no longer the default printer of $sid"
        }
        if (-not (Test-Path -LiteralPath $record)) { continue }
        $mode = [string](Get-RegistryValue -Path $record -Name 'LegacyDefaultPrinterMode')
        if ($mode) {
            $null = Set-RegistryValue -Path $path -Name 'LegacyDefaultPrinterMode' -Value ([int]$mode) -Type 'DWord'
        }
        else {
            Remove-RegistryValue -Path $path -Name 'LegacyDefaultPrinterMode'
        }
    }
}

function Remove-LogonSetup {
    # Ends all that happens at log-on.
    param($Printer)
    foreach ($task in '', '-connections', '-reset') {
        $setup = Get-LogonSetupPath -Printer $Printer -Task $task
        Remove-RegistryKey -Path $setup
        foreach ($sid in @(Get-LoadedUser)) { Remove-RegistryKey -Path "Registry::HKEY_USERS\$sid\$($setup.Substring(6))" }
    }
}

#endregion
