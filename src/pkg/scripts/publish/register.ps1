#region An app registration of the shop's own

$GraphAppId = '00000003-0000-0000-c000-000000000000'
$RegisteredPermission = 'DeviceManagementApps.ReadWrite.All'
$RegistrationName = 'Platen publish'

function Register-App {
    # Makes an app registration for signing in as a person: without a secret, for any tenant whose administrator consents.
    Connect-Graph
    $url = [Uri]$script:Graph
    $query = [Uri]::EscapeDataString("appId eq '$GraphAppId'")
    $graph = @(Get-GraphList "/v1.0/servicePrincipals?`$select=id,oauth2PermissionScopes&`$filter=$query" 'look for Microsoft Graph' @())[0]
    $scope = @(Get-List $graph 'oauth2PermissionScopes' | Where-Object { [string](Get-Field $_ 'value') -eq $RegisteredPermission })[0]
    if ($null -eq $scope) { throw "This tenant does not know the permission $RegisteredPermission of Microsoft Graph." }
    $there = @(Get-GraphList "/v1.0/applications?`$select=id,appId,displayName&`$filter=$([Uri]::EscapeDataString("displayName eq '$RegistrationName'"))" 'list the app registrations' @())
    if ($there.Count -gt 0) {
        Write-Line "This tenant already has the app registration '$RegistrationName': use -ClientId $(Get-Field $there[0] 'appId')."
        return Add-Row $RegistrationName 'Unchanged' -AppId ([string](Get-Field $there[0] 'appId'))
    }
    Write-Line "This makes an app registration in the tenant that you signed in to:"
    Write-Line "  Name:        $RegistrationName"
    Write-Line "  Sign-in:     a person, in the browser of this PC (redirect http://localhost), or with a device code"
    Write-Line "  Tenants:     any, each after the consent of its administrator"
    Write-Line "  Permission:  $RegisteredPermission (delegated), and nothing else"
    Write-Line "  Secrets:     none"
    if (-not $script:Run.ShouldProcess($RegistrationName, 'Make an app registration')) { return Add-Row $RegistrationName 'Pending' }
    if (-not $Force -and -not (Read-Consent 'Make this app registration?' 'App registration')) { return Add-Row $RegistrationName 'Pending' -Reason 'declined' }
    $wanted = @{
        displayName = $RegistrationName
        signInAudience = 'AzureADMultipleOrgs'
        isFallbackPublicClient = $true
        publicClient = @{ redirectUris = @('http://localhost') }
        requiredResourceAccess = @(@{ resourceAppId = $GraphAppId; resourceAccess = @(@{ id = [string](Get-Field $scope 'id'); type = 'Scope' }) })
    }
    $made = Invoke-Graph 'POST' '/v1.0/applications' $wanted @{ Doing = 'make the app registration'; Tries = 1 }
    $id = [string](Get-Field $made 'appId')
    if ($id -notmatch $GuidPattern) { throw 'Graph answered without the id of the app registration.' }
    Add-Row $RegistrationName 'Created' -AppId $id
    Write-Line "From now on use -ClientId $id."
    $scope = [Uri]::EscapeDataString((@('DeviceManagementApps.ReadWrite.All', 'DeviceManagementApps.Read.All' | ForEach-Object { "$($url.Scheme)://$($url.Authority)/$_" }) -join ' '))
    Write-Line "Consent: an administrator of each tenant opens this address once, with the tenant's id or domain for TENANT, and accepts:"
    Write-Line "$($script:Login)/TENANT/v2.0/adminconsent?client_id=$id&scope=$scope&redirect_uri=http%3A%2F%2Flocalhost"
    Write-Line "The address also names DeviceManagementApps.Read.All, which -WhatIf asks for. Afterwards the browser shows that it cannot open localhost. That is right."
    Write-Line "It allows people who may manage apps in Intune to do so with this script. It gives no rights to anyone else, and none to Platen."
}

#endregion
