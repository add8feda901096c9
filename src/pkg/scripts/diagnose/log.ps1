### What Windows' print log says of the last days
$PrintLog = 'Microsoft-Windows-PrintService/Operational'
$MaxEvents = 512
$script:PrintEvents = $null
# 0x80004005, "failed", as a number with and without a sign and as text.
$FailedCodes = '2147500037', '-2147467259', '0x80004005'

function Get-PrintEvent {
    # What was printed (307), what was given to a driver (842), and errors: the newest first, none where there are none.
    $what = "*[System[(EventID=307 or EventID=842 or Level=1 or Level=2) and TimeCreated[timediff(@SystemTime) <= 604800000]]]"
    try {
        return @(Get-WinEvent -LogName $PrintLog -FilterXPath $what -MaxEvents $MaxEvents -ErrorAction Stop)
    }
    catch {
        if ([string]$_.FullyQualifiedErrorId -like 'NoMatchingEventsFound*') { return @() }
        throw
    }
}

function Test-PrintLog {
    # Whether the log is on; its events, for the printers.
    $log = @(Get-WinEvent -ListLog $PrintLog -ErrorAction Stop)[0]
    if (-not $log.IsEnabled) {
        Add-Finding 'ok' 'log' ("$PrintLog is off, so nobody knows what failed. Switch it on with: " +
            "wevtutil set-log $PrintLog /enabled:true")
        return
    }
    # What an event says is asked of Windows once, however many printers there are.
    $script:PrintEvents = @(foreach ($record in @(Get-PrintEvent)) {
            @{ Id = $record.Id; Time = $record.TimeCreated; Values = @($record.Properties | ForEach-Object { [string]$_.Value }) }
        })
}

function Get-EventOutcome {
    # Of a queue: printed, failed, or '' for what says neither. No text of an event is ever used but to find the queue:
    # there are names of people and documents in it.
    param($Record, [string]$Queue)
    if ($Record.Values -notcontains $Queue) { return '' }
    if ($Record.Id -eq 307) { return 'printed' }
    if ($Record.Id -ne 842) { return 'failed' }
    foreach ($value in $Record.Values) { if ($FailedCodes -contains $value) { return 'failed' } }
    return ''
}

function Test-Printed {
    # What became of the last jobs of a queue.
    param($Printer)
    if ($null -eq $script:PrintEvents) { return }
    $outcomes = @(foreach ($record in $script:PrintEvents) {
            $outcome = Get-EventOutcome $record $Printer.Name
            if ($outcome) { @{ Outcome = $outcome; Id = $record.Id; Time = $record.Time } }
        })
    if ($outcomes.Count -eq 0) {
        Add-Finding 'ok' 'log' 'no job in the last seven days'
        return
    }
    $failed = @($outcomes | Where-Object { $_.Outcome -eq 'failed' })
    $printed = $outcomes.Count - $failed.Count
    if ($failed.Count -eq 0) {
        Add-Finding 'ok' 'log' "$printed jobs printed in the last seven days, the last one at $(Get-TimeText $outcomes[0].Time)"
        return
    }
    # What printed since is past; what failed last will fail again.
    $level = 'warn'
    if ($outcomes[0].Outcome -eq 'failed') { $level = 'bad' }
    Add-Finding $level 'log' ("$($failed.Count) failures and $printed printed jobs in the last seven days, " +
        "the last failure at $(Get-TimeText $failed[0].Time), event $($failed[0].Id)")
}

function Get-TimeText {
    param([datetime]$Time)
    return $Time.ToString('yyyy-MM-dd HH:mm', [Globalization.CultureInfo]::InvariantCulture)
}

