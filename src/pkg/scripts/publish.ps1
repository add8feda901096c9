<#
.SYNOPSIS
Creates and updates apps in Microsoft Intune for printers and their drivers.

.DESCRIPTION
Made by Platen. Run it on your own PC with Windows PowerShell 5.1 or PowerShell 7, on any system. It needs no module and no
administrator rights on the PC. The script
- signs you in to your tenant, or signs in as an app (-SignIn);
- finds the apps that it made before by a marker in their notes;
- uploads packages that have changed, and sets fields that differ;
- keeps what an administrator changed in Intune: fields, assignments, categories and relationships.
After an interrupted run, the next run continues. Packages come from Platen, or from files (-Package). -WhatIf shows what it
would change. -Confirm asks before each change.

The account needs the permission DeviceManagementApps.ReadWrite.All and a role in Intune that may manage apps. Tokens and
secrets stay in memory.

A script for all clients publishes to one tenant after another. The tenant of a client comes from -Tenants, else from Platen.

Exit codes:
0  done, or nothing to do
3  changes are pending: -WhatIf showed them, or you declined them
2  some apps failed; the table says why
1  everything failed

.PARAMETER SignIn
How to sign in: Browser, DeviceCode, Certificate, Secret, ManagedIdentity or GraphSession (an existing Connect-MgGraph).
Without it, the other parameters decide, else Browser, or DeviceCode if this PC cannot open one.

.PARAMETER Tenant
The tenant, as a domain or id. Without it, the tenant of the client in Platen, else that of the account. A script for all
clients uses it only for empty cells of -Tenants.

.PARAMETER ClientId
The app registration to sign in with. Without it, Microsoft Graph Command Line Tools. -Register makes one of your own.

.PARAMETER CertificateThumbprint
Signs in as an app, with this certificate from the personal store of the user or the PC.

.PARAMETER CertificatePath
Signs in as an app, with the certificate in this PFX file.

.PARAMETER CertificatePassword
The password of that file, as a SecureString.

.PARAMETER ClientSecret
Signs in as an app, with this secret, as a SecureString.

.PARAMETER AccessToken
A token for Microsoft Graph, as text or SecureString, or a script block that returns one. The script calls the block
with the tenant, and again when the token expires.

.PARAMETER Tenants
A CSV file that says where each client's printers go, with the columns client, tenant, client_id and certificate_thumbprint.
An empty tenant means the client's tenant in Platen. Other empty cells mean the parameter of that name.

.PARAMETER Register
Makes an app registration of your own, in the tenant of the account that signs in, or in -Tenant. The script shows it and asks
first. It publishes nothing.

.PARAMETER GraphUrl
The address of Microsoft Graph, for national clouds.

.PARAMETER LoginUrl
The address of Microsoft's sign-in, for national clouds.

.PARAMETER Package
A .intunewin file from Platen, or a folder with several. The script then downloads no packages.

.PARAMETER AssignTo
Groups to assign the apps to, by name or id, or AllDevices or AllUsers. Existing assignments stay.

.PARAMETER Intent
The kind of assignment: required (the default), available or uninstall.

.PARAMETER Exclude
Groups to exclude, by name or id.

.PARAMETER Filter
An assignment filter, by its name.

.PARAMETER FilterMode
include (the default) or exclude.

.PARAMETER Notifications
What users see: showReboot (the default for new assignments), showAll or hideAll.

.PARAMETER DeliveryOptimization
notConfigured (in the background, the default) or foreground.

.PARAMETER ScopeTag
Scope tags, by name. A new app gets these alone. An existing app also keeps its own.

.PARAMETER Category
A category to add to the apps, by name.

.PARAMETER Together
Makes all printers of a client one app.

.PARAMETER Remove
Lists the apps of printers, clients and drivers that were deleted in Platen, asks, and deletes them. Publishes nothing.

.PARAMETER Force
Also overwrites what stays otherwise: fields and assignments that were changed in Intune, and apps that a newer script
published. -Remove and -Register then ask nothing.

.PARAMETER PassThru
Returns an object for each app, with Tenant, Client, Name, AppId, Result, Changed, Seconds and Reason.

.PARAMETER AsJson
Writes the same as a JSON array to STDOUT, and everything else to STDERR. The script then shows no progress.

.PARAMETER LogPath
The log file. The default is in Platen\Logs in your local application data.

.EXAMPLE
powershell.exe -NoProfile -ExecutionPolicy Bypass -File .\publish.ps1 -WhatIf
Signs in and shows what would change.

.EXAMPLE
.\publish.ps1 -AssignTo 'Front office' -Intent available
Publishes, and offers the apps to that group in Company Portal.

.EXAMPLE
.\publish.ps1 -Tenants .\tenants.csv -ClientId 11111111-2222-3333-4444-555555555555 -CertificateThumbprint 0123456789ABCDEF0123456789ABCDEF01234567 -AsJson
Publishes to many tenants without a person.

.EXAMPLE
.\publish.ps1 -Remove -WhatIf
Lists the apps of records that were deleted in Platen.

.NOTES
Consent: an administrator (Cloud Application Administrator or higher) runs the script once, signs in, selects "Consent on behalf
of your organization" and accepts.
#>
[CmdletBinding(SupportsShouldProcess = $true)]
param(
    [ValidateSet('', 'Browser', 'DeviceCode', 'Certificate', 'Secret', 'ManagedIdentity', 'GraphSession')][string]$SignIn = '',
    [ValidatePattern('^[A-Za-z0-9.-]{0,255}$')][string]$Tenant = '',
    [ValidatePattern('^[A-Fa-f0-9-]{0,36}$')][string]$ClientId = '',
    [ValidatePattern('^([A-Fa-f0-9]{40})?$')][string]$CertificateThumbprint = '',
    [string]$CertificatePath = '',
    # Without a type, because PowerShell's message about a wrong type would show the value.
    [object]$CertificatePassword = $null,
    [object]$ClientSecret = $null,
    [object]$AccessToken = $null,
    [string]$Tenants = '',
    [switch]$Register,
    [string]$GraphUrl = 'https://graph.microsoft.com',
    [string]$LoginUrl = 'https://login.microsoftonline.com',
    [string]$Package = '',
    [string[]]$AssignTo = @(),
    [ValidateSet('required', 'available', 'uninstall')][string]$Intent = 'required',
    [string[]]$Exclude = @(),
    [string]$Filter = '',
    [ValidateSet('include', 'exclude')][string]$FilterMode = 'include',
    [ValidateSet('', 'showAll', 'showReboot', 'hideAll')][string]$Notifications = '',
    [ValidateSet('', 'notConfigured', 'foreground')][string]$DeliveryOptimization = '',
    [string[]]$ScopeTag = @(),
    [string]$Category = '',
    [switch]$Together,
    [switch]$Remove,
    [switch]$Force,
    [switch]$PassThru,
    [switch]$AsJson,
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
# Whether STDOUT is for JSON alone.
$script:IsJson = [bool]$AsJson
$script:ExitCode = 1
$script:IsInterrupted = $true
try {
    Open-Log (Get-LogPath $LogPath) 'publish.ps1'
    $AssignTo, $Exclude, $ScopeTag = @(Read-List $AssignTo), @(Read-List $Exclude), @(Read-List $ScopeTag)
    Test-Parameters $PSBoundParameters
    $script:Graph = Read-Address $GraphUrl '-GraphUrl'
    $script:Login = Read-Address $LoginUrl '-LoginUrl'
    Open-Http
    $targets = @(Get-Targets)
    Test-Targets $targets
    if ($Register) {
        Enter-Target @{ Part = $null; Client = ''; Tenant = @($Tenant, 'organizations' | Where-Object { $_ })[0]; ClientId = @($ClientId, $SharedClientId | Where-Object { $_ })[0]; Thumbprint = '' }
        Register-App
    }
    elseif ($Remove) {
        $names = @{}
        $each = @(foreach ($target in $targets) { if ($target.Tenant -and -not $names.ContainsKey($target.Tenant)) { $names[$target.Tenant] = $true; $target } })
        Invoke-ForTargets $each { param($Part) Remove-Leftovers $Part }
    }
    else { Invoke-ForTargets $targets { param($Part) Publish-Part $Part } }
    $script:ExitCode = Get-ExitCode
    Write-Result
    $script:IsInterrupted = $false
}
catch {
    $script:IsInterrupted = $false
    $script:ExitCode = 1
    Write-Failure "$_"
    if ($AsJson) { Write-Result }
}
finally {
    Close-Package
    Close-Http
    # After Ctrl+C, nothing behind this block runs.
    if ($script:IsInterrupted) { Stop-Interrupted }
    Write-Log "Ends with exit code $script:ExitCode"
    if ($script:Log) { Write-Person "Log: $script:Log" }
    else { Write-Person 'There is no log, because it cannot be written (-LogPath).' }
}
exit $script:ExitCode
