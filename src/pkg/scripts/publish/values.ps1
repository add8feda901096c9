#region Values

function Get-Field {
    # What an answer has under a name; $null where it has nothing.
    param($Object, [string]$Name)
    if ($null -eq $Object) { return $null }
    if ($Object -is [Collections.IDictionary]) { return $Object[$Name] }
    $property = $Object.PSObject.Properties[$Name]
    if ($null -eq $property) { return $null }
    return $property.Value
}

function Get-List {
    # The same of what is a list there.
    param($Object, [string]$Name)
    $list = Get-Field $Object $Name
    if ($null -eq $list) { return }
    foreach ($item in $list) { if ($null -ne $item) { $item } }
}

function Get-FieldNames {
    param($Object)
    if ($Object -is [Collections.IDictionary]) { return @($Object.Keys) }
    return @($Object.PSObject.Properties | ForEach-Object { $_.Name })
}

function Get-Sorted {
    # The same order in every language.
    param([string[]]$Texts)
    [Array]::Sort($Texts, [StringComparer]::Ordinal)
    return $Texts
}

function Get-Canonical {
    # A text that is the same for values that mean the same. Of objects, only the fields count that $Like has: Graph adds
    # its own. The order of lists does not count.
    param($Value, $Like)
    if ($null -eq $Value) { return '' }
    if ($Value -is [string]) { return ($Value -replace "`r`n?", "`n").Trim() }
    if ($Value -is [bool]) { return $Value.ToString().ToLowerInvariant() }
    # PowerShell 7 takes some texts for dates.
    if ($Value -is [datetime]) { return $Value.ToUniversalTime().ToString('yyyy-MM-ddTHH:mm:ssZ', [Globalization.CultureInfo]::InvariantCulture) }
    if ($Value -is [ValueType]) { return [Convert]::ToString($Value, [Globalization.CultureInfo]::InvariantCulture) }
    if ($Value -is [Collections.IEnumerable] -and $Value -isnot [Collections.IDictionary]) {
        $first = @($Like)[0]
        $items = @($Value | ForEach-Object { Get-Canonical $_ $first })
        return '[' + ((Get-Sorted $items) -join ',') + ']'
    }
    $names = @(Get-Sorted @((Get-FieldNames $Like) | Where-Object { $_ -ne '@odata.type' }))
    $pairs = @($names | ForEach-Object { "${_}=$(Get-Canonical (Get-Field $Value $_) (Get-Field $Like $_))" })
    return '{' + ($pairs -join ',') + '}'
}

function Get-FieldText {
    # What two values of a field are compared by.
    param([string]$Name, $Value, $Like)
    if ($Name -eq 'largeIcon') { return [string](Get-Field $Value 'value') }
    if ($Name -eq 'allowedArchitectures') {
        return (Get-Sorted @(([string]$Value).Split(',') | ForEach-Object { $_.Trim() })) -join ','
    }
    return Get-Canonical $Value $Like
}

function Get-Sha256 {
    # In hex.
    param([byte[]]$Bytes)
    $sha = [Security.Cryptography.SHA256]::Create()
    try {
        return [BitConverter]::ToString($sha.ComputeHash($Bytes)).Replace('-', '').ToLowerInvariant()
    }
    finally {
        $sha.Dispose()
    }
}

function Get-ShortHash {
    # 8 hex digits that tell whether a value is still the one that was set.
    param([string]$Text)
    return (Get-Sha256 ([Text.Encoding]::UTF8.GetBytes($Text))).Substring(0, 8)
}

#endregion
