#region Values

function Get-Field {
    # A property of an answer; $null if it is missing.
    param($Object, [string]$Name)
    if ($null -eq $Object) { return $null }
    if ($Object -is [Collections.IDictionary]) { return $Object[$Name] }
    $property = $Object.PSObject.Properties[$Name]
    if ($null -eq $property) { return $null }
    return $property.Value
}

function Get-List {
    # The items of a list in an answer.
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
    # A text for comparing values. Objects count only with the fields that $Like has, because Graph adds its own. The order of a
    # list does not count.
    param($Value, $Like)
    if ($null -eq $Value) { return '' }
    if ($Value -is [string]) { return ($Value -replace "`r`n?", "`n").Trim() }
    if ($Value -is [bool]) { return $Value.ToString().ToLowerInvariant() }
    # PowerShell 7 reads some texts as dates.
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
    # A text for comparing two values of a field.
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
    # 8 hex digits for telling whether a value has changed since it was set.
    param([string]$Text)
    return (Get-Sha256 ([Text.Encoding]::UTF8.GetBytes($Text))).Substring(0, 8)
}

#endregion
