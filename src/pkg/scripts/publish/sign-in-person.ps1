#region Signing in as a person

$SlowDownSeconds = 5
# How long the browser may take.
$BrowserSeconds = 300
# A connection that brings no request for so long is closed.
$ConnectionSeconds = 10
$MaxRequestBytes = 16384
$MaxConnections = 20

function Receive-DeviceCodeToken {
    # Shows a code, and asks until the person has typed it into a browser (OAuth 2.0, RFC 8628).
    $answer = Send-Form 'devicecode' @{ client_id = $script:Target.ClientId; scope = (Get-Scope) }
    $code = ConvertFrom-Answer $answer
    if ($answer.Status -ne 200 -or -not (Get-Field $code 'device_code')) { Stop-SignIn $answer $code }
    # Microsoft's words, in the language of the tenant.
    Write-Person ([string](Get-Field $code 'message'))
    Write-Step 'Waiting for you to sign in'
    $interval = 5
    if ("$(Get-Field $code 'interval')" -match '\A[0-9]{1,4}\z') { $interval = [Math]::Max(1, [int]$Matches[0]) }
    $lasts = 900
    if ("$(Get-Field $code 'expires_in')" -match '\A[0-9]{1,6}\z') { $lasts = [int]$Matches[0] }
    $fields = @{
        grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
        client_id = $script:Target.ClientId
        device_code = [string](Get-Field $code 'device_code')
    }
    $clock = [Diagnostics.Stopwatch]::StartNew()
    while ($clock.Elapsed.TotalSeconds -lt $lasts) {
        Start-Sleep -Milliseconds (1000 * $interval)
        $answer = Send-Form 'token' $fields
        $said = ConvertFrom-Answer $answer
        if ($answer.Status -eq 200) { return Set-Token $said }
        switch ([string](Get-Field $said 'error')) {
            'authorization_pending' { }
            'slow_down' { $interval += $SlowDownSeconds }
            'expired_token' { throw 'Nobody signed in before the code expired. Run the script again for a new one.' }
            default { Stop-SignIn $answer $said }
        }
    }
    throw 'Nobody signed in before the code expired. Run the script again for a new one.'
}

function Receive-BrowserToken {
    # Authorization code with PKCE (RFC 7636). The browser brings the code to a port of this PC (RFC 8252).
    $listeners = @(Open-Listener)
    try {
        $port = $listeners[0].LocalEndpoint.Port
        $wanted = @{ Redirect = "http://localhost:$port/"; Verifier = (Get-RandomText); State = (Get-RandomText); Nonce = (Get-RandomText) }
        $url = Get-AuthorizeUrl $wanted
        Write-Person "Sign in in the browser. If none opens, open this address:"
        Write-Person $url
        Open-Browser $url
        Write-Step 'Waiting for you to sign in'
        $reply = Receive-Redirect $listeners $wanted
    }
    finally { foreach ($listener in $listeners) { $listener.Stop() } }
    if (-not $reply['code']) { Stop-SignIn $null ([pscustomobject]$reply) }
    $said = Receive-TokenAnswer @{
        grant_type = 'authorization_code'
        client_id = $script:Target.ClientId
        code = $reply['code']
        redirect_uri = $wanted.Redirect
        code_verifier = $wanted.Verifier
        scope = (Get-Scope)
    }
    # The token came from Microsoft over TLS. The nonce shows that it is for this sign-in.
    $claims = Read-Claims ([string](Get-Field $said 'id_token'))
    if (-not [string]::Equals([string](Get-Field $claims 'nonce'), $wanted.Nonce, 'Ordinal')) { throw 'The sign-in was answered with the token of another sign-in. Run the script again.' }
}

function Open-Browser {
    # Not by Start-Process, which opens nothing with -WhatIf.
    param([string]$Url)
    $start = [Diagnostics.ProcessStartInfo]::new($Url)
    $start.UseShellExecute = $true
    try { $process = [Diagnostics.Process]::Start($start) }
    catch { return Write-Log 'No browser could be started' }
    if ($null -ne $process) { $process.Dispose() }
}

function Open-Listener {
    # On both loopback addresses, because a browser may try either for localhost.
    $first = [Net.Sockets.TcpListener]::new([Net.IPAddress]::Loopback, 0)
    $first.Start()
    $first
    try {
        $second = [Net.Sockets.TcpListener]::new([Net.IPAddress]::IPv6Loopback, $first.LocalEndpoint.Port)
        $second.Start()
        $second
    }
    catch { Write-Log 'No port on ::1' }
}

function Get-AuthorizeUrl {
    param($Wanted)
    $sha = [Security.Cryptography.SHA256]::Create()
    try { $challenge = ConvertTo-Base64Url $sha.ComputeHash([Text.Encoding]::ASCII.GetBytes($Wanted.Verifier)) }
    finally { $sha.Dispose() }
    $query = [ordered]@{
        client_id = $script:Target.ClientId
        response_type = 'code'
        redirect_uri = $Wanted.Redirect
        scope = (Get-Scope)
        state = $Wanted.State
        nonce = $Wanted.Nonce
        code_challenge = $challenge
        code_challenge_method = 'S256'
        prompt = 'select_account'
    }
    if ($script:Access.Claims) { $query.claims = $script:Access.Claims }
    $pairs = @($query.Keys | ForEach-Object { "${_}=$([Uri]::EscapeDataString($query[$_]))" })
    return "$($script:Login)/$($script:Target.Tenant)/oauth2/v2.0/authorize?$($pairs -join '&')"
}

function Receive-Redirect {
    # The fields of the one request that belongs to this sign-in. All others get 404. Browsers also open connections that
    # they never use, so none may keep the others waiting.
    param($Listeners, $Wanted)
    $connections = @()
    $clock = [Diagnostics.Stopwatch]::StartNew()
    try {
        while ($clock.Elapsed.TotalSeconds -lt $BrowserSeconds) {
            foreach ($listener in $Listeners) {
                while ($listener.Pending() -and $connections.Count -lt $MaxConnections) { $connections += @{ Client = $listener.AcceptTcpClient(); Text = ''; Clock = [Diagnostics.Stopwatch]::StartNew() } }
            }
            foreach ($connection in $connections) {
                $fields = Read-Redirect $connection $Wanted
                if ($null -ne $fields) { return $fields }
            }
            $connections = @($connections | Where-Object { $null -ne $_.Client })
            Start-Sleep -Milliseconds 50
        }
    }
    finally { foreach ($connection in $connections) { Close-Connection $connection } }
    throw "Nobody signed in within $([int]($BrowserSeconds / 60)) minutes. Run the script again. Where the browser cannot reach this PC, try -SignIn DeviceCode."
}

function Read-Redirect {
    # Reads what a connection has brought, and answers a whole request. Returns the fields if it belongs to this sign-in.
    param($Connection, $Wanted)
    $socket = $Connection.Client.Client
    try {
        if ($Connection.Clock.Elapsed.TotalSeconds -gt $ConnectionSeconds) { return Close-Connection $Connection }
        if ($socket.Available -eq 0) {
            $isClosed = $socket.Poll(0, [Net.Sockets.SelectMode]::SelectRead) -and $socket.Available -eq 0
            if ($isClosed) { Close-Connection $Connection }
            return
        }
        $buffer = New-Object 'byte[]' -ArgumentList $MaxRequestBytes
        $Connection.Text += [Text.Encoding]::ASCII.GetString($buffer, 0, $socket.Receive($buffer))
        if ($Connection.Text.Length -gt $MaxRequestBytes) { return Close-Connection $Connection }
        if (-not $Connection.Text.Contains("`r`n`r`n")) { return }
        $fields = ConvertFrom-Query $Connection.Text
        $isOurs = $null -ne $fields -and [string]::Equals($fields['state'], $Wanted.State, 'Ordinal') -and ($fields['code'] -or $fields['error'])
        Send-Page $Connection.Client $isOurs ($isOurs -and $fields['code'])
        Close-Connection $Connection
        if ($isOurs) { return $fields }
    }
    catch { Close-Connection $Connection }
}

function ConvertFrom-Query {
    # The query of a request for /, by name; $null for other requests. A name that comes twice makes it invalid.
    param([string]$Request)
    if ($Request -notmatch '\AGET /\?([\x21-\x7e]+) HTTP/1\.[01]\r\n') { return $null }
    $fields = @{}
    foreach ($pair in $Matches[1].Split('&')) {
        $name, $value = $pair.Split([char[]]'=', 2)
        if ($fields.ContainsKey($name)) { return $null }
        $fields[$name] = [Uri]::UnescapeDataString(([string]$value).Replace('+', ' '))
    }
    return $fields
}

function Send-Page {
    param($Client, [bool]$IsOurs, [bool]$IsSignedIn)
    $status, $text = '404 Not Found', 'This address takes only the answer of a sign-in.'
    if ($IsOurs) { $status, $text = '200 OK', 'The sign-in was refused. PowerShell says why. You can close this page.' }
    if ($IsSignedIn) { $text = 'You are signed in. You can close this page and go back to PowerShell.' }
    $page = "<!doctype html><html lang=`"en`"><meta charset=`"utf-8`"><title>Platen</title><p>$text</p></html>"
    $head = "HTTP/1.1 $status`r`nContent-Type: text/html; charset=utf-8`r`nContent-Length: $($page.Length)`r`nCache-Control: no-store`r`nReferrer-Policy: no-referrer`r`nConnection: close`r`n`r`n"
    $bytes = [Text.Encoding]::ASCII.GetBytes($head + $page)
    # The sign-in goes on if the browser has gone.
    try {
        $stream = $Client.GetStream()
        $stream.WriteTimeout = 2000
        $stream.Write($bytes, 0, $bytes.Length)
    }
    catch { Write-Log 'The browser took no answer' }
}

function Close-Connection {
    param($Connection)
    if ($null -ne $Connection.Client) { $Connection.Client.Close() }
    $Connection.Client = $null
}

#endregion
