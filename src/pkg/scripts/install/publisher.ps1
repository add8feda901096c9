#<if publisher>
### The driver's publisher

function Import-Publisher {
    # Trusts the publisher, so that Windows does not ask about the package. Notes it first, for uninstall.
    param($Driver, [string]$Folder)
    # A value for each certificate: "added", or "was there".
    $record = "$PublishersKey\$($Driver.Sha256)"
    $store = Open-PublisherStore
    foreach ($catalog in $Driver.Catalogs) {
        $signer = (Get-AuthenticodeSignature -LiteralPath "$Folder\$catalog").SignerCertificate
        if ($null -eq $signer) {
            Write-Log "Warning: $catalog is not signed; no publisher was trusted."
            continue
        }
        $isThere = @($store.Certificates | Where-Object Thumbprint -eq $signer.Thumbprint).Count -gt 0
        if ($isThere -and (Get-RegistryValue $record $signer.Thumbprint) -ne 'added') {
            Set-RegistryValue $record $signer.Thumbprint 'was there'
            continue
        }
        Set-RegistryValue $record $signer.Thumbprint 'added'
        $store.Add($signer)
        Write-Change "trusted publisher $($signer.Subject) ($($signer.Thumbprint)) added"
    }
    $store.Close()
}
#</if>
