#region Markers

function Get-OtherMarker {
    # The markers of other printers that install deployed on this machine.
    param($Printer)
    foreach ($child in @(Get-RegistryChild -Path "$script:RegistryRoot\Printers")) {
        if ($child.Name -ne [string]$Printer.Id) { $child }
    }
}

function Remove-Marker {
    # Removes the marker last of all, and the keys that are empty then.
    param($Printer)
    $path = Get-MarkerPath -Printer $Printer
    if (Test-Path -LiteralPath $path) {
        Remove-RegistryKey -Path $path
        Write-Change -Message "marker $($Printer.Id) removed"
    }
    foreach ($name in 'Printers', 'Publishers', 'Ports') { Remove-EmptyKey -Path "$script:RegistryRoot\$name" }
}

#endregion
