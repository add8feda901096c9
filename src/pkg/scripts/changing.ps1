#region What install and uninstall share: logging, failing, waiting, the spooler

function Write-Log {
    # A line for the log file and for -Verbose. Nothing secret is ever passed in. The log never stops a run.
    param([string]$Message)
    Write-Verbose -Message $Message
    if (-not $script:Log) { return }
    try {
        $line = '{0:yyyy-MM-dd HH:mm:ss} [{1}] {2}' -f (Get-Date), $PID, ($Message -replace '\s+', ' ')
        Add-Content -LiteralPath $script:Log -Value $line -Encoding UTF8 -WhatIf:$false
    }
    catch {
        $script:Log = $null
    }
}

function Write-Change {
    param([string]$Message)
    $script:Changes++
    Write-Log -Message "Changed: $Message"
}

function Open-Log {
    # Beside Intune's own logs, which its portal collects, or in ProgramData. Over 1 MB it starts anew.
    param([string]$Path, [string]$Title)
    try {
        if (-not $Path) {
            $folder = "$env:ProgramData\Microsoft\IntuneManagementExtension\Logs"
            if (-not (Test-Path -LiteralPath $folder -PathType Container)) { $folder = "$env:ProgramData\Platen\Logs" }
            $Path = "$folder\$($Settings.LogName).log"
        }
        $folder = Split-Path -Path $Path -Parent
        if ($folder -and -not (Test-Path -LiteralPath $folder -PathType Container)) {
            $null = New-Item -ItemType Directory -Path $folder -Force -WhatIf:$false
        }
        if ((Test-Path -LiteralPath $Path) -and (Get-Item -LiteralPath $Path).Length -gt 1048576) {
            Move-Item -LiteralPath $Path -Destination "$Path.old" -Force -WhatIf:$false
        }
        $script:Log = $Path
    }
    catch {
        $script:Log = $null
        Write-Verbose -Message "No log: $($_.Exception.Message)"
    }
    $host64 = [IntPtr]::Size * 8
    Write-Log -Message "$Title starts: PowerShell $($PSVersionTable.PSVersion), $host64-bit, user $env:USERNAME"
}

function Stop-Run {
    # Ends the work on a printer with a message and the exit code that goes with it.
    param([string]$Message, [int]$Code = 1603)
    $exception = New-Object -TypeName InvalidOperationException -ArgumentList $Message
    $exception.Data['PlatenCode'] = $Code
    throw $exception
}

function Get-FailureCode {
    param($ErrorRecord)
    $exception = $ErrorRecord.Exception
    if ($exception.Data.Contains('PlatenCode')) { return [int]$exception.Data['PlatenCode'] }
    return 1603
}

function Wait-Until {
    # Asks again every half second until the answer is true; whether it became so.
    param([int]$Seconds, [scriptblock]$Condition)
    for ($i = 0; $i -lt 2 * $Seconds; $i++) {
        if (& $Condition) { return $true }
        Start-Sleep -Milliseconds 500
    }
    return [bool](& $Condition)
}

function Test-SpoolerAnswer {
    try {
        $null = @(Get-PrinterDriver -ErrorAction Stop)
        return $true
    }
    catch {
        return $false
    }
}

function Start-Spooler {
    # Makes sure that the spooler runs and answers.
    $service = Get-Service -Name 'Spooler' -ErrorAction Stop
    if ([string]$service.Status -ne 'Running') {
        if ([string]$service.StartType -eq 'Disabled') {
            Stop-Run -Message 'The print spooler is disabled on this machine. Enable the service "Print Spooler" first.'
        }
        if ($WhatIfPreference) { return }
        try {
            Start-Service -Name 'Spooler' -ErrorAction Stop
            Write-Log -Message 'The print spooler was started.'
        }
        catch {
            Stop-Run -Code 1618 -Message "The print spooler does not start: $($_.Exception.Message)"
        }
    }
    if (-not (Wait-Until -Seconds $script:MaxWaitForSpoolerSeconds -Condition { Test-SpoolerAnswer })) {
        Stop-Run -Code 1618 -Message 'The print spooler does not answer. Try again later.'
    }
}

function Restart-Spooler {
    # At most once a run: others may be printing.
    param([string]$Because)
    if ($script:SpoolerRestarted) { return $false }
    $script:SpoolerRestarted = $true
    Write-Log -Message "Restarting the print spooler: $Because"
    try {
        Restart-Service -Name 'Spooler' -Force -ErrorAction Stop
    }
    catch {
        Write-Log -Message "The print spooler did not restart: $($_.Exception.Message)"
    }
    Start-Spooler
    return $true
}

function Invoke-Print {
    # Runs a command of the print subsystem. A spooler that went away is started again, twice at most.
    param([scriptblock]$Command)
    for ($try = 1; ; $try++) {
        try {
            return & $Command
        }
        catch {
            if ((Get-ErrorCode -ErrorRecord $_) -notin '0x800706ba', '0x800706b5', '0x800706be', '0x800706d9') { throw }
            if ($try -ge 3) { Stop-Run -Code 1618 -Message "The print spooler keeps stopping: $($_.Exception.Message)" }
            Write-Log -Message "The print spooler went away ($(Get-ErrorCode -ErrorRecord $_))."
            Start-Spooler
        }
    }
}

function Set-RegistryValue {
    # Writes a value where it differs, and says whether it did.
    param([string]$Path, [string]$Name, $Value, [string]$Type = 'String')
    $old = Get-RegistryValue -Path $Path -Name $Name
    if ($null -ne $old -and $old -ceq $Value) { return $false }
    if (-not (Test-Path -LiteralPath $Path)) { $null = New-Item -Path $Path -Force -ErrorAction Stop }
    $null = New-ItemProperty -LiteralPath $Path -Name $Name -Value $Value -PropertyType $Type -Force -ErrorAction Stop
    return $true
}

function Remove-RegistryValue {
    param([string]$Path, [string]$Name)
    if ($null -eq (Get-RegistryValue -Path $Path -Name $Name)) { return }
    # Remove-ItemProperty takes wildcards in names, and port names may hold them.
    Remove-ItemProperty -LiteralPath $Path -Name ([WildcardPattern]::Escape($Name)) -Force -ErrorAction Stop
}

function Remove-RegistryKey {
    param([string]$Path)
    if (Test-Path -LiteralPath $Path) { Remove-Item -LiteralPath $Path -Recurse -Force -ErrorAction Stop }
}

function Get-MarkerPath {
    param($Printer)
    return "$script:MarkerRoot\Printers\$($Printer.Id)"
}

function Test-PortMade {
    # Whether this service made the port: only then it may take it away.
    param([string]$Name)
    return $null -ne (Get-RegistryValue -Path "$script:MarkerRoot\Ports" -Name $Name)
}

function Remove-OwnPort {
    # Takes a port away that we made and that no queue uses; whether it is gone.
    param([string]$Name)
    if (-not $Name -or -not (Test-PortMade -Name $Name)) { return $true }
    $port = Invoke-Print -Command { Get-Port -Name $Name }
    $users = @(Invoke-Print -Command { Get-Printer -ErrorAction Stop } | Where-Object -FilterScript { $_.PortName -eq $Name })
    if ($users.Count -gt 0) {
        Write-Log -Message "Port $Name stays: $($users[0].Name) uses it."
        return $true
    }
    if ($null -ne $port) {
        try {
            Invoke-Print -Command { Remove-PrinterPort -InputObject $port -ErrorAction Stop }
        }
        catch {
            Write-Log -Message "Port $Name is not free yet: $($_.Exception.Message)"
            return $false
        }
        Write-Change -Message "port $Name removed"
    }
    Remove-RegistryValue -Path "$script:MarkerRoot\Ports" -Name $Name
    return $true
}

function Remove-Queue {
    # Takes a queue away and waits until Windows no longer lists it; whether it is gone.
    param([string]$Name)
    $queue = Invoke-Print -Command { Get-LocalQueue -Name $Name }
    if ($null -eq $queue) { return $true }
    Invoke-Print -Command { Remove-Printer -InputObject $queue -ErrorAction Stop }
    Write-Change -Message "queue $Name removed"
    return Wait-Until -Seconds 10 -Condition { $null -eq (Invoke-Print -Command { Get-LocalQueue -Name $Name }) }
}

#region The run: every printer gets its try, one sentence and one exit code at the end

$script:Plan = @()
$script:Remarks = @()
$script:Results = @()
$script:ExitCode = 1603

function Add-Remark {
    # Something that is no failure, but that the result should say.
    param([string]$Message)
    $script:Remarks += $Message
    Write-Log -Message "Remark: $Message"
}

function Invoke-Run {
    # The whole run: checks the rights, keeps others out, works on each printer, says the result.
    param([string]$Verb, [string]$Nothing, [scriptblock]$Work)
    try {
        if (-not (Test-Administrator)) { Stop-Run -Message 'This script needs administrator rights.' }
        $mutex = Enter-Exclusive -Seconds $script:MaxWaitForOthersSeconds
        if ($null -eq $mutex) {
            Stop-Run -Code 1618 -Message 'Another installation of printers is running on this machine. Try again later.'
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
    # Every printer gets its try, whatever became of the others.
    param($Printer, [string]$Verb, [string]$Nothing, [scriptblock]$Work)
    $before = $script:Changes
    $script:Remarks = @()
    $result = @{ Name = $Printer.Name; Code = 0; Message = $Nothing }
    try {
        $null = & $Work $Printer
        if ($script:Changes -gt $before) { $result.Message = $Verb.ToLowerInvariant() }
        if ($WhatIfPreference) { $result.Message = 'checked only' }
        if ($script:Remarks.Count -gt 0) { $result.Message += "; $($script:Remarks -join '; ')" }
    }
    catch {
        $result.Code = Get-FailureCode -ErrorRecord $_
        $result.Message = $_.Exception.Message
        Write-Log -Message "Failed: $($_.Exception.Message) at $($_.InvocationInfo.PositionMessage)"
    }
    return $result
}

function Complete-Run {
    # The last line says the result in one sentence; the exit code says the same. The worst result counts.
    param([string]$Verb)
    foreach ($line in $script:Plan) { Write-Output -InputObject "What if: $line" }
    $results = @($script:Results)
    if ($results.Count -gt 1) {
        foreach ($result in $results) { Write-Output -InputObject ("$($result.Name): $($result.Message)" -replace '\s+', ' ') }
    }
    $failed = @($results | Where-Object -FilterScript { $_.Code -ne 0 })
    if ($failed.Count -gt 0) {
        $script:ExitCode = 1603
        if (@($failed | Where-Object -FilterScript { $_.Code -ne 1618 }).Count -eq 0) { $script:ExitCode = 1618 }
        $last = "$($failed[0].Name): $($failed[0].Message)"
        if ($results.Count -gt 1) { $last = "$($failed.Count) of $($results.Count) printers, first $last" }
        $last = "Failed: $last"
    }
    else {
        $script:ExitCode = $script:RebootCode
        $last = "${Verb}: $($results[0].Name): $($results[0].Message)"
        if ($results.Count -gt 1) { $last = "${Verb}: all $($results.Count) printers" }
        if ($script:ExitCode -ne 0) { $last = "$last (Windows asks for a restart)" }
    }
    Write-Log -Message "$last (exit code $script:ExitCode)"
    Write-Output -InputObject ($last -replace '\s+', ' ')
}

#endregion

#endregion
