#<if reset>
### What users have set for themselves
function Reset-UserPreference {
    # Users' own preferences override those of the queue. Removes them once per revision.
    param($Printer)
    $marker = Get-MarkerPath $Printer
    if (-not $Printer.ResetUserPreferences) { return }
    # Earlier versions of Platen used the second name.
    if ((Get-RegistryValue $marker 'LogonReset'), (Get-RegistryValue $marker 'PreferencesReset') -contains $Printer.Revision) { return }
    if (-not (Confirm-Change "drop users' own preferences of $($Printer.Name)")) { return }
    Invoke-OnUser 'the own setting' {
        param($sid)
        foreach ($key in 'DevModePerUser', 'DevModes2') {
            foreach ($name in $Printer.Name, "\\$env:COMPUTERNAME\$($Printer.Name)") {
                Remove-RegistryValue "Registry::HKEY_USERS\$sid\Printers\$key" $name
            }
        }
        Set-UserRecord $Printer $sid 'Reset' $Printer.Revision
    }
    Write-Change "users' own preferences of $($Printer.Name) dropped"
}
#</if>
