### The print spooler
$script:SpoolerRestarted = $false

function Start-Spooler {
    # Returns when the spooler runs and answers. A driver may end it at the first call, so it starts up to three times.
    $starts = 0
    for ($wait = 0; $wait -le 40; $wait++) {
        $service = Get-Service 'Spooler'
        if ($service.Status -eq 'Stopped') {
            if ($service.StartType -eq 'Disabled') { Stop-Run 'The print spooler is disabled on this machine. Enable the service "Print Spooler" first.' }
            #<if install>
            if ($WhatIfPreference) { Stop-Run 'The print spooler is stopped; -WhatIf does not start it.' $ExitBusy }
            #</if>
            if ($starts -eq 3) { Stop-Run 'The print spooler stops whenever it is started.' $ExitBusy }
            $starts++
            try { Start-Service 'Spooler' }
            catch { Stop-Run "The print spooler does not start: $($_.Exception.Message)" $ExitBusy }
            Write-Log 'The print spooler was started.'
        }
        $problem = "it is $($service.Status)"
        try { $null = @(Get-PrinterDriver -ErrorAction Stop); if ($service.Status -ne 'StopPending') { return } }
        catch { $problem = $_.Exception.Message }
        Start-Sleep -Milliseconds 500
    }
    Stop-Run "The print spooler does not answer. Try again later. ($problem)" $ExitBusy
}

#<if package|ipp|uninstall>
function Restart-Spooler {
    # Once a run, because others may be printing. Returns whether it did. Restart-Service could wait for ever.
    param([string]$Because)
    if ($script:SpoolerRestarted) { return $false }
    $script:SpoolerRestarted = $true
    Write-Log "Restarting the print spooler: $Because"
    $dependents = @((Get-Service 'Spooler').DependentServices | Where-Object Status -eq 'Running')
    try { Stop-Service 'Spooler' -Force -NoWait }
    catch { Write-Log "The print spooler did not stop: $($_.Exception.Message)" }
    $isStopped = { (Get-Service 'Spooler').Status -eq 'Stopped' }
    if (-not (Wait-Until 60 $isStopped)) { Write-Log 'The print spooler hangs. Ending its process.'; Stop-Process -Name 'spoolsv' -Force -ErrorAction SilentlyContinue }
    $null = Wait-Until 10 $isStopped
    try { Start-Spooler }
    finally { foreach ($service in $dependents) { Start-Service $service.Name -ErrorAction SilentlyContinue } }
    return $true
}
#</if>

function Invoke-Print {
    # Runs a command of the print subsystem. If the spooler stops, starts it and tries again, twice at most.
    param([scriptblock]$Command)
    for ($try = 1; ; $try++) {
        try { return & $Command }
        catch {
            if ((Get-ErrorCode $_) -notin '0x800706ba', '0x800706b5', '0x800706be', '0x800706d9') { throw }
            if ($try -ge 3) { Stop-Run "The print spooler keeps stopping: $($_.Exception.Message)" $ExitBusy }
            Write-Log "The print spooler stopped ($(Get-ErrorCode $_))."
            Start-Spooler
        }
    }
}

function Get-ErrorCode {
    # The HRESULT of a failed cmdlet, such as 0x800706ba. Windows translates messages, but not codes.
    param($ErrorRecord)
    if ([string]$ErrorRecord.FullyQualifiedErrorId -match '0x[0-9a-fA-F]{8}') { return $Matches[0].ToLowerInvariant() }
    return ''
}

#<if printer|package|uninstall>
function Wait-Until {
    # Tests a condition every half second. Returns whether it became true in time.
    param([int]$Seconds, [scriptblock]$Condition)
    for ($i = 0; -not (& $Condition); $i++) {
        if ($i -ge 2 * $Seconds) { return $false }
        Start-Sleep -Milliseconds 500
    }
    return $true
}
#</if>
