#<if subnets>
#region Where a printer belongs

#<if install>
$script:Away = ''
#</if>
$script:Addresses = $null

function Get-SiteDifference {
    # Why this machine is not where a printer belongs; $null where it is.
    param($Printer)
    if ($Printer.Subnets.Count -eq 0) { return $null }
    if ($null -eq $script:Addresses) { $script:Addresses = @(Get-MachineAddress) }
    $own = @($script:Addresses | ForEach-Object { ConvertTo-Bits $_ })
    foreach ($subnet in $Printer.Subnets) {
        $network, $length = $subnet -split '/'
        $bits = ConvertTo-Bits $network
        $start = $bits.Substring(0, $length)
        foreach ($other in $own) {
            if ($other.Length -eq $bits.Length -and $other.StartsWith($start, 'Ordinal')) { return $null }
        }
    }
    $found = Get-FirstOf $script:Addresses
    if (-not $found) { $found = 'no address' }
    return "not at this site ($($Printer.Name) belongs in $(Get-FirstOf $Printer.Subnets); this machine has $found)"
}

function Get-MachineAddress {
    # Of the network cards that are up, as texts. What says nothing of a place does not count: loopback, Windows' own
    # tunnels (Teredo, ISATAP, 6to4), link-local addresses, and 169.254, which stands for none.
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

function Get-FirstOf {
    param($Texts)
    $text = @($Texts | Select-Object -First 3) -join ', '
    if ($Texts.Count -gt 3) { $text = "$text and $($Texts.Count - 3) more" }
    return $text
}

#<if detect>
function Get-SkippedText {
    # The last line where none of the printers belongs here.
    param($Printers)
    #<if many>
    if ($Printers.Count -gt 1) { return "Skipped: not at this site (all $($Printers.Count) printers)" }
    #</if>
    return "Skipped: $(Get-SiteDifference $Printers[0])" -replace '\s+', ' '
}
#</if>

#endregion
#</if>
