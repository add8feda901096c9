<#
.SYNOPSIS
#<if printer>
Removes printers that Platen installed, with their ports and drivers, as far as nobody else uses them.
#</if>
#<if alone>
Removes a printer driver that Platen installed by itself, as far as no queue and no other deployment uses it.
#</if>

.DESCRIPTION
Made by Platen. Run it as SYSTEM or as an administrator, with Windows PowerShell 5.1. What is not there
is removed already. Windows deletes queues some time after it was asked to: ports and drivers that it
still calls busy are tried again for a while, then after one restart of the spooler; the last line names what stays.

Exit codes:
0     removed, or nothing to do
1618  busy: open jobs, the spooler or another installation is in the way; try again later
1603  failed; the last line says why

.PARAMETER Force
Removes a queue that still has jobs. Without it they get a minute to print.

.PARAMETER LogPath
The log file. Without it: Intune's log folder where its service is, else %SystemRoot%\Logs\Platen.

.EXAMPLE
powershell.exe -NoProfile -NonInteractive -ExecutionPolicy Bypass -File .\uninstall.ps1
#>
[CmdletBinding()]
param(
    [switch]$Force,
    [string]$LogPath = ''
)

Set-StrictMode -Version 2.0
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
$PassedOn = @{ LogPath = $LogPath; Force = $Force; Verbose = $VerbosePreference -eq 'Continue' }

#<settings>
$Settings = @{}
#</settings>

#<parts>
#</parts>

function Uninstall-Printer {
    param($Printer)
    Start-Spooler
    $driver = @($Settings.Drivers | Where-Object { $_.Key -eq $Printer.DriverKey })[0]
    #<if printer>
    Remove-LogonSetup $Printer
    if ($Printer.HasQueue) {
        Uninstall-Queue $Printer
        Undo-Default $Printer
    }
    Remove-Driver $Printer $driver
    #</if>
    #<if alone>
    Remove-DriverAlone $Printer
    #</if>
    Remove-Publisher $Printer $driver
    Remove-Marker $Printer
}

Open-Log $LogPath 'Removal'
Invoke-Run 'Removed' 'nothing was there' { param($Printer) Uninstall-Printer $Printer }
exit $script:ExitCode
