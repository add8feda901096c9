#region The print spooler

$MaxWaitForSpoolerSeconds = 20
$script:SpoolerRestarted = $false

function Start-Spooler {
    # Makes sure that the spooler runs and answers. The first question may end it: while its answer is waited for, it
    # is started again, three times in all.
    $script:SpoolerStarts = 0
    $isThere = Wait-Until $MaxWaitForSpoolerSeconds {
        Start-StoppedSpooler
        try { $null = @(Get-PrinterDriver -ErrorAction Stop); $true } catch { $false }
    }
    if (-not $isThere) { Stop-Run 'The print spooler does not answer. Try again later.' $ExitBusy }
}

function Start-StoppedSpooler {
    $service = Get-Service 'Spooler'
    if ($service.Status -ne 'Stopped') { return }
    if ($service.StartType -eq 'Disabled') {
        Stop-Run 'The print spooler is disabled on this machine. Enable the service "Print Spooler" first.'
    }
    if ($WhatIfPreference) { Stop-Run 'The print spooler is stopped; -WhatIf does not start it.' $ExitBusy }
    if ($script:SpoolerStarts -ge 3) {
        Stop-Run 'The print spooler stops whenever it is started.' $ExitBusy
    }
    $script:SpoolerStarts++
    try {
        Start-Service 'Spooler'
        Write-Log 'The print spooler was started.'
    }
    catch {
        Stop-Run "The print spooler does not start: $($_.Exception.Message)" $ExitBusy
    }
}

#<if package|ipp|uninstall>
function Restart-Spooler {
    # At most once a run: others may be printing.
    param([string]$Because)
    if ($script:SpoolerRestarted) { return $false }
    $script:SpoolerRestarted = $true
    Write-Log "Restarting the print spooler: $Because"
    try { Restart-Service 'Spooler' -Force }
    catch {
        Write-Log "The print spooler did not restart: $($_.Exception.Message)"
    }
    Start-Spooler
    return $true
}
#</if>

function Invoke-Print {
    # Runs a command of the print subsystem. A spooler that stopped meanwhile is started again, twice at most.
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
    # The HRESULT of a failed cmdlet, such as 0x800706ba; '' without one. Texts are translated, codes are not.
    param($ErrorRecord)
    if ([string]$ErrorRecord.FullyQualifiedErrorId -match '0x[0-9a-fA-F]{8}') { return $Matches[0].ToLowerInvariant() }
    return ''
}

function Wait-Until {
    # Evaluates a condition every half second until it is true; whether it became so.
    param([int]$Seconds, [scriptblock]$Condition)
    for ($i = 0; $i -lt 2 * $Seconds; $i++) {
        if (& $Condition) { return $true }
        Start-Sleep -Milliseconds 500
    }
    return [bool](& $Condition)
}

#endregion
