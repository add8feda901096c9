#region Signing in as an app, without a person

$AssertionSeconds = 600
$MetadataUrl = 'http://169.254.169.254/metadata/identity/oauth2/token'

function Receive-SecretToken {
    $null = Receive-TokenAnswer @{
        grant_type = 'client_credentials'
        client_id = $script:Target.ClientId
        client_secret = (ConvertFrom-Secret $ClientSecret)
        scope = (Get-AppScope)
    }
}

function Receive-CertificateToken {
    # A JSON Web Token signed with the private key (RFC 7523, and Microsoft's "certificate credentials").
    $certificate = Get-Certificate
    try { $assertion = New-Assertion $certificate }
    finally { $certificate.Dispose() }
    $null = Receive-TokenAnswer @{
        grant_type = 'client_credentials'
        client_id = $script:Target.ClientId
        client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
        client_assertion = $assertion
        scope = (Get-AppScope)
    }
}

function New-Assertion {
    param($Certificate)
    $now = [DateTimeOffset]::UtcNow.ToUnixTimeSeconds()
    $sha = [Security.Cryptography.SHA256]::Create()
    try { $thumbprint = ConvertTo-Base64Url $sha.ComputeHash($Certificate.RawData) }
    finally { $sha.Dispose() }
    $head = [ordered]@{ alg = 'PS256'; typ = 'JWT'; 'x5t#S256' = $thumbprint }
    $claims = [ordered]@{
        aud = (Get-TokenUrl)
        iss = $script:Target.ClientId
        sub = $script:Target.ClientId
        jti = [guid]::NewGuid().ToString()
        nbf = $now
        exp = $now + $AssertionSeconds
    }
    $text = @($head, $claims | ForEach-Object { ConvertTo-Base64Url ([Text.Encoding]::UTF8.GetBytes((ConvertTo-Json -InputObject $_ -Compress))) }) -join '.'
    $key = [Security.Cryptography.X509Certificates.RSACertificateExtensions]::GetRSAPrivateKey($Certificate)
    if ($null -eq $key) { throw "The certificate '$($Certificate.Subject)' has no RSA key." }
    try { $signature = $key.SignData([Text.Encoding]::ASCII.GetBytes($text), [Security.Cryptography.HashAlgorithmName]::SHA256, [Security.Cryptography.RSASignaturePadding]::Pss) }
    catch { throw "The private key of '$($Certificate.Subject)' cannot sign with PS256: $($_.Exception.GetBaseException().Message)" }
    finally { $key.Dispose() }
    return "$text.$(ConvertTo-Base64Url $signature)"
}

function Get-Certificate {
    # From the target's thumbprint in Windows' stores, else from the file. The caller disposes it.
    if ($script:Target.Thumbprint) { $certificate = Find-Certificate $script:Target.Thumbprint }
    else { $certificate = Read-Certificate 'EphemeralKeySet' }
    $subject = $certificate.Subject
    if (-not $certificate.HasPrivateKey) { $certificate.Dispose(); throw "The certificate '$subject' is here without its private key." }
    if ($certificate.NotAfter -lt [datetime]::Now) { $certificate.Dispose(); throw "The certificate '$subject' has expired." }
    return $certificate
}

function Receive-ManagedIdentityToken {
    # The identity of an Azure machine, or of Automation and App Service, which set two variables. -ClientId names one of several.
    $url = [Uri]$script:Graph
    $query = "resource=$([Uri]::EscapeDataString("$($url.Scheme)://$($url.Authority)"))"
    if ($script:Target.ClientId -ne $SharedClientId) { $query += "&client_id=$($script:Target.ClientId)" }
    $address, $headers = "${MetadataUrl}?api-version=2018-02-01&$query", @{ Metadata = 'true' }
    if ($env:IDENTITY_ENDPOINT -and $env:IDENTITY_HEADER) {
        $address, $headers = "$($env:IDENTITY_ENDPOINT)?api-version=2019-08-01&$query", @{ 'X-IDENTITY-HEADER' = $env:IDENTITY_HEADER; Metadata = 'true' }
    }
    # These addresses are on this machine, so no proxy reaches them.
    $answer = Send-Directly 'GET' $address $headers
    $said = ConvertFrom-Answer $answer
    if ($answer.Status -ne 200) { Stop-SignIn $answer $said }
    Set-Token $said
}

function Receive-GraphSession {
    # The token of an existing Connect-MgGraph. The module renews it when it sends a request, whose header contains it.
    if ($null -eq (Get-Command -Name 'Invoke-MgGraphRequest' -ErrorAction SilentlyContinue)) { throw 'There is no Invoke-MgGraphRequest here. Install the module Microsoft.Graph.Authentication, or try -SignIn Browser.' }
    if ($null -eq (Get-MgContext)) { throw 'There is no Graph session. Run Connect-MgGraph first, or try -SignIn Browser.' }
    $url = "$($script:Graph)/beta/deviceAppManagement/mobileApps?`$top=1"
    $token = ''
    try {
        $response = Invoke-MgGraphRequest -Method GET -Uri $url -OutputType HttpResponseMessage -SkipHttpErrorCheck
        try { $token = [string]$response.RequestMessage.Headers.Authorization.Parameter }
        finally { $response.Dispose() }
    }
    catch { throw "The Graph session did not answer: $($_.Exception.Message)" }
    Set-Token @{ access_token = $token }
}

#endregion
