#region The marker in an app's notes

# platen:<instance>:<kind>:<number> revision:<12 hex digits> at:<when the script was made> set:<field>=<8 hex digits>,...
# The marker has a line to itself. Text that only mentions it is no marker.
$LineStart = '(?<=(?:^|\n)[ \t]{0,20})'
$LineEnd = '(?=[ \t]{0,20}(?:\r|\n|\z))'
$MarkerPattern = $LineStart + 'platen:' + $Settings.Instance + ':(?<kind>printer|driver|client):(?<id>[1-9][0-9]{0,14})'
$MarkerPattern += '( revision:(?<revision>[0-9a-z]{1,20}))?( at:(?<at>[0-9]{8}T[0-9]{6}Z))?( set:(?<set>[A-Za-z0-9=,]{1,2000}))?' + $LineEnd
# While a run uploads the content of an app, a line says so: platen-lease:<instance>:<run> until:<UTC>
$LeasePattern = $LineStart + 'platen-lease:' + $Settings.Instance + ':(?<run>[0-9a-f]{12}) until:(?<until>[0-9]{8}T[0-9]{6}Z)' + $LineEnd

function Get-Marker {
    param($App)
    return "platen:$($Settings.Instance):$($App.Kind):$($App.Id)"
}

function Read-Notes {
    # What an app's notes say: Revision; At, when the script was made that published it ('' if unknown); Set, the hashes of the
    # fields that it set; Text, the lines that are not ours.
    param([string]$Notes, $App)
    $found = Find-Line $Notes $App
    $read = @{ Revision = ''; At = ''; Set = @{}; Text = (Get-OtherText $Notes $found) }
    if ($null -eq $found) { return $read }
    $read.Revision = $found.Groups['revision'].Value
    $read.At = $found.Groups['at'].Value
    foreach ($pair in $found.Groups['set'].Value.Split(',')) {
        $name, $hash = $pair.Split('=')
        if ($hash) { $read.Set[$name] = $hash }
    }
    return $read
}

function Find-Line {
    param([string]$Notes, $App)
    foreach ($match in [regex]::Matches($Notes, $MarkerPattern)) {
        if ($match.Groups['kind'].Value -eq $App.Kind -and $match.Groups['id'].Value -eq [string]$App.Id) { return $match }
    }
    return $null
}

function Get-OtherText {
    param([string]$Notes, $Found)
    if ($null -ne $Found) { $Notes = $Notes.Remove($Found.Index, $Found.Length) }
    return ($Notes -replace $LeasePattern -replace "`r`n?", "`n").Trim()
}

function Format-Notes {
    # Renews the marker in notes, and leaves their other lines as they are. $Text: other lines instead; $null keeps them.
    param([string]$Notes, $App, [string]$Revision, $Set, [string]$At, $Text)
    $line = "$(Get-Marker $App) revision:$Revision"
    if ($At) { $line += " at:$At" }
    if ($Set.Count -gt 0) { $line += ' set:' + (@((Get-Sorted @($Set.Keys)) | ForEach-Object { "${_}=$($Set[$_])" }) -join ',') }
    $Notes = ($Notes -replace $LeasePattern).Trim()
    if ($null -ne $Text) { return "$Text`n$line".Trim() }
    $found = Find-Line $Notes $App
    if ($null -eq $found) { return "$Notes`n$line".Trim() }
    return $Notes.Substring(0, $found.Index) + $line + $Notes.Substring($found.Index + $found.Length)
}

function Get-TimeText {
    # 20261123T081500Z as 2026-11-23 08:15 UTC.
    param([string]$Basic)
    return $Basic -replace '\A(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)\d\dZ\z', '$1-$2-$3 $4:$5 UTC'
}

function Get-OurApps {
    # The tenant's apps with a marker of this Platen, by kind:number: lists of Id, Name, Kind, Number, Made and IsPublished. $Key:
    # only those that may have this marker.
    param([string]$Key = '')
    $query = "isof('microsoft.graph.win32LobApp') and contains(notes,'platen:$($Settings.Instance):$Key')"
    $path = 'mobileApps?$filter=' + [Uri]::EscapeDataString($query)
    $ours = @{}
    foreach ($app in @(Get-GraphList $path 'list the apps' @())) {
        $id = Get-Id $app 'list the apps'
        foreach ($match in [regex]::Matches([string](Get-Field $app 'notes'), $MarkerPattern)) {
            $key = "$($match.Groups['kind'].Value):$($match.Groups['id'].Value)"
            if (-not $ours.ContainsKey($key)) { $ours[$key] = @() }
            $ours[$key] += @{
                Id = $id
                Name = [string](Get-Field $app 'displayName')
                Kind = $match.Groups['kind'].Value
                Number = [long]$match.Groups['id'].Value
                Made = (Get-Canonical (Get-Field $app 'createdDateTime') $null)
                IsPublished = $match.Groups['revision'].Success
            }
        }
    }
    return $ours
}

function Get-Key {
    param($App)
    return "$($App.Kind):$($App.Id)"
}

function Find-OurApp {
    # The id of the app with a marker; '' if there is none. Throws if there are two, because only a person can choose.
    param($Ours, [string]$Key)
    $found = @($Ours[$Key] | Where-Object { $null -ne $_ })
    if ($found.Count -eq 0) { return '' }
    if (@($found | ForEach-Object { $_.Id } | Select-Object -Unique).Count -eq 1) { return $found[0].Id }
    $names = @($found | ForEach-Object { "'$($_.Name)' ($($_.Id))" }) -join ' and '
    throw "Several apps have the marker platen:$($Settings.Instance):$($Key): $names. Delete all but one of them, or remove the marker from their notes. Nothing was changed."
}

#endregion
