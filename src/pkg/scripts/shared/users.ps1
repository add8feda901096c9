#<if default|reset|connections|uninstall|diagnose>
function Get-LoadedUser {
    # The security identifiers of the users who are logged on.
    foreach ($child in @(Get-RegistryChild 'Registry::HKEY_USERS')) {
        if ($child.Name -match '^S-1-(5-21|12-1)-[0-9-]+$') { $child.Name }
    }
}
#</if>

#<if install|uninstall>
#<if reset|connections|uninstall>
function Invoke-OnUser {
    # Runs work for each of them. What fails for one is a remark, and does not keep it from the others.
    param([string]$What, [scriptblock]$Work)
    foreach ($sid in @(Get-LoadedUser)) {
        try { & $Work $sid }
        catch { Add-Remark "$What of $sid stays: $($_.Exception.Message)" }
    }
}
#</if>
#</if>

#<if default|connections|uninstall|diagnose>
function Get-UserSettingsPath {
    # The value Device of the key Windows below this key is a user's default printer.
    param([string]$Sid)
    return "Registry::HKEY_USERS\$Sid\Software\Microsoft\Windows NT\CurrentVersion"
}
#</if>

#<if install|uninstall>
#<if default|uninstall>
function Get-UserRecordPath {
    # Where install notes what a user's default printer was before.
    param($Printer, [string]$Sid)
    return "$(Get-MarkerPath $Printer)\Users\$Sid"
}
#</if>
#</if>
