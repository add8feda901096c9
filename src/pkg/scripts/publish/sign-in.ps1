#region Signing in (OAuth 2.0 device code, RFC 8628)

$SlowDownSeconds = 5
$script:Token = ''
$script:RefreshToken = ''

function Connect-Graph {
    if ($script:Token) { return }
    Receive-FirstToken
    Write-Account
}

function Receive-FirstToken {
    $given = $AccessToken
    if ($given -is [Security.SecureString]) { $given = [Net.NetworkCredential]::new('', $given).Password }
    if ($given) {
        $script:Token = ([string]$given).Trim() -replace '^Bearer\s+'
        if ($script:Token -notmatch '^[\x21-\x7e]+$') { throw '-AccessToken takes the token alone.' }
        return
    }
    $code = Get-DeviceCode
    # As Microsoft words it, in the language of the tenant.
    Write-Host ([string](Get-Field $code 'message') -replace $Unprintable, ' ')
    Write-Step 'Waiting for you to sign in'
    Receive-Token $code
}

function Write-Account {
    # Whose tenant this is, for whoever looks after several. Tokens of Microsoft's say so, as JSON Web Tokens (RFC 7519); one
    # that does not is none the worse.
    try {
        $part = $script:Token.Split('.')[1].Replace('-', '+').Replace('_', '/')
        $bytes = [Convert]::FromBase64String($part.PadRight($part.Length + (4 - $part.Length % 4) % 4, '='))
        $claims = ConvertFrom-Json -InputObject ([Text.Encoding]::UTF8.GetString($bytes))
        $who = @('upn', 'unique_name', 'app_displayname' | ForEach-Object { [string](Get-Field $claims $_) } | Where-Object { $_ })[0]
        $tenantId = [string](Get-Field $claims 'tid')
    }
    catch {
        Write-Log 'The token does not say whose it is'
        return
    }
    if ($tenantId) { Write-Line "Signed in as $who, tenant $tenantId" }
}

function Get-Scope {
    # Of Graph's address without a path. With offline_access a token can be renewed: uploads may take longer than one lasts.
    $url = [Uri]$script:Graph
    return "$($url.Scheme)://$($url.Authority)/DeviceManagementApps.ReadWrite.All offline_access"
}

function Get-DeviceCode {
    $answer = Send-Form 'devicecode' @{ client_id = $ClientId; scope = (Get-Scope) }
    $code = ConvertFrom-Answer $answer
    if ($answer.Status -ne 200 -or -not (Get-Field $code 'device_code')) { Stop-SignIn $answer $code }
    return $code
}

function Send-Form {
    param([string]$What, $Fields, [int]$Tries = $MostTries)
    $pairs = @($Fields.Keys | ForEach-Object { "${_}=$([Uri]::EscapeDataString($Fields[$_]))" })
    $body = New-HttpBody ([Text.Encoding]::ASCII.GetBytes($pairs -join '&')) 'application/x-www-form-urlencoded'
    return Send-Request 'POST' "$($script:Login)/$Tenant/oauth2/v2.0/$What" @{ Accept = 'application/json' } $body @() $Tries
}

function Receive-Token {
    # Asks until the person has signed in, or has not.
    param($Code)
    $interval = 5
    if ("$(Get-Field $Code 'interval')" -match '^[0-9]{1,4}$') { $interval = [Math]::Max(1, [int]$Matches[0]) }
    $lasts = 900
    if ("$(Get-Field $Code 'expires_in')" -match '^[0-9]{1,6}$') { $lasts = [int]$Matches[0] }
    $fields = @{
        grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
        client_id = $ClientId
        device_code = [string](Get-Field $Code 'device_code')
    }
    $clock = [Diagnostics.Stopwatch]::StartNew()
    while ($clock.Elapsed.TotalSeconds -lt $lasts) {
        Start-Sleep -Milliseconds (1000 * $interval)
        $answer = Send-Form 'token' $fields
        $said = ConvertFrom-Answer $answer
        if ($answer.Status -eq 200) { return Set-Token $said }
        $problem = [string](Get-Field $said 'error')
        if ($problem -eq 'slow_down') { $interval += $SlowDownSeconds }
        elseif ($problem -ne 'authorization_pending') { Stop-SignIn $answer $said }
    }
    throw 'Nobody signed in before the code expired. Run the script again for a new one.'
}

function Set-Token {
    param($Said)
    $script:Token = [string](Get-Field $Said 'access_token')
    $script:RefreshToken = [string](Get-Field $Said 'refresh_token')
    if (-not $script:Token) { throw 'The sign-in was answered without a token.' }
}

function Update-Token {
    # Whether there is a new token in place of one that is over.
    if (-not $script:RefreshToken) { return $false }
    $fields = @{ grant_type = 'refresh_token'; client_id = $ClientId; refresh_token = $script:RefreshToken; scope = (Get-Scope) }
    $answer = Send-Form 'token' $fields
    if ($answer.Status -ne 200) { return $false }
    $kept = $script:RefreshToken
    Set-Token (ConvertFrom-Answer $answer)
    if (-not $script:RefreshToken) { $script:RefreshToken = $kept }
    Write-Log 'The token was renewed'
    return $true
}

function Stop-SignIn {
    param($Answer, $Said)
    switch ([string](Get-Field $Said 'error')) {
        'expired_token' { throw 'Nobody signed in before the code expired. Run the script again for a new one.' }
        'authorization_declined' { throw 'The sign-in was declined in the browser.' }
        'access_denied' { throw 'The sign-in was declined in the browser.' }
    }
    $why = $Answer.Problem
    if (-not $why) { $why = "answer $($Answer.Status)" }
    if (Get-Field $Said 'error') { $why = "$(Get-Field $Said 'error'): $(Get-Field $Said 'error_description')" }
    throw "Signing in at $($script:Login) failed: $why. Where it is blocked, as by Conditional Access, give a token that you got in another way with -AccessToken."
}

#endregion
