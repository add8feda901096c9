#<if package|windows|apart|diagnose>
function Test-ProtectedPrint {
    # Windows protected print mode accepts no third-party driver.
    $path = 'HKLM:\SOFTWARE\Policies\Microsoft\Windows NT\Printers\WPP'
    $names = 'WindowsProtectedPrintGroupPolicyState', 'WindowsProtectedPrintMode'
    return @($names | Where-Object { (Get-RegistryValue $path $_) -eq 1 }).Count -gt 0
}
#</if>
