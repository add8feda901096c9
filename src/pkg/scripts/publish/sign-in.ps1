#region Signing in

# A token is renewed when it ends within this time.
$RenewBeforeSeconds = 300
# The access to the current tenant: Way, Token, RefreshToken, Ends (UTC; $null if unknown), Claims, TenantId ('' if unknown).
$script:Access = $null

# Ways of signing in that a person takes part in, and the way to try when one is refused.
$PersonalWays = 'Browser', 'DeviceCode'
$OtherWay = @{
    Browser = 'Try -SignIn DeviceCode.'
    DeviceCode = 'Try -SignIn Browser.'
    Certificate = 'Try -SignIn Browser, which signs in a person.'
    Secret = 'Try -CertificateThumbprint instead of a secret, or -SignIn Browser.'
    ManagedIdentity = 'Try -CertificateThumbprint.'
    GraphSession = 'Run Connect-MgGraph again, or try -SignIn Browser.'
    AccessToken = 'Get a new token, or try -SignIn Browser.'
}

# What Microsoft's codes mean here (Microsoft Entra authentication and authorization error codes).
$SignInReasons = @{
    '50011' = 'the app registration lacks the redirect address http://localhost (platform "Mobile and desktop applications")'
    '50020' = 'the account does not exist in this tenant'
    '50076' = 'the tenant asks for a second factor'
    '50079' = 'the tenant asks for a second factor that this account has not set up'
    '50105' = 'the account is not assigned to this app in the tenant'
    '50199' = 'Microsoft asks for a confirmation, which this way of signing in cannot show'
    '53000' = 'Conditional Access asks for a compliant device'
    '53001' = 'Conditional Access asks for a joined device'
    '53003' = 'Conditional Access blocks this way of signing in'
    '530032' = 'the security policy of the tenant blocks this sign-in'
    '530033' = 'Conditional Access asks for a managed device'
    '65001' = 'nobody has consented to the permission in this tenant'
    '65004' = 'the person declined the consent'
    '700016' = 'the tenant does not know this app registration: an administrator has to consent to it first'
    '700027' = 'the certificate is not uploaded to the app registration'
    '700024' = 'the clock of this PC is wrong'
    '7000215' = 'the client secret is wrong'
    '7000218' = 'the app registration does not allow public client flows'
    '7000222' = 'the client secret has expired'
    '70018' = 'the code was typed wrongly'
    '90002' = 'there is no such tenant'
    '90094' = 'an administrator of the tenant has to consent'
}

function Connect-Graph {
    # Makes sure that there is a token that stays valid for some minutes.
    $access = $script:Access
    if ($null -ne $access -and ($null -eq $access.Ends -or ($access.Ends - [datetime]::UtcNow).TotalSeconds -gt $RenewBeforeSeconds)) { return }
    if ($null -ne $access -and (Update-Token)) { return }
    Receive-Access
}

function Receive-Access {
    # Signs in. $Claims: what Graph asked for when it refused a token, as JSON.
    param([string]$Claims = '')
    $way = Get-SignInWay
    $script:Access = @{ Way = $way; Token = ''; RefreshToken = ''; Ends = $null; Claims = $Claims; TenantId = '' }
    try {
        Receive-Token $way
        Test-Tenant
    }
    catch { $script:Access = $null; throw }
}

function Receive-Token {
    # Fills in the current access.
    param([string]$Way)
    switch ($Way) {
        'Browser' { Receive-BrowserToken }
        'DeviceCode' { Receive-DeviceCodeToken }
        'Certificate' { Receive-CertificateToken }
        'Secret' { Receive-SecretToken }
        'ManagedIdentity' { Receive-ManagedIdentityToken }
        'GraphSession' { Receive-GraphSession }
        'AccessToken' { Receive-GivenToken }
    }
}

function Get-SignInWay {
    # -SignIn, else what the parameters are for, else a browser where this PC can open one.
    if ($SignIn) { return $SignIn }
    if ($null -ne $AccessToken) { return 'AccessToken' }
    if ($null -ne $ClientSecret) { return 'Secret' }
    if ($script:Target.Thumbprint -or $CertificatePath) { return 'Certificate' }
    if (Test-Browser) { return 'Browser' }
    return 'DeviceCode'
}

function Test-Browser {
    # Whether this PC can open a browser for the person in front of it.
    if ($env:SSH_CONNECTION -or -not [Environment]::UserInteractive) { return $false }
    if ([IO.Path]::DirectorySeparatorChar -eq '\' -or (Test-Path -LiteralPath '/System/Library')) { return $true }
    return [bool]($env:DISPLAY -or $env:WAYLAND_DISPLAY)
}

function Update-Token {
    # Returns whether there is a new token. Without a person: by the refresh token, or by signing in again in the same way.
    $access = $script:Access
    if ($PersonalWays -notcontains $access.Way) {
        if ($access.Way -eq 'AccessToken' -and $AccessToken -isnot [scriptblock]) { return $false }
        Receive-Token $access.Way
        return $true
    }
    if (-not $access.RefreshToken) { return $false }
    $fields = @{ grant_type = 'refresh_token'; client_id = $script:Target.ClientId; refresh_token = $access.RefreshToken; scope = (Get-Scope) }
    if ($access.Claims) { $fields.claims = $access.Claims }
    $answer = Send-Form 'token' $fields
    if ($answer.Status -ne 200) {
        Write-Log "The token was not renewed: answer $($answer.Status) $(Get-SignInCode (ConvertFrom-Answer $answer))"
        return $false
    }
    $kept = $access.RefreshToken
    Set-Token (ConvertFrom-Answer $answer)
    if (-not $access.RefreshToken) { $access.RefreshToken = $kept }
    Write-Log 'The token was renewed'
    return $true
}

function Get-Scope {
    # For a person. Reading is enough for -WhatIf. Names of groups, filters and tags need permissions of their own.
    $url = [Uri]$script:Graph
    $names = @('DeviceManagementApps.ReadWrite.All')
    if ($WhatIfPreference) { $names = @('DeviceManagementApps.Read.All') }
    if ($Register) { $names = @('Application.ReadWrite.All') }
    else { $names += @(Get-NamePermission) }
    return (@($names | ForEach-Object { "$($url.Scheme)://$($url.Authority)/$_" }) -join ' ') + ' openid profile offline_access'
}

function Get-AppScope {
    # For an app without a person: all permissions that it has.
    $url = [Uri]$script:Graph
    return "$($url.Scheme)://$($url.Authority)/.default"
}

function Get-TokenUrl {
    return "$($script:Login)/$($script:Target.Tenant)/oauth2/v2.0/token"
}

function Send-Form {
    param([string]$What, $Fields, [int]$Tries = $MaxTries)
    $pairs = @($Fields.Keys | ForEach-Object { "${_}=$([Uri]::EscapeDataString($Fields[$_]))" })
    $body = New-HttpBody ([Text.Encoding]::ASCII.GetBytes($pairs -join '&')) 'application/x-www-form-urlencoded'
    return Send-Request 'POST' "$($script:Login)/$($script:Target.Tenant)/oauth2/v2.0/$What" @{ Accept = 'application/json' } $body @() $Tries
}

function Receive-TokenAnswer {
    # Asks for a token once. Throws what was refused.
    param($Fields)
    $answer = Send-Form 'token' $Fields
    $said = ConvertFrom-Answer $answer
    if ($answer.Status -ne 200) { Stop-SignIn $answer $said }
    Set-Token $said
    return $said
}

function Set-Token {
    param($Said)
    $access = $script:Access
    $access.Token = [string](Get-Field $Said 'access_token')
    $access.RefreshToken = [string](Get-Field $Said 'refresh_token')
    if ($access.Token -notmatch '\A[\x21-\x7e]+\z') { throw 'The sign-in was answered without a token.' }
    $access.Ends = $null
    if ("$(Get-Field $Said 'expires_in')" -match '\A[0-9]{1,7}\z') { $access.Ends = [datetime]::UtcNow.AddSeconds([int]$Matches[0]) }
}

function Receive-GivenToken {
    # The token of -AccessToken. A script block gets the tenant, and is asked again when its token ends or is refused.
    $given = $AccessToken
    if ($given -is [scriptblock]) {
        try { $given = @(& $given $script:Target.Tenant)[-1] }
        catch {
            # Its error may show the line of the script block, and with it a token.
            $kind = $_.Exception.GetType().Name
            if ($Error.Count -gt 0) { $Error.RemoveAt(0) }
            throw "The script block of -AccessToken failed ($kind). Run it alone to see why."
        }
    }
    if ($given -is [Security.SecureString]) { $given = ConvertFrom-Secret $given }
    $token = ([string]$given).Trim() -replace '^Bearer\s+'
    if ($token -notmatch '\A[\x21-\x7e]+\z') { throw '-AccessToken takes the token alone.' }
    $script:Access.Token = $token
    $ends = [string](Get-Field (Read-Claims $token) 'exp')
    if ($AccessToken -is [scriptblock] -and $ends -match '\A[0-9]{1,11}\z') { $script:Access.Ends = [DateTimeOffset]::FromUnixTimeSeconds([long]$ends).UtcDateTime }
}

function ConvertFrom-Secret {
    param([Security.SecureString]$Secret)
    return [Net.NetworkCredential]::new('', $Secret).Password
}

function Read-Claims {
    # The claims of a JSON Web Token (RFC 7519); $null where it is none. Only Microsoft checks its signature.
    param([string]$Token)
    try {
        $part = $Token.Split('.')[1].Replace('-', '+').Replace('_', '/')
        $bytes = [Convert]::FromBase64String($part.PadRight($part.Length + (4 - $part.Length % 4) % 4, '='))
        return ConvertFrom-Answer @{ Text = [Text.Encoding]::UTF8.GetString($bytes) }
    }
    catch { return $null }
}

function Write-Account {
    # Who signed in to which tenant.
    $claims = Read-Claims $script:Access.Token
    $who = @('upn', 'unique_name', 'app_displayname', 'appid' | ForEach-Object { [string](Get-Field $claims $_) } | Where-Object { $_ })[0]
    $tenantId = [string](Get-Field $claims 'tid')
    if (-not $tenantId) { return Write-Log "The token names no tenant ($($script:Access.Way))" }
    $script:Access.TenantId = $tenantId
    Write-Line "Signed in as $who, tenant $tenantId"
}

function Test-Tenant {
    # Throws if the token is for another tenant than the client's. Only Microsoft's sign-in gets the tenant with the request.
    Write-Account
    $wanted, $is = $script:Target.Tenant, $script:Access.TenantId
    if ($wanted -eq 'organizations' -or -not $is -or $script:Access.Way -notin 'AccessToken', 'ManagedIdentity', 'GraphSession') { return }
    if ($wanted -notmatch $GuidPattern) {
        $answer = Send-Request 'GET' "$($script:Login)/$wanted/v2.0/.well-known/openid-configuration" @{ Accept = 'application/json' } $null
        $issuer = [string](Get-Field (ConvertFrom-Answer $answer) 'issuer')
        if ($answer.Status -ne 200 -or $issuer -notmatch '[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}') { throw "Microsoft knows no tenant $wanted." }
        $wanted = $Matches[0]
    }
    if ($wanted -ne $is) { throw "The token is for the tenant $is, not for $($script:Target.Tenant)." }
}

function ConvertTo-Base64Url {
    param([byte[]]$Bytes)
    return [Convert]::ToBase64String($Bytes).TrimEnd('=').Replace('+', '-').Replace('/', '_')
}

function Get-RandomText {
    # 256 random bits in base64url.
    $bytes = New-Object 'byte[]' -ArgumentList 32
    $random = [Security.Cryptography.RandomNumberGenerator]::Create()
    try { $random.GetBytes($bytes) }
    finally { $random.Dispose() }
    return ConvertTo-Base64Url $bytes
}

function Get-SignInCode {
    # Microsoft's code, such as AADSTS53003, else OAuth's.
    param($Said)
    if ([string](Get-Field $Said 'error_description') -match 'AADSTS[0-9]{4,8}') { return $Matches[0] }
    return [string](Get-Field $Said 'error')
}

function Stop-SignIn {
    # Throws one sentence with the reason and the code, and one with the way to try next. $Answer: $null where a browser brought the refusal.
    param($Answer, $Said)
    $code = Get-SignInCode $Said
    $why = ''
    if ($code) { $why = $SignInReasons[($code -replace '\D')] }
    if ([string](Get-Field $Said 'error') -eq 'authorization_declined') { $why = 'the person declined the sign-in' }
    if (-not $why) { $why = ([string](Get-Field $Said 'error_description') -split '[\r\n]')[0] -replace '^AADSTS[0-9]+: *' }
    if (-not $why -and $null -ne $Answer) {
        $why = $Answer.Problem
        if ($Answer.Status) { $why = "answer $($Answer.Status)" }
    }
    $why = $why.TrimEnd('.')
    if ($code) { $why = "$why ($code)" }
    $way = $script:Access.Way
    $other = " $($OtherWay[$way])"
    # Another way does not help here.
    if (($code -replace '\D') -in '50020', '50105', '65001', '700016', '90002', '90094') { $other = '' }
    $what = 'was refused'
    if ($null -ne $Answer -and -not $Answer.Status) { $what = 'failed' }
    Stop-With "Signing in to $($script:Target.Tenant) by $way ${what}: $why.$other" @{ Fatal = $true }
}

#endregion
