#<if publisher|uninstall>
#region Trusted publishers

$PublishersKey = "$RegistryRoot\Publishers"

function Open-PublisherStore {
    # The machine's trusted publishers, never its roots.
    $store = [Security.Cryptography.X509Certificates.X509Store]::new('TrustedPublisher', 'LocalMachine')
    $store.Open('ReadWrite')
    return $store
}

#endregion
#</if>
