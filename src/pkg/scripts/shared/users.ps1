#region Users

#<if default|reset|connections|uninstall|diagnose>
function Get-LoadedUser {
    # Security identifiers of the people whose registry hives are loaded: those who are logged on.
    foreach ($child in @(Get-RegistryChild 'Registry::HKEY_USERS')) {
        if ($child.Name -match '^S-1-(5-21|12-1)-[0-9-]+$') { $child.Name }
    }
}
#</if>

#<if install|uninstall>
#<if reset|connections|uninstall>
function Invoke-OnUser {
    # For each of them. What one of them does not let happen is a remark, and keeps nothing from the others.
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
    # Of a logged-on user: the default printer is the value Device of the key Windows below it.
    param([string]$Sid)
    return "Registry::HKEY_USERS\$Sid\Software\Microsoft\Windows NT\CurrentVersion"
}
#</if>

#<if install|uninstall>
#<if default|uninstall>
function Get-UserRecordPath {
    # Where install records what a user's default printer was before.
    param($Printer, [string]$Sid)
    return "$(Get-MarkerPath $Printer)\Users\$Sid"
}
#</if>

function Get-LogonSetupPath {
    # What Active Setup runs once for each user, at log-on and as that user; a key for each task.
    param($Printer, [string]$Task)
    return "HKLM:\SOFTWARE\Microsoft\Active Setup\Installed Components\Platen-$($Printer.Id)$Task"
}
#</if>

#endregion
