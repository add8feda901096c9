#region Certificates

function Get-StoredCertificate {
    # All certificates in the personal stores of this user and this PC.
    foreach ($place in 'CurrentUser', 'LocalMachine') {
        $store = [Security.Cryptography.X509Certificates.X509Store]::new('My', [Security.Cryptography.X509Certificates.StoreLocation]$place)
        try {
            $store.Open('ReadOnly, OpenExistingOnly')
            $store.Certificates
        }
        catch { Write-Log "The store $place is not readable" }
        finally { $store.Dispose() }
    }
}

function Find-Certificate {
    param([string]$Thumbprint)
    $all = @(Get-StoredCertificate | Where-Object { $_.Thumbprint -eq $Thumbprint })
    # A certificate without its key does not hide one with it.
    $best = @(@($all | Where-Object { $_.HasPrivateKey }) + $all)[0]
    if ($null -ne $best) { return $best }
    throw "There is no certificate $Thumbprint in the personal stores of this user and this PC."
}

function Read-Certificate {
    # A PFX file. With EphemeralKeySet, the key stays in memory. Windows signs scripts only with keys of the user's key store,
    # where the key stays until the certificate is disposed.
    param([string]$KeySet)
    $path = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($CertificatePath)
    if (-not [IO.File]::Exists($path)) { throw "-CertificatePath: there is no file $path." }
    # macOS keeps no key in memory.
    if (Test-Path -LiteralPath '/System/Library') { $KeySet = 'DefaultKeySet' }
    $password = $CertificatePassword
    if ($null -eq $password) { $password = [Security.SecureString]::new() }
    try { return [Security.Cryptography.X509Certificates.X509Certificate2]::new($path, $password, [Security.Cryptography.X509Certificates.X509KeyStorageFlags]$KeySet) }
    catch { throw "-CertificatePath: $path cannot be opened. Is -CertificatePassword right? ($($_.Exception.GetBaseException().Message))" }
}

#endregion
