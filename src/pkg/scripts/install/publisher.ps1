#<if publisher>
#region The driver's publisher

function Import-Publisher {
    # Opt-in, per driver: with its publisher trusted, Windows takes the package without a question that nobody
    # would be there to answer. Recorded before it is done, so that uninstall knows of it after an interrupted run.
    param($Driver, [string]$Folder)
    $record = "$script:PublishersKey\$($Driver.Sha256)"
    foreach ($catalog in $Driver.Catalogs) {
        $signer = Get-CatalogSigner -Path "$Folder\$catalog"
        if ($null -eq $signer) {
            Write-Log -Message "Warning: $catalog is not signed; no publisher was trusted."
            continue
        }
        $isOurs = (Get-RegistryValue -Path $record -Name $signer.Thumbprint) -eq 'added'
        if (-not $isOurs -and (Test-TrustedPublisher -Thumbprint $signer.Thumbprint)) {
            $null = Set-RegistryValue -Path $record -Name $signer.Thumbprint -Value 'was there'
            continue
        }
        $null = Set-RegistryValue -Path $record -Name $signer.Thumbprint -Value 'added'
        Add-TrustedPublisher -Certificate $signer
        Write-Change -Message "trusted publisher $($signer.Subject) ($($signer.Thumbprint)) added"
    }
}

function Get-CatalogSigner {
    # The certificate that signed a catalog; $null where it is not signed.
    param([string]$Path)
    $signature = Get-AuthenticodeSignature -FilePath $Path
    return $signature.SignerCertificate
}

function Test-TrustedPublisher {
    param([string]$Thumbprint)
    $store = Open-PublisherStore -Mode 'ReadOnly'
    try {
        return @($store.Certificates | Where-Object -FilterScript { $_.Thumbprint -eq $Thumbprint }).Count -gt 0
    }
    finally {
        $store.Close()
    }
}

function Add-TrustedPublisher {
    param($Certificate)
    $store = Open-PublisherStore -Mode 'ReadWrite'
    try {
        $store.Add($Certificate)
    }
    finally {
        $store.Close()
    }
}

#endregion
#</if>
