#region The machine

function Assert-Machine {
    # Ends the work on a printer whose driver this machine cannot take.
    param($Driver)
    if (Test-ProtectedPrint) {
        Stop-Run -Message ('Windows protected print mode is on: this machine takes no printer driver. ' +
            'Switch the mode off by policy, or use the IPP class driver.')
    }
    $machine = Get-MachineArchitecture
    if ($Driver.Architectures -notcontains $machine) {
        $message = "This machine is $machine; the driver is made for $($Driver.Architectures -join ', ')."
        if ($machine -eq 'arm64') { $message += ' A driver for ARM64 can be chosen in Platen, in the printer''s form.' }
        Stop-Run -Message $message
    }
}

function Test-ProtectedPrint {
    # Windows protected print mode takes no third-party driver at all.
    $path = 'HKLM:\SOFTWARE\Policies\Microsoft\Windows NT\Printers\WPP'
    foreach ($name in 'WindowsProtectedPrintGroupPolicyState', 'WindowsProtectedPrintMode') {
        if ((Get-RegistryValue -Path $path -Name $name) -eq 1) { return $true }
    }
    return $false
}

#endregion
