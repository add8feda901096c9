#<if package|windows|apart|diagnose>
#region Windows protected print mode

function Test-ProtectedPrint {
    # It takes no third-party driver at all.
    $path = 'HKLM:\SOFTWARE\Policies\Microsoft\Windows NT\Printers\WPP'
    $names = 'WindowsProtectedPrintGroupPolicyState', 'WindowsProtectedPrintMode'
    return @($names | Where-Object { (Get-RegistryValue $path $_) -eq 1 }).Count -gt 0
}

#endregion
#</if>
