function Set-RegistryValue {
    # Writes a value only if it differs.
    param([string]$Path, [string]$Name, $Value, [string]$Type = 'String')
    $old = Get-RegistryValue $Path $Name
    #<if alone>
    if ($Value -is [array]) { $Type = 'MultiString' }
    #</if>
    if ($null -ne $old -and ($old -join "`n") -ceq ($Value -join "`n")) { return }
    if (-not (Test-Path -LiteralPath $Path)) { $null = New-Item -Path $Path -Force }
    $null = New-ItemProperty -LiteralPath $Path -Name $Name -Value $Value -PropertyType $Type -Force
}

#<if printer|exact>
function Remove-RegistryValue {
    param([string]$Path, [string]$Name)
    if ($null -eq (Get-RegistryValue $Path $Name)) { return }
    # Remove-ItemProperty expands wildcards, which port names may contain.
    Remove-ItemProperty -LiteralPath $Path -Name ([WildcardPattern]::Escape($Name)) -Force
}
#</if>

#<if printer|uninstall|exact>
function Remove-RegistryKey {
    param([string]$Path)
    if (Test-Path -LiteralPath $Path) { Remove-Item -LiteralPath $Path -Recurse -Force }
}
#</if>

#<if ipp|uninstall>
function Remove-EmptyKey {
    # Removes a key of Platen that is empty, and then each key above it that is empty.
    param([string]$Path)
    while ($Path -like "$RegistryRoot*") {
        $key = Get-Item -LiteralPath $Path -ErrorAction SilentlyContinue
        if ($null -ne $key) {
            if ($key.ValueCount -gt 0 -or $key.SubKeyCount -gt 0) { return }
            Remove-RegistryKey $Path
        }
        $Path = $Path.Substring(0, $Path.LastIndexOf('\'))
    }
}
#</if>
