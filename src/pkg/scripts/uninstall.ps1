<#
.SYNOPSIS
#<if printer>
Removes the queues of printers, the ports that Platen made for them, and their drivers unless something else uses them.
#</if>
#<if alone>
Removes a printer driver that Platen installed without a printer, unless a queue or another deployment uses it.
#</if>

.DESCRIPTION
Made by Platen. Run it as SYSTEM or as an administrator, with Windows PowerShell 5.1. It succeeds if nothing is there.
Windows removes queues with a delay. The script tries ports and drivers that are still busy again for some seconds, and once
more after a restart of the spooler. The last line names what Windows has not let go yet. The log names what something else uses.

Exit codes:
0     removed, or nothing to do
1618  busy: try again later; the last line says what is busy
1603  failed; the last line says why

.PARAMETER Force
Deletes all jobs of the queue. Without it, jobs get a minute to print. Then stuck jobs and jobs older than a day are deleted.

.PARAMETER LogPath
The log file. The default folder is Intune's log folder on PCs with Intune, else %SystemRoot%\Logs\Platen.

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

### The work
function Uninstall-Printer {
    param($Printer)
    Start-Spooler
    $driver = @($Settings.Drivers | Where-Object { $_.Key -eq $Printer.DriverKey })[0]
    #<if exact>
    Complete-Exchange $Printer.DriverName
    #</if>
    #<if printer>
    Remove-Logon $Printer
    Remove-LogonRecord $Printer
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
