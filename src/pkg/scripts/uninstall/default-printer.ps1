#region The default printer

function Undo-Default {
    # Gives logged-on users their former default printer back.
    param($Printer)
    $queues = @(Get-Queue | ForEach-Object { $_.Name })
    Invoke-OnUser 'the default printer' { param($sid) Undo-UserDefault $Printer $sid $queues }
}

function Undo-UserDefault {
    # What install noted of a user is what that user could write: anything but a queue that is there, and 0 or 1, is none.
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

function Remove-LogonSetup {
    # Ends all that happens at log-on.
    param($Printer)
    foreach ($task in '', '-connections', '-reset') {
        $setup = Get-LogonSetupPath $Printer $task
        Remove-RegistryKey $setup
        Invoke-OnUser "$setup" { param($sid) Remove-RegistryKey "Registry::HKEY_USERS\$sid\$($setup.Substring(6))" }
    }
}

#endregion
