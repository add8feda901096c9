#<if publisher|uninstall>
#region Trusted publishers

# By driver package, the certificates that install relied on: "added", or "was there".
$script:PublishersKey = "$script:RegistryRoot\Publishers"

function Open-PublisherStore {
    # The machine's trusted publishers, never its roots.
    param([string]$Mode)
    $store = New-Object -TypeName Security.Cryptography.X509Certificates.X509Store -ArgumentList 'TrustedPublisher', 'LocalMachine'
    $store.Open($Mode)
    return $store
}

#endregion
#</if>
