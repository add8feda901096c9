#region The registry, read

# Everything that Platen keeps on a machine is below this key.
$RegistryRoot = 'HKLM:\SOFTWARE\Platen'
$PrintRoot = 'HKLM:\SYSTEM\CurrentControlSet\Control\Print'

function Get-RegistryValue {
    # A value; $null where the key or the value is not there.
    param([string]$Path, [string]$Name)
    $key = Get-Item -LiteralPath $Path -ErrorAction SilentlyContinue
    if ($null -eq $key) { return $null }
    return $key.GetValue($Name)
}

#<if install|uninstall|diagnose|package|apart>
#<if package|apart|default|reset|connections|ipp|uninstall|diagnose>
function Get-RegistryChild {
    # A key's subkeys, each with its name, which may hold characters that a path may not; none where the key is
    # not there.
    param([string]$Path)
    foreach ($key in @(Get-ChildItem -LiteralPath $Path -ErrorAction SilentlyContinue)) {
        @{ Name = ($key.Name -split '\\')[-1]; Key = $key }
    }
}
#</if>
#</if>

function Get-MarkerPath {
    # Where install records what it deployed of a printer: detection compares it, uninstall goes by it.
    param($Printer)
    return "$RegistryRoot\Printers\$($Printer.Id)"
}

#endregion
