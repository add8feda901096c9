#region Parameters

# The parameters that -Remove and -Register do without.
$PublishingParameters = 'Package', 'AssignTo', 'Intent', 'Exclude', 'Filter', 'FilterMode', 'Notifications', 'DeliveryOptimization', 'ScopeTag', 'Category', 'Together'

function Test-Parameters {
    # Throws if parameters contradict each other, so that none is ignored.
    param($Given)
    foreach ($name in 'Remove', 'Register') {
        if (-not $Given.ContainsKey($name)) { continue }
        $other = @($PublishingParameters | Where-Object { $Given.ContainsKey($_) })[0]
        if ($other) { throw "-$name publishes nothing. Run it without -$other." }
    }
    if ($Register -and ($Remove -or $Tenants -or $null -ne $AccessToken -or $null -ne $ClientSecret -or $CertificatePath -or $CertificateThumbprint)) {
        throw '-Register needs a person who signs in: use it with -SignIn Browser or DeviceCode and -Tenant alone.'
    }
    foreach ($name in 'Intent', 'Exclude', 'Filter', 'Notifications', 'DeliveryOptimization') {
        if ($Given.ContainsKey($name) -and $AssignTo.Count -eq 0) { throw "-$name is for the assignments of -AssignTo. Use -AssignTo too." }
    }
    if ($Given.ContainsKey('FilterMode') -and -not $Filter) { throw '-FilterMode is for -Filter. Use -Filter too.' }
    if ($Intent -eq 'available' -and $AssignTo -contains 'AllDevices') { throw 'Intune offers apps to users only. Use -Intent required for AllDevices, or -AssignTo AllUsers.' }
    if ($Given.ContainsKey('AssignTo') -and $AssignTo.Count -eq 0) { throw '-AssignTo is empty.' }
    if ($Tenant -and $Settings.IsForAll -and -not $Tenants -and -not $Register) { throw '-Tenant is for the script of one client. Enter the tenants of the clients in Platen, or use -Tenants.' }
    if ($AsJson -and $PassThru) { throw 'Use -AsJson or -PassThru, not both.' }
    if ($AsJson -and ($Register -or [bool]$Given['Confirm'])) { throw '-AsJson asks no questions. Run the script without -Register and -Confirm.' }
    if ($AsJson -and $Remove -and -not $Force -and -not $WhatIfPreference) { throw '-AsJson asks no questions. Use -Remove with -Force or -WhatIf.' }
    if ($Package) {
        $path = Get-PackagePath
        if (-not [IO.File]::Exists($path) -and -not [IO.Directory]::Exists($path)) { throw "-Package: there is no file or folder $path." }
    }
    Test-SignInParameters $Given
}

function Test-SignInParameters {
    # Values of secrets are never part of a message.
    param($Given)
    foreach ($name in 'ClientSecret', 'CertificatePassword') {
        if ($null -ne $Given[$name] -and $Given[$name] -isnot [Security.SecureString]) { throw "-$name takes a SecureString: (Read-Host -AsSecureString)." }
    }
    $ways = @()
    if ($null -ne $AccessToken) { $ways += 'AccessToken' }
    if ($null -ne $ClientSecret) { $ways += 'ClientSecret' }
    if ($CertificateThumbprint) { $ways += 'CertificateThumbprint' }
    if ($CertificatePath) { $ways += 'CertificatePath' }
    if ($ways.Count -gt 1) { throw "Use only one of -$($ways -join ' and -')." }
    $needed = @{ Secret = 'ClientSecret'; Certificate = 'CertificateThumbprint', 'CertificatePath' }
    if ($SignIn -and $ways.Count -eq 1 -and $needed[$SignIn] -notcontains $ways[0]) { throw "-$($ways[0]) is not for -SignIn $SignIn." }
    if ($SignIn -eq 'Secret' -and $ways.Count -eq 0) { throw '-SignIn Secret needs -ClientSecret.' }
    if ($SignIn -eq 'Certificate' -and $ways.Count -eq 0 -and -not $Tenants) { throw '-SignIn Certificate needs -CertificateThumbprint or -CertificatePath.' }
    if ($null -ne $CertificatePassword -and -not $CertificatePath) { throw '-CertificatePassword is for -CertificatePath.' }
    if ($null -ne $AccessToken -and $AccessToken -isnot [scriptblock]) {
        foreach ($name in 'Tenant', 'ClientId', 'Tenants') {
            if ($Given.ContainsKey($name)) { throw "A token is for one tenant and one app registration. Use -AccessToken or -$name, not both." }
        }
    }
}

function Test-Targets {
    # Throws if a way of signing in cannot reach all tenants.
    param($Targets)
    $places = @($Targets | ForEach-Object { $_.Tenant } | Where-Object { $_ } | Select-Object -Unique)
    $isToken = $null -ne $AccessToken -and $AccessToken -isnot [scriptblock]
    if ($places.Count -gt 1 -and ($isToken -or $SignIn -in 'ManagedIdentity', 'GraphSession')) { throw "This way of signing in is for one tenant, and the clients are in $($places.Count) tenants. Use -AccessToken with a script block, which gets the tenant, or a certificate." }
    foreach ($target in $Targets) {
        if ($SignIn -eq 'Certificate' -and $target.Tenant -and -not $target.Thumbprint -and -not $CertificatePath) { throw "-SignIn Certificate needs a certificate for $($target.Client): -CertificateThumbprint, -CertificatePath or the column certificate_thumbprint." }
        $isApp = $null -ne $ClientSecret -or $target.Thumbprint -or $CertificatePath
        if (-not $isApp -or -not $target.Tenant) { continue }
        if ($target.Tenant -eq 'organizations' -or $target.ClientId -eq $SharedClientId) { throw 'A certificate or a secret needs -Tenant and -ClientId, the app registration that it belongs to.' }
    }
}

function Read-Address {
    param([string]$Text, [string]$Parameter)
    if (-not (Test-SafeUrl $Text)) { throw "$Parameter takes an address that begins with https://." }
    return $Text.TrimEnd('/')
}

function Read-List {
    # The items of a parameter. powershell.exe -File passes a list as one text with commas.
    param([string[]]$Texts)
    foreach ($text in $Texts) {
        foreach ($part in $text.Split(',')) { if ($part.Trim()) { $part.Trim() } }
    }
}

#endregion
