#<if install|detect|diagnose|arm64>
#<if package|apart|arm64>
function Get-MachineArchitecture {
    # The architecture of the machine. An x64 process on ARM64 would see x64 in its own environment.
    $key = 'HKLM:\SYSTEM\CurrentControlSet\Control\Session Manager\Environment'
    return ([string](Get-RegistryValue $key 'PROCESSOR_ARCHITECTURE')).ToLowerInvariant()
}

#<if arm64>
function Resolve-Driver {
    # On ARM64, the second driver of a printer replaces the first.
    if ((Get-MachineArchitecture) -ne 'arm64') { return }
    foreach ($printer in $Settings.Printers) {
        if (-not $printer.Arm64DriverKey) { continue }
        $printer.DriverKey = $printer.Arm64DriverKey
        $printer.DriverName = $printer.Arm64DriverName
    }
}

Resolve-Driver
#</if>
#</if>
#</if>
