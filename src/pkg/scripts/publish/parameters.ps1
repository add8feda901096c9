#region Parameters

function Test-Parameters {
    # Throws where some contradict each other: what was asked for and has no effect is taken for done.
    param($Given)
    if ($Remove) {
        foreach ($name in 'Package', 'AssignTo', 'Intent', 'Together') {
            if ($Given.ContainsKey($name)) { throw "-Remove publishes nothing: run it without -$name." }
        }
    }
    if ($Given.ContainsKey('Intent') -and $AssignTo.Count -eq 0) { throw '-Intent says what the groups of -AssignTo get the apps as: give -AssignTo, too.' }
    if ($Package) {
        $path = Get-PackagePath
        if (-not [IO.File]::Exists($path) -and -not [IO.Directory]::Exists($path)) { throw "-Package: there is no file or folder $path." }
    }
    if (-not $Given.ContainsKey('AccessToken')) { return }
    foreach ($name in 'Tenant', 'ClientId') {
        if ($Given.ContainsKey($name)) { throw "A token is of one tenant and one app registration: run it with -AccessToken or with -$name." }
    }
}

function Read-Address {
    param([string]$Text, [string]$Parameter)
    if (-not (Test-SafeUrl $Text)) { throw "$Parameter takes an address that begins with https://." }
    return $Text.TrimEnd('/')
}

function Read-Groups {
    # powershell.exe -File hands a list over as one text with commas.
    param([string[]]$Texts)
    foreach ($text in $Texts) {
        foreach ($part in $text.Split(',')) {
            $id = [guid]::Empty
            if (-not $part.Trim()) { continue }
            if (-not [guid]::TryParse($part.Trim(), [ref]$id)) { throw "-AssignTo takes ids of groups: '$($part.Trim())' is none." }
            $id.ToString()
        }
    }
}

#endregion
