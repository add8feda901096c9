#region The run

$MaxWaitForOthersSeconds = 90
$script:Plan = @()
$script:Remarks = @()
$script:Results = @()
$script:ExitCode = $ExitFailed

#<if printer|uninstall>
function Add-Remark {
    # Of the printer being worked on: what is no failure, but belongs in its result.
    param([string]$Message)
    $script:Remarks += $Message
    Write-Log "Remark: $Message"
}
#</if>

function Invoke-Run {
    # Checks the rights, keeps other runs out, works on each printer, writes one sentence and sets one exit code.
    param([string]$Verb, [string]$Nothing, [scriptblock]$Work)
    try {
        if (-not (Test-Administrator)) { Stop-Run 'This script needs administrator rights.' }
        $mutex = Enter-Exclusive $MaxWaitForOthersSeconds
        if ($null -eq $mutex) {
            Stop-Run 'Another installation of printers is running on this machine. Try again later.' $ExitBusy
        }
        try {
            foreach ($printer in $Settings.Printers) {
                $script:Results += Invoke-OnPrinter $printer $Verb $Nothing $Work
            }
        }
        finally {
            Exit-Exclusive $mutex
        }
        Complete-Run $Verb
    }
    catch {
        $script:ExitCode = Get-FailureCode $_
        Write-Log "Failed: $($_.Exception.Message) (exit code $script:ExitCode)"
        Write-Line "Failed: $($_.Exception.Message)"
    }
}

function Invoke-OnPrinter {
    # One printer's result; the others are worked on whatever it is.
    param($Printer, [string]$Verb, [string]$Nothing, [scriptblock]$Work)
    $before = $script:Changes
    $script:Remarks = @()
    $result = @{ Name = $Printer.Name; Code = $ExitDone; Message = $Nothing }
    try {
        $null = & $Work $Printer
        if ($script:Changes -gt $before) { $result.Message = $Verb.ToLowerInvariant() }
        if ($WhatIfPreference) { $result.Message = 'checked only' }
        if ($script:Remarks.Count -gt 0) { $result.Message += "; $($script:Remarks -join '; ')" }
        #<if install>
        #<if subnets>
        if ($script:Away) {
            $result.Code = $null
            $result.Message = $script:Away
            Write-Log "Skipped: $script:Away"
        }
        #</if>
        #</if>
    }
    catch {
        $result.Code = Get-FailureCode $_
        $result.Message = $_.Exception.Message
        Write-Log "Failed: $($_.Exception.Message) at $($_.InvocationInfo.PositionMessage)"
    }
    return $result
}

function Complete-Run {
    # Writes the result, in one sentence on the last line, and sets the exit code. The worst result counts.
    param([string]$Verb)
    foreach ($line in $script:Plan) { Write-Line "What if: $line" }
    $results = @($script:Results)
    #<if many>
    foreach ($result in $results) { Write-Line "$($result.Name): $($result.Message)" }
    #</if>
    #<if install>
    #<if subnets>
    $results = @($results | Where-Object { $null -ne $_.Code })
    if ($results.Count -eq 0) {
        $script:ExitCode = $ExitDone
        $last = "Skipped: $script:Away"
        #<if many>
        $last = "Skipped: not at this site (all $($script:Results.Count) printers)"
        #</if>
        Write-Line $last
        return
    }
    #</if>
    #</if>
    $failed = @($results | Where-Object { $_.Code -ne $ExitDone })
    if ($failed.Count -gt 0) {
        $script:ExitCode = $failed[0].Code
        $last = "$($failed[0].Name): $($failed[0].Message)"
        #<if many>
        if (@($failed | Where-Object { $_.Code -ne $ExitBusy }).Count -gt 0) { $script:ExitCode = $ExitFailed }
        if ($results.Count -gt 1) { $last = "$($failed.Count) of $($results.Count) printers, first $last" }
        #</if>
        $last = "Failed: $last"
    }
    else {
        $script:ExitCode = $script:RebootCode
        $last = "${Verb}: $($results[0].Name): $($results[0].Message)"
        #<if many>
        if ($results.Count -gt 1) { $last = "${Verb}: all $($results.Count) printers" }
        #</if>
        if ($script:ExitCode -ne $ExitDone) { $last += ' (Windows asks for a restart)' }
    }
    #<if many>
    #<if install>
    #<if subnets>
    $skipped = $script:Results.Count - $results.Count
    if ($skipped -gt 0) { $last += "; $skipped skipped: not at this site" }
    #</if>
    #</if>
    #</if>
    Write-Log "$last (exit code $script:ExitCode)"
    Write-Line $last
}

function Write-Line {
    # Of the result, cleaned as in the log.
    param([string]$Text)
    Write-Output ($Text -replace $Unprintable, ' ')
}

function Enter-Exclusive {
    # The machine's lock for a run; $null when another run holds it for too long.
    param([int]$Seconds)
    $mutex = [Threading.Mutex]::new($false, 'Global\Platen')
    try { if ($mutex.WaitOne([TimeSpan]::FromSeconds($Seconds))) { return $mutex } }
    catch [Threading.AbandonedMutexException] {
        return $mutex
    }
    $mutex.Dispose()
}

function Exit-Exclusive {
    param($Mutex)
    $Mutex.ReleaseMutex()
    $Mutex.Dispose()
}

#endregion
