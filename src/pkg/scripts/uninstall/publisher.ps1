### The driver's publisher

function Remove-Publisher {
    # Removes the certificates that install added to the trusted publishers. They stay while another printer has the same
    # driver. If another driver has the same publisher, that driver's record takes the certificate over.
    param($Printer, $Driver)
    foreach ($marker in @(Get-OtherMarker $Printer)) {
        if ($marker.Key.GetValue('DriverSha256') -eq $Driver.Sha256) { return }
    }
    $path = "$PublishersKey\$($Driver.Sha256)"
    $key = Get-Item -LiteralPath $path -ErrorAction SilentlyContinue
    if ($null -eq $key) { return }
    foreach ($thumbprint in @($key.GetValueNames())) {
        if ((Get-RegistryValue $path $thumbprint) -ne 'added') { continue }
        $others = @(Get-RegistryChild $PublishersKey | Where-Object {
                $_.Name -ne $Driver.Sha256 -and $null -ne $_.Key.GetValue($thumbprint)
            })
        if ($others.Count -gt 0) {
            Set-RegistryValue "$PublishersKey\$($others[0].Name)" $thumbprint 'added'
            continue
        }
        $store = Open-PublisherStore
        foreach ($known in @($store.Certificates | Where-Object Thumbprint -eq $thumbprint)) { $store.Remove($known) }
        $store.Close()
        Write-Change "trusted publisher $thumbprint removed"
    }
    Remove-RegistryKey $path
}
