<#
.SYNOPSIS
Says what is wrong with printers on this machine, and what is right. Changes nothing.

.DESCRIPTION
Made by Platen. Prints one finding a line, which begins with "ok   ", "warn " or "bad  " and with the name of the
check, and the verdict on the last line. Asks Windows for the spooler, the queue with its driver, port, status and
jobs, the print log, other queues of the same device and default printers; asks the device whether its name, its
port, IPP and SNMP answer, and whether it could print without a driver of its maker's. Needs no other file and writes
none. Without elevation it sees less, and says so.

Exit codes:
0  nothing is bad
1  something is bad; the last line says what

.PARAMETER AsJson
Prints the same findings as one line of JSON: exitCode, and findings with level, check, printer and text.

.PARAMETER TimeoutSeconds
How long each question to a device may take, from 1 to 60.

.EXAMPLE
powershell.exe -NoProfile -NonInteractive -ExecutionPolicy Bypass -File .\diagnose.ps1
#>
[CmdletBinding()]
param(
    [switch]$AsJson,
    [int]$TimeoutSeconds = 5
)

Set-StrictMode -Version 2.0
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
$PassedOn = @{ AsJson = [bool]$AsJson; TimeoutSeconds = [string]$TimeoutSeconds }

#<settings>
$Settings = @{}
#</settings>

#<parts>
#</parts>

$script:Seconds = [Math]::Max(1, [Math]::Min(60, $TimeoutSeconds))

function Get-PrintSystem {
    # Everything that the spooler lists; $null where it does not answer.
    if (-not $script:SpoolerAnswers) { return $null }
    try {
        return @{
            Queues = @(Get-Printer -ErrorAction Stop)
            Ports = @(Get-PrinterPort -ErrorAction Stop)
            Drivers = @(Get-PrinterDriver -ErrorAction Stop)
        }
    }
    catch {
        Add-Finding 'bad' 'spooler' "stopped answering: $($_.Exception.Message)"
        return $null
    }
}

function Test-Printer {
    param($Printer, $System)
    $queue = $null
    $port = $null
    $script:DeviceAddresses = @()
    if ($null -ne $System) {
        $queue = @($System.Queues | Where-Object { $_.Name -eq $Printer.Name -and [string]$_.Type -ne 'Connection' })[0]
        if ($null -ne $queue) { $port = @($System.Ports | Where-Object Name -eq $queue.PortName)[0] }
    }
    Test-Protection $Printer
    Test-Deployment $Printer -System $System -Queue $queue -Port $port
    if ($Printer.HasQueue -and $Printer.Address) { Invoke-Check 'tcp' { Test-Device $Printer $port } }
    if (-not $Printer.HasQueue) { return }
    if ($null -ne $queue) {
        Invoke-Check 'status' { Test-QueueStatus $Printer $queue }
        Invoke-Check 'jobs' { Test-Job $Printer }
    }
    Invoke-Check 'log' { Test-Printed $Printer }
    if ($null -ne $System) { Invoke-Check 'doubles' { Test-Double $Printer $System.Queues $System.Ports } }
    Invoke-Check 'default' { Test-DefaultPrinter $Printer }
}

Invoke-Check 'rights' { Test-Right }
Invoke-Check 'spooler' { Test-Spooler }
Invoke-Check 'protected-print' { Test-ProtectionMode }
Invoke-Check 'ranking' { Test-DriverRanking }
Invoke-Check 'log' { Test-PrintLog }
$system = Get-PrintSystem
foreach ($printer in $Settings.Printers) {
    $script:Subject = $printer.Name
    Invoke-Check 'queue' { Test-Printer $printer $system }
}
$script:Subject = ''
Write-Result
exit $script:ExitCode
