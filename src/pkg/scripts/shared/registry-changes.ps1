#region The registry, changed

function Set-RegistryValue {
    # Writes a value where it differs; whether it did.
    param([string]$Path, [string]$Name, $Value, [string]$Type = 'String')
    $old = Get-RegistryValue -Path $Path -Name $Name
    if ($null -ne $old -and $old -ceq $Value) { return $false }
    if (-not (Test-Path -LiteralPath $Path)) { $null = New-Item -Path $Path -Force -ErrorAction Stop }
    $null = New-ItemProperty -LiteralPath $Path -Name $Name -Value $Value -PropertyType $Type -Force -ErrorAction Stop
    return $true
}

function Remove-RegistryValue {
    param([string]$Path, [string]$Name)
    if ($null -eq (Get-RegistryValue -Path $Path -Name $Name)) { return }
    # Remove-ItemProperty takes wildcards in names, and port names may hold them.
    Remove-ItemProperty -LiteralPath $Path -Name ([WildcardPattern]::Escape($Name)) -Force -ErrorAction Stop
}

function Remove-RegistryKey {
    param([string]$Path)
    if (Test-Path -LiteralPath $Path) { Remove-Item -LiteralPath $Path -Recurse -Force -ErrorAction Stop }
}

#endregion
