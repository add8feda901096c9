### The default printer of each user who is logged on
function Test-DefaultPrinter {
    param($Printer)
    $users = @(Get-LoadedUser)
    if ($users.Count -eq 0) {
        Add-Finding 'ok' 'default' 'nobody is logged on'
        return
    }
    foreach ($sid in $users) {
        $path = "$(Get-UserSettingsPath $sid)\Windows"
        $device = [string](Get-RegistryValue $path 'Device')
        $name = $device -replace ',[^,]*,[^,]*$', ''
        # The last part of an identifier distinguishes the users of a machine without their names.
        $who = "S-1-...$($sid.Substring($sid.LastIndexOf('-') + 1))"
        if ($name -eq $Printer.Name) { Add-Finding 'ok' 'default' "is the default printer of $who" }
        elseif (-not $Printer.SetDefault) { Add-Finding 'ok' 'default' "is not the default printer of $who, and is not meant to be" }
        else {
            $text = "is meant to be the default printer of $who, which is now $name"
            if (-not $name) { $text = "is meant to be the default printer of $who, who has none" }
            if ((Get-RegistryValue $path 'LegacyDefaultPrinterMode') -ne 1) { $text += '; Windows manages the default printer of that user' }
            Add-Finding 'warn' 'default' $text
        }
    }
}

