function Test-InSubnet {
    # Whether one of the addresses is in one of the subnets.
    param([string[]]$Subnets, [string[]]$Addresses)
    $own = @($Addresses | ForEach-Object { ConvertTo-Bits $_ })
    foreach ($subnet in $Subnets) {
        $network, $length = $subnet -split '/'
        $bits = ConvertTo-Bits $network
        $start = $bits.Substring(0, $length)
        foreach ($other in $own) {
            if ($other.Length -eq $bits.Length -and $other.StartsWith($start, 'Ordinal')) { return $true }
        }
    }
    return $false
}

function Get-MachineAddress {
    # The addresses of all active network cards. Loopback, tunnels (Teredo, ISATAP, 6to4) and link-local addresses say
    # nothing of a place.
    foreach ($card in [Net.NetworkInformation.NetworkInterface]::GetAllNetworkInterfaces()) {
        if ([string]$card.OperationalStatus -ne 'Up' -or [string]$card.NetworkInterfaceType -in 'Loopback', 'Tunnel') { continue }
        foreach ($entry in $card.GetIPProperties().UnicastAddresses) {
            $address = [string]$entry.Address
            if (-not $entry.Address.IsIPv6LinkLocal -and $address -notlike '169.254.*') { $address }
        }
    }
}

function ConvertTo-Bits {
    param([string]$Address)
    $bytes = [Net.IPAddress]::Parse($Address).GetAddressBytes()
    return -join @($bytes | ForEach-Object { [Convert]::ToString($_, 2).PadLeft(8, '0') })
}
