function Assert-Machine {
    # Ends the work on a printer if this machine does not accept its driver.
    param($Driver)
    #<if ipp>
    if ($Driver.Origin -eq 'ipp') {
        # Windows 10, and Windows Server before 2022, may lack this parameter.
        if ((Get-Command -Name 'Add-Printer' -ErrorAction Stop).Parameters.ContainsKey('IppURL')) { return }
        Stop-Run ('This Windows adds no IPP queues (Add-Printer has no -IppURL): ' +
            'Windows 11 and Windows Server 2022 and later do, and some builds of Windows 10.')
    }
    #</if>
    #<if package|windows|apart>
    if (Test-ProtectedPrint) {
        Stop-Run ('Windows protected print mode is on: this machine takes no printer driver. ' +
            'Switch the mode off by policy, or use the IPP class driver.')
    }
    #</if>
    #<if package|apart>
    #<if windows>
    if ($Driver.Origin -eq 'windows') { return }
    #</if>
    $machine = Get-MachineArchitecture
    if ($Driver.Architectures -notcontains $machine) {
        $made = ($Driver.Architectures -join ', ') -replace '^$', 'machines that its INF does not name'
        $hint = if ($machine -eq 'arm64') { ' A driver for ARM64 can be chosen in Platen, in the printer''s form.' }
        Stop-Run "This machine is $machine; the driver is made for $made.$hint"
    }
    #</if>
}
