### Markers
function Get-OtherMarker {
    # The markers of other printers on this machine.
    param($Printer)
    foreach ($child in @(Get-RegistryChild "$RegistryRoot\Printers")) {
        if ($child.Name -ne [string]$Printer.Id) { $child }
    }
}

function Remove-Marker {
    # The last step. Also removes keys that are empty then.
    param($Printer)
    $path = Get-MarkerPath $Printer
    if (Test-Path -LiteralPath $path) {
        Remove-RegistryKey $path
        Write-Change "marker $($Printer.Id) removed"
    }
    foreach ($name in 'Printers', 'Publishers', 'Ports') { Remove-EmptyKey "$RegistryRoot\$name" }
}
