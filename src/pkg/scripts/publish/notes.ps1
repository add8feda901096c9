#region The marker in notes

# platen:<instance>:<kind>:<number> revision:<12 hex digits> at:<when the script was made> set:<field>=<8 hex digits>,...
# It has a line to itself: who mentions it means something else.
$MarkerPattern = '(?<=(?:^|\n)[ \t]{0,20})platen:' + $Settings.Instance + ':(?<kind>printer|driver|client):(?<id>[1-9][0-9]{0,14})'
$MarkerPattern += '( revision:(?<revision>[0-9a-z]{1,20}))?( at:(?<at>[0-9]{8}T[0-9]{6}Z))?( set:(?<set>[A-Za-z0-9=,]{1,2000}))?(?=[ \t]{0,20}(?:\r|\n|\z))'

function Get-Marker {
    param($App)
    return "platen:$($Settings.Instance):$($App.Kind):$($App.Id)"
}

function Read-Notes {
    # What the notes of an app say of it: Revision; At, when the script was made that set it, '' where it was none; and Set,
    # the fields that were set, with what their values were.
    param([string]$Notes, $App)
    $found = Find-Line $Notes $App
    $read = @{ Revision = ''; At = ''; Set = @{} }
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

function Format-Notes {
    # The notes with our line renewed, and everything else as it is.
    param([string]$Notes, $App, [string]$Revision, $Set, [string]$At)
    $line = "$(Get-Marker $App) revision:$Revision"
    if ($At) { $line += " at:$At" }
    if ($Set.Count -gt 0) { $line += ' set:' + (@((Get-Sorted @($Set.Keys)) | ForEach-Object { "${_}=$($Set[$_])" }) -join ',') }
    $found = Find-Line $Notes $App
    if ($null -eq $found) { return "$Notes`n$line".Trim() }
    return $Notes.Substring(0, $found.Index) + $line + $Notes.Substring($found.Index + $found.Length)
}

function Get-TimeText {
    # 20261123T081500Z as people read it.
    param([string]$Basic)
    return $Basic -replace '\A(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)\d\dZ\z', '$1-$2-$3 $4:$5 UTC'
}

function Get-OurApps {
    # The apps of the tenant that have a marker of this Platen: lists of Id, Name, Kind, Number and IsPublished, by kind:number.
    $filter = "isof('microsoft.graph.win32LobApp') and contains(notes,'platen:$($Settings.Instance):')"
    $path = 'mobileApps?$filter=' + [Uri]::EscapeDataString($filter)
    $ours = @{}
    foreach ($app in @(Get-GraphList $path 'list the apps' @())) {
        $id = Get-Id $app 'list the apps'
        foreach ($match in [regex]::Matches([string](Get-Field $app 'notes'), $MarkerPattern)) {
            $key = "$($match.Groups['kind'].Value):$($match.Groups['id'].Value)"
            if (-not $ours.ContainsKey($key)) { $ours[$key] = @() }
            $ours[$key] += @{ Id = $id; Name = [string](Get-Field $app 'displayName'); Kind = $match.Groups['kind'].Value; Number = [long]$match.Groups['id'].Value; IsPublished = $match.Groups['revision'].Success }
        }
    }
    return $ours
}

function Get-Key {
    param($App)
    return "$($App.Kind):$($App.Id)"
}

function Find-OurApp {
    # The id of the app that has a marker; '' where there is none. Two stop: nobody but a person knows which one counts.
    param($Ours, [string]$Key)
    $found = @($Ours[$Key] | Where-Object { $null -ne $_ })
    if ($found.Count -eq 0) { return '' }
    if (@($found | ForEach-Object { $_.Id } | Select-Object -Unique).Count -eq 1) { return $found[0].Id }
    $names = @($found | ForEach-Object { "'$($_.Name)' ($($_.Id))" }) -join ' and '
    throw "Several apps have the marker platen:$($Settings.Instance):$($Key): $names. Delete all but one of them, or take the marker out of their notes; nothing was changed."
}

#endregion
