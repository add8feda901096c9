#<if package|windows|apart|diagnose>
#region Windows protected print mode

function Test-ProtectedPrint {
    # It takes no third-party driver at all.
    $path = 'HKLM:\SOFTWARE\Policies\Microsoft\Windows NT\Printers\WPP'
    foreach ($name in 'WindowsProtectedPrintGroupPolicyState', 'WindowsProtectedPrintMode') {
        if ((Get-RegistryValue -Path $path -Name $name) -eq 1) { return $true }
    }
    return $false
}

#endregion
#</if>
