#region The driver's publisher

function Remove-Publisher {
    # Removes the certificates that install added to the trusted publishers, unless another printer of the same
    # driver is still deployed. Where another driver has the same publisher, removing it becomes that one's task.
    param($Printer, $Driver)
    foreach ($marker in @(Get-OtherMarker -Printer $Printer)) {
        if ($marker.Key.GetValue('DriverSha256') -eq $Driver.Sha256) { return }
    }
    $path = "$script:PublishersKey\$($Driver.Sha256)"
    $key = Get-Item -LiteralPath $path -ErrorAction SilentlyContinue
    if ($null -eq $key) { return }
    foreach ($thumbprint in @($key.GetValueNames())) {
        if ((Get-RegistryValue -Path $path -Name $thumbprint) -ne 'added') { continue }
        $others = @(Get-RegistryChild -Path $script:PublishersKey | Where-Object -FilterScript {
                $_.Name -ne $Driver.Sha256 -and $null -ne $_.Key.GetValue($thumbprint)
            })
        if ($others.Count -gt 0) {
            $null = Set-RegistryValue -Path "$script:PublishersKey\$($others[0].Name)" -Name $thumbprint -Value 'added'
            continue
        }
        Remove-TrustedPublisher -Thumbprint $thumbprint
        Write-Change -Message "trusted publisher $thumbprint removed"
    }
    Remove-RegistryKey -Path $path
}

function Remove-TrustedPublisher {
    param([string]$Thumbprint)
    $store = Open-PublisherStore -Mode 'ReadWrite'
    try {
        foreach ($known in @($store.Certificates)) {
            if ($known.Thumbprint -eq $Thumbprint) { $store.Remove($known) }
        }
    }
    finally {
        $store.Close()
    }
}

#endregion
