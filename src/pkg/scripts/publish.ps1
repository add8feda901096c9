<#
.SYNOPSIS
Creates the apps for printers and their drivers in Microsoft Intune, and brings them up to date.

.DESCRIPTION
Made by Platen, to be run on the PC of whoever looks after Intune: Windows PowerShell 5.1 or PowerShell 7, on any system,
without a module and without administrator's rights. It signs in as Microsoft asks for it (a code that is typed into a
browser), looks for the apps that it made before by a marker in their notes, never by their names, and changes what
differs: the content only where the package is another one, fields only where they differ. What somebody changed in
Intune by hand stays, and so do assignments, categories and other relationships. A run that was interrupted is finished
by the next one. Packages come from the Platen that made this script, or from files (-Package). -WhatIf says what would be
done, -Confirm asks before each change.

The account needs the permission DeviceManagementApps.ReadWrite.All. The token that it gets stays in memory.

Exit codes:
0  every app is as Platen has it, or -WhatIf said what would be done
1  something could not be done, was left out, declined or interrupted; the table at the end says what

.PARAMETER Tenant
The tenant, by its domain or id; by default that of whoever signs in.

.PARAMETER ClientId
The app registration that is signed in to; by default Microsoft Graph Command Line Tools.

.PARAMETER AccessToken
A token for Microsoft Graph, as text or SecureString: nobody is asked to sign in.

.PARAMETER GraphUrl
Microsoft Graph's address, which is another one in national clouds.

.PARAMETER LoginUrl
The address of Microsoft's sign-in, which is another one in national clouds.

.PARAMETER Package
The .intunewin file as Platen made it, or the folder with several of them: nothing is fetched from Platen.

.PARAMETER AssignTo
Ids of groups that the apps are assigned to, besides those that they are assigned to already.

.PARAMETER Intent
What the groups of -AssignTo get the apps as: required (by default) or available.

.PARAMETER Together
Makes all printers of the client one app.

.PARAMETER Remove
Lists the apps of printers, clients and drivers that Platen has no more, asks, and deletes them. Publishes nothing.

.PARAMETER Force
Overwrites what stays otherwise: fields that somebody changed in Intune, and apps that a newer script published. With
-Remove: deletes without asking.

.PARAMETER LogPath
The log file; by default one in Platen\Logs in the user's local application data.

.EXAMPLE
powershell.exe -NoProfile -ExecutionPolicy Bypass -File .\publish.ps1 -WhatIf
Signs in, looks, and says what would be done.

.EXAMPLE
.\publish.ps1 -Tenant contoso.onmicrosoft.com -AssignTo 11111111-2222-3333-4444-555555555555 -Intent available
Publishes to that tenant, and offers the apps to the group in Company Portal.

.EXAMPLE
.\publish.ps1 -AccessToken (Read-Host -AsSecureString 'Token') -Package C:\Packages
Publishes files that were downloaded before, without a sign-in.

.EXAMPLE
.\publish.ps1 -Remove -WhatIf
Lists the apps of what was deleted in Platen.

.NOTES
The permission is granted once: an administrator who may consent (Cloud Application Administrator or higher) runs the
script, signs in, ticks "Consent on behalf of your organization" and accepts. Whoever runs it then needs a role in Intune
that may manage apps.
#>
[CmdletBinding(SupportsShouldProcess = $true)]
param(
    [ValidatePattern('^[A-Za-z0-9.-]{1,255}$')][string]$Tenant = 'organizations',
    [ValidatePattern('^[A-Za-z0-9-]{1,64}$')][string]$ClientId = '14d82eec-204b-4c2f-b7e8-296a70dab67e',
    [object]$AccessToken = $null,
    [string]$GraphUrl = 'https://graph.microsoft.com',
    [string]$LoginUrl = 'https://login.microsoftonline.com',
    [string]$Package = '',
    [string[]]$AssignTo = @(),
    [ValidateSet('required', 'available')][string]$Intent = 'required',
    [switch]$Together,
    [switch]$Remove,
    [switch]$Force,
    [string]$LogPath = ''
)

Set-StrictMode -Version 2.0
$ErrorActionPreference = 'Stop'
$ConfirmPreference = 'High'

#<settings>
$Settings = @{}
#</settings>

#<parts>
#</parts>

$script:Run = $PSCmdlet
$script:ExitCode = 0
$script:IsInterrupted = $true
try {
    Open-Log (Get-LogPath $LogPath) 'publish.ps1'
    $AssignTo = @(Read-Groups $AssignTo)
    Test-Parameters $PSBoundParameters
    $script:Graph = Read-Address $GraphUrl '-GraphUrl'
    $script:Login = Read-Address $LoginUrl '-LoginUrl'
    Open-Http
    if ($Remove) { Remove-Leftovers } else { Publish-All }
    $script:IsInterrupted = $false
}
catch {
    $script:IsInterrupted = $false
    Write-Failure "$_"
}
finally {
    Close-Package
    Close-Http
    # After Ctrl+C nothing behind this block runs.
    if ($script:IsInterrupted) { Stop-Interrupted }
    Write-Log "Ends with exit code $script:ExitCode"
    if ($script:Log) { Write-Host "Log: $script:Log" }
    else { Write-Host 'There is no log: it cannot be written where it should be (-LogPath).' }
}
exit $script:ExitCode
