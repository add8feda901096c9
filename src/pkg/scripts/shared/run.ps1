### The run
$script:ExitCode = $ExitFailed
$script:Remarks = @()
#<if install>
$script:Plan = @()
#</if>

#<if one>
function Invoke-Run {
    # Checks the rights, takes the lock and does the work. The last line and the exit code are the result.
    param([string]$Verb, [string]$Nothing, [scriptblock]$Work)
    $kind, $who, $lock = 'Failed', '', $null
    try {
        $lock = Enter-Exclusive
        $who = "$($Settings.Printers[0].Name): "
        $null = & $Work $Settings.Printers[0]
        $kind = $Verb
        $done = @($Nothing)
        if ($script:Changes -gt 0) { $done = @($Verb.ToLowerInvariant()) }
        #<if install>
        if ($WhatIfPreference) { $kind, $done = 'Checked', @('nothing was changed') }
        #</if>
        $text = $done + $script:Remarks -join '; '
        #<if uninstall>
        $script:ExitCode = $ExitDone
        #</if>
        #<if install>
        $script:ExitCode = $script:RebootCode
        if ($script:RebootCode -ne $ExitDone) { $text += ' (Windows asks for a restart)' }
        #<if subnets>
        if ($script:Away) { $kind, $who, $text = 'Skipped', '', $script:Away }
        #</if>
        foreach ($line in $script:Plan) { Write-Output ("What if: $line" -replace $Unprintable, ' ') }
        #</if>
    }
    catch {
        Write-Log "Failed at $($_.InvocationInfo.PositionMessage)"
        $script:ExitCode = Get-FailureCode $_
        $text = $_.Exception.Message
    }
    finally { if ($null -ne $lock) { $lock.Dispose() } }
    Write-Log "${kind}: $who$text (exit code $script:ExitCode)"
    Write-Output ("${kind}: $who$text" -replace $Unprintable, ' ')
}
#</if>

#<if many>
function Invoke-Run {
    # Checks the rights, takes the lock and works on each printer. The last line and the exit code are the result.
    param([string]$Verb, [string]$Nothing, [scriptblock]$Work)
    $lock = $null
    try {
        $lock = Enter-Exclusive
        $results = @(foreach ($printer in $Settings.Printers) { Invoke-OnPrinter $printer $Verb $Nothing $Work })
        #<if install>
        foreach ($line in $script:Plan) { Write-Output ("What if: $line" -replace $Unprintable, ' ') }
        #</if>
        foreach ($each in $results) { Write-Output ($each.Text -replace $Unprintable, ' ') }
        $result = Join-Result $results $Verb
        #<if install>
        if ($result.Kind -eq $Verb -and $script:RebootCode -ne $ExitDone) {
            $result.Code = $script:RebootCode
            $result.Text += ' (Windows asks for a restart)'
        }
        if ($result.Kind -eq $Verb -and $WhatIfPreference) { $result.Kind = 'Checked' }
        #</if>
    }
    catch {
        Write-Log "Failed at $($_.InvocationInfo.PositionMessage)"
        $result = @{ Kind = 'Failed'; Code = Get-FailureCode $_; Text = $_.Exception.Message }
    }
    finally { if ($null -ne $lock) { $lock.Dispose() } }
    $script:ExitCode = $result.Code
    Write-Log "$($result.Kind): $($result.Text) (exit code $script:ExitCode)"
    Write-Output ("$($result.Kind): $($result.Text)" -replace $Unprintable, ' ')
}

function Invoke-OnPrinter {
    # Works on one printer and returns its result. A failure does not keep the others from being worked on.
    param($Printer, [string]$Verb, [string]$Nothing, [scriptblock]$Work)
    $before = $script:Changes
    $script:Remarks = @()
    try {
        $null = & $Work $Printer
        #<if install>
        #<if subnets>
        if ($script:Away) { return @{ Kind = 'Skipped'; Code = $ExitDone; Text = "$($Printer.Name): $script:Away" } }
        #</if>
        #</if>
        $done = @($Nothing)
        if ($script:Changes -gt $before) { $done = @($Verb.ToLowerInvariant()) }
        #<if install>
        if ($WhatIfPreference) { $done = @('nothing was changed') }
        #</if>
        return @{ Kind = $Verb; Code = $ExitDone; Text = "$($Printer.Name): $($done + $script:Remarks -join '; ')" }
    }
    catch {
        Write-Log "Failed at $($_.InvocationInfo.PositionMessage)"
        return @{ Kind = 'Failed'; Code = Get-FailureCode $_; Text = "$($Printer.Name): $($_.Exception.Message)" }
    }
}

function Join-Result {
    # One result for all printers. The worst counts.
    param($Results, [string]$Verb)
    $worked = @($Results | Where-Object { $_.Kind -ne 'Skipped' })
    $skipped = $Results.Count - $worked.Count
    if ($worked.Count -eq 0) {
        return @{ Kind = 'Skipped'; Code = $ExitDone; Text = "not at this site (all $skipped printers)" }
    }
    $failed = @($worked | Where-Object { $_.Kind -eq 'Failed' })
    $result = @{ Kind = $Verb; Code = $ExitDone; Text = "all $($worked.Count) printers" }
    if ($worked.Count -eq 1) { $result = $worked[0] }
    elseif ($failed.Count -gt 0) {
        $result = @{ Kind = 'Failed'; Code = $failed[0].Code; Text = "$($failed.Count) of $($worked.Count) printers, first $($failed[0].Text)" }
        if (@($failed | Where-Object { $_.Code -ne $ExitBusy }).Count -gt 0) { $result.Code = $ExitFailed }
    }
    if ($skipped -gt 0) { $result.Text += "; $skipped skipped: not at this site" }
    return $result
}
#</if>

#<if printer|uninstall|package>
function Add-Remark {
    # Adds to the last line what is no failure.
    param([string]$Message)
    $script:Remarks += $Message
    Write-Log "Remark: $Message"
}
#</if>

function Enter-Exclusive {
    # Checks the rights and returns a lock that keeps other runs out until it is disposed. The lock is a file, because any
    # user could hold a mutex. Users cannot create files in the Windows folder.
    if (-not (Test-Administrator)) { Stop-Run 'This script needs administrator rights.' }
    for ($wait = 0; $wait -lt 180; $wait++) {
        try { return [IO.FileStream]::new((Join-Path $env:windir 'Platen.lock'), [IO.FileMode]'OpenOrCreate', [IO.FileAccess]'ReadWrite', [IO.FileShare]'None', 1, [IO.FileOptions]'DeleteOnClose') }
        catch [IO.IOException], [UnauthorizedAccessException] { $problem = $_.Exception.Message; Start-Sleep -Milliseconds 500 }
    }
    Stop-Run "Another installation of printers is running on this machine. Try again later. ($problem)" $ExitBusy
}
