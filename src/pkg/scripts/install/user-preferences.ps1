#<if reset>
#region What users have set for themselves

function Reset-UserPreference {
    # It lies over the queue's own preferences, and goes once per revision: now for those who are logged on, at the next
    # log-on for everybody else.
    param($Printer)
    $done = Get-RegistryValue (Get-MarkerPath $Printer) 'PreferencesReset'
    if (-not $Printer.ResetUserPreferences -or $done -eq $Printer.Revision) { return }
    $what = "drop users' own preferences of $($Printer.Name)"
    if (-not (Confirm-Change $what)) { return }
    $done = @(Invoke-OnUser 'the own setting' {
            param($sid)
            foreach ($key in 'DevModePerUser', 'DevModes2') {
                foreach ($name in $Printer.Name, "\\$env:COMPUTERNAME\$($Printer.Name)") {
                    Remove-RegistryValue "Registry::HKEY_USERS\$sid\Printers\$key" $name
                }
            }
            $sid
        })
    $code = "`$q=(Get-ItemProperty '$(Get-MarkerPath $Printer)').Queue;" +
    "if(`$q){foreach(`$k in 'DevModePerUser','DevModes2'){`$r=[Microsoft.Win32.Registry]::CurrentUser.OpenSubKey('Printers\'+`$k,`$true);" +
    "if(`$r){`$r.DeleteValue(`$q,`$false);`$r.DeleteValue('\\'+`$env:COMPUTERNAME+'\'+`$q,`$false)}}}"
    Register-LogonSetup $Printer '-reset' $code $what -Name 'PreferencesReset' -Value $Printer.Revision -Done $done
}

#endregion
#</if>
