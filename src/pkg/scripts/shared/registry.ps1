### The registry, read
# Platen keeps everything on a machine below this key.
$RegistryRoot = 'HKLM:\SOFTWARE\Platen'
$PrintRoot = 'HKLM:\SYSTEM\CurrentControlSet\Control\Print'

function Get-RegistryValue {
    # $null if the key or the value does not exist.
    param([string]$Path, [string]$Name)
    $key = Get-Item -LiteralPath $Path -ErrorAction SilentlyContinue
    if ($null -ne $key) { return $key.GetValue($Name) }
}

#<if install|uninstall|diagnose|package|apart>
function Get-RegistryChild {
    # The subkeys of a key. A name may contain characters that a path may not.
    param([string]$Path)
    foreach ($key in @(Get-ChildItem -LiteralPath $Path -ErrorAction SilentlyContinue)) {
        @{ Name = ($key.Name -split '\\')[-1]; Key = $key }
    }
}
#</if>

function Get-MarkerPath {
    # The printer's marker: install writes there what it deployed, detect compares it, uninstall reads it.
    param($Printer)
    return "$RegistryRoot\Printers\$($Printer.Id)"
}
