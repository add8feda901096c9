#<if install|detect|diagnose|arm64>
#<if package|apart|arm64>
#region The machine's architecture

function Get-MachineArchitecture {
    # The machine's own, whatever this process is: an x64 process on ARM64 sees itself on x64.
    $key = 'HKLM:\SYSTEM\CurrentControlSet\Control\Session Manager\Environment'
    $name = Get-RegistryValue $key 'PROCESSOR_ARCHITECTURE'
    if (-not $name) { $name = $env:PROCESSOR_ARCHITECTURE }
    return ([string]$name).ToLowerInvariant()
}

#<if arm64>
function Resolve-Driver {
    # ARM64 machines take the second driver of each printer that has one: from here on it is the printer's only one.
    if ((Get-MachineArchitecture) -ne 'arm64') { return }
    foreach ($printer in $Settings.Printers) {
        if (-not $printer.Arm64DriverKey) { continue }
        $printer.DriverKey = $printer.Arm64DriverKey
        $printer.DriverName = $printer.Arm64DriverName
    }
}

Resolve-Driver

#</if>
#endregion
#</if>
#</if>
