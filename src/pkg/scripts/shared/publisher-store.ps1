#<if publisher|uninstall>
### Trusted publishers

$PublishersKey = "$RegistryRoot\Publishers"

function Open-PublisherStore {
    # The machine's trusted publishers, never its trusted roots.
    $store = [Security.Cryptography.X509Certificates.X509Store]::new('TrustedPublisher', 'LocalMachine')
    $store.Open('ReadWrite')
    return $store
}
#</if>
