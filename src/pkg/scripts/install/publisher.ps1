#<if publisher>
#region The driver's publisher

function Import-Publisher {
    # Opt-in, per driver: with its publisher trusted, Windows takes the package without a question that nobody
    # would be there to answer. Recorded before it is done, so that uninstall knows of it after an interrupted run.
    param($Driver, [string]$Folder)
    # The record says of each certificate that install relied on: "added", or "was there".
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

#endregion
#</if>
