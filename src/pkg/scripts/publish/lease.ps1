#region Two runs in one tenant

# A lease in an app's notes keeps another run from uploading the same app. Times are those of Graph, because the clocks of two PCs differ.
$LeaseSeconds = 120
$RenewLeaseSeconds = 60
# How long a run waits for another one.
$LeaseWaitSeconds = 600
$LookForLeaseMs = 5000
$script:RunId = [guid]::NewGuid().ToString('N').Substring(0, 12)
# How far Graph's clock is ahead of this PC's.
$script:GraphAhead = [TimeSpan]::Zero
# The app that this run has a lease on: Id and Clock (since the last renewal).
$script:Lease = $null

function Get-LeaseTime {
    # Graph's time now, or later by this many seconds.
    param([int]$Seconds = 0)
    return ([datetime]::UtcNow + $script:GraphAhead).AddSeconds($Seconds).ToString("yyyyMMdd'T'HHmmss'Z'", [Globalization.CultureInfo]::InvariantCulture)
}

function Format-Lease {
    # The line of this run's lease from now.
    return "platen-lease:$($Settings.Instance):$($script:RunId) until:$(Get-LeaseTime $LeaseSeconds)"
}

function Find-Lease {
    # Until when another run has an app; '' if none has. No run takes a lease for longer than $LeaseSeconds.
    param($Current)
    $now, $last = (Get-LeaseTime), (Get-LeaseTime (2 * $LeaseSeconds))
    foreach ($match in [regex]::Matches([string](Get-Field $Current 'notes'), $LeasePattern)) {
        $until = $match.Groups['until'].Value
        if ($match.Groups['run'].Value -eq $script:RunId) { continue }
        if ([string]::CompareOrdinal($until, $now) -gt 0 -and [string]::CompareOrdinal($until, $last) -lt 0) { return $until }
    }
    return ''
}

function Test-OwnLease {
    param($Current)
    foreach ($match in [regex]::Matches([string](Get-Field $Current 'notes'), $LeasePattern)) { if ($match.Groups['run'].Value -eq $script:RunId) { return $true } }
    return $false
}

function Read-FreeApp {
    # Returns the app when no other run works on it.
    param($App, [string]$Id)
    $clock = [Diagnostics.Stopwatch]::StartNew()
    $isSaid = $false
    while ($true) {
        $current = Read-App $Id
        $until = Find-Lease $current
        if (-not $until) { return $current }
        $name = $App.Fields.displayName
        if ($clock.Elapsed.TotalSeconds -ge $LeaseWaitSeconds) { throw "Another run of publish.ps1 is uploading '$name'. Run this script again when it has ended." }
        if (-not $isSaid) { Write-Line "Another run of publish.ps1 is uploading '$name'. Waiting for it (lease until $(Get-TimeText $until))." }
        $isSaid = $true
        Start-Sleep -Milliseconds $LookForLeaseMs
    }
}

function Enter-Lease {
    # Takes the lease of an app that no other run has. If two runs write at the same moment, the last one gets it.
    param($App, [string]$Id)
    Save-Lease (Read-FreeApp $App $Id)
    Start-Sleep -Milliseconds $PollMs
    if (-not (Test-OwnLease (Read-App $Id))) { throw 'Another run of publish.ps1 began to upload this app at the same moment. Run this script again when it has ended.' }
    $script:Lease = @{ Id = $Id; Clock = [Diagnostics.Stopwatch]::StartNew() }
}

function Save-Lease {
    param($Current)
    $notes = ([string](Get-Field $Current 'notes') -replace $LeasePattern).Trim()
    Save-Fields $Current @{ notes = "$notes`n$(Format-Lease)" } @{ Doing = 'note the upload in the app'; Again = 404, 409 }
}

function Update-Lease {
    # Renews the lease during long work.
    if ($null -eq $script:Lease -or $script:Lease.Clock.Elapsed.TotalSeconds -lt $RenewLeaseSeconds) { return }
    $current = Read-App $script:Lease.Id
    if (-not (Test-OwnLease $current)) { throw 'Another run of publish.ps1 has taken over this app, because this run did not renew its lease in time.' }
    Save-Lease $current
    $script:Lease.Clock.Restart()
}

function Exit-Lease {
    # Gives the lease back after a failure. A finished upload removes it with the app's other changes. One try, because this also
    # runs after Ctrl+C.
    if ($null -eq $script:Lease) { return }
    $id = $script:Lease.Id
    $script:Lease = $null
    try {
        $current = Read-App $id 1
        if (-not (Test-OwnLease $current)) { return }
        $notes = ([string](Get-Field $current 'notes') -replace $LeasePattern).Trim()
        Save-Fields $current @{ notes = $notes } @{ Doing = 'end the note of the upload'; Tries = 1 }
    }
    catch { Write-Log "The lease of $id ends by itself: $_" }
}

#endregion
