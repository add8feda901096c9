#region The run: one at a time on a machine, each printer, one sentence and one exit code at the end

$script:MaxWaitForOthersSeconds = 90
# With -WhatIf: what would be changed.
$script:Plan = @()
# Of the printer being worked on: what is no failure, but belongs in its result.
$script:Remarks = @()
$script:Results = @()
$script:ExitCode = $script:ExitFailed

#<if printer|uninstall>
function Add-Remark {
    param([string]$Message)
    $script:Remarks += $Message
    Write-Log -Message "Remark: $Message"
}
#</if>

function Invoke-Run {
    # Checks the rights, keeps other runs out, works on each printer, writes the result.
    param([string]$Verb, [string]$Nothing, [scriptblock]$Work)
    try {
        if (-not (Test-Administrator)) { Stop-Run -Message 'This script needs administrator rights.' }
        $mutex = Enter-Exclusive -Seconds $script:MaxWaitForOthersSeconds
        if ($null -eq $mutex) {
            Stop-Run -Code $script:ExitBusy -Message 'Another installation of printers is running on this machine. Try again later.'
        }
        try {
            foreach ($printer in $Settings.Printers) {
                $script:Results += Invoke-OnPrinter -Printer $printer -Verb $Verb -Nothing $Nothing -Work $Work
            }
        }
        finally {
            Exit-Exclusive -Mutex $mutex
        }
        Complete-Run -Verb $Verb
    }
    catch {
        $script:ExitCode = Get-FailureCode -ErrorRecord $_
        Write-Log -Message "Failed: $($_.Exception.Message) (exit code $script:ExitCode)"
        Write-Output -InputObject "Failed: $($_.Exception.Message -replace '\s+', ' ')"
    }
}

function Invoke-OnPrinter {
    # One printer's result; the others are worked on whatever it is.
    param($Printer, [string]$Verb, [string]$Nothing, [scriptblock]$Work)
    $before = $script:Changes
    $script:Remarks = @()
    $result = @{ Name = $Printer.Name; Code = $script:ExitDone; Message = $Nothing }
    try {
        $null = & $Work $Printer
        if ($script:Changes -gt $before) { $result.Message = $Verb.ToLowerInvariant() }
        if ($WhatIfPreference) { $result.Message = 'checked only' }
        if ($script:Remarks.Count -gt 0) { $result.Message += "; $($script:Remarks -join '; ')" }
        #<if install>
        #<if subnets>
        if ($script:Away) {
            $result.Skipped = $true
            $result.Message = $script:Away
            Write-Log -Message "Skipped: $script:Away"
        }
        #</if>
        #</if>
    }
    catch {
        $result.Code = Get-FailureCode -ErrorRecord $_
        $result.Message = $_.Exception.Message
        Write-Log -Message "Failed: $($_.Exception.Message) at $($_.InvocationInfo.PositionMessage)"
    }
    return $result
}

function Complete-Run {
    # Writes the result, in one sentence on the last line, and sets the exit code. The worst result counts.
    param([string]$Verb)
    foreach ($line in $script:Plan) { Write-Output -InputObject "What if: $line" }
    $results = @($script:Results)
    if ($results.Count -gt 1) {
        foreach ($result in $results) { Write-Output -InputObject ("$($result.Name): $($result.Message)" -replace '\s+', ' ') }
    }
    #<if install>
    #<if subnets>
    $skipped = @($results | Where-Object -FilterScript { $_.ContainsKey('Skipped') }).Count
    $results = @($results | Where-Object -FilterScript { -not $_.ContainsKey('Skipped') })
    if ($results.Count -eq 0) {
        $script:ExitCode = $script:ExitDone
        Write-Output -InputObject (Get-SkippedText -Printers $Settings.Printers)
        return
    }
    #</if>
    #</if>
    $failed = @($results | Where-Object -FilterScript { $_.Code -ne $script:ExitDone })
    if ($failed.Count -gt 0) {
        $script:ExitCode = $script:ExitFailed
        if (@($failed | Where-Object -FilterScript { $_.Code -ne $script:ExitBusy }).Count -eq 0) { $script:ExitCode = $script:ExitBusy }
        $last = "$($failed[0].Name): $($failed[0].Message)"
        if ($results.Count -gt 1) { $last = "$($failed.Count) of $($results.Count) printers, first $last" }
        $last = "Failed: $last"
    }
    else {
        $script:ExitCode = $script:RebootCode
        $last = "${Verb}: $($results[0].Name): $($results[0].Message)"
        if ($results.Count -gt 1) { $last = "${Verb}: all $($results.Count) printers" }
        if ($script:ExitCode -ne $script:ExitDone) { $last = "$last (Windows asks for a restart)" }
    }
    #<if install>
    #<if subnets>
    if ($skipped -gt 0) { $last = "$last; $skipped skipped: not at this site" }
    #</if>
    #</if>
    Write-Log -Message "$last (exit code $script:ExitCode)"
    Write-Output -InputObject ($last -replace '\s+', ' ')
}

function Enter-Exclusive {
    # The machine's lock for a run; $null when another run holds it for too long.
    param([int]$Seconds)
    $mutex = New-Object -TypeName Threading.Mutex -ArgumentList $false, 'Global\Platen'
    try {
        if ($mutex.WaitOne([TimeSpan]::FromSeconds($Seconds))) { return $mutex }
    }
    catch [Threading.AbandonedMutexException] {
        return $mutex
    }
    $mutex.Dispose()
    return $null
}

function Exit-Exclusive {
    param($Mutex)
    $Mutex.ReleaseMutex()
    $Mutex.Dispose()
}

#endregion
