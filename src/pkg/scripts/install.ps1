<#
.SYNOPSIS
#<if printer>
Installs printers with their drivers and ports, and repairs what has drifted.
#</if>
#<if alone>
Installs a printer driver by itself, under each name that printers use.
#</if>

.DESCRIPTION
Made by Platen for what stands in the settings below. Run it as SYSTEM or as an administrator, with Windows
PowerShell 5.1. A second run changes nothing. What an interrupted run left undone, the next one does.

#<if printer>
What it does, in this order: checks the machine, then for each printer its driver, port, queue,
preferences, old queues, default printer, and last of all the marker that detection compares.

#</if>
Exit codes:
0     installed, or nothing to do
3010  installed; Windows wants a restart
1641  installed; Windows is restarting
1618  busy: the spooler or another installation is in the way; try again later
1603  failed; the last line says why

.PARAMETER OnlyHere
Skips printers that belong in subnets in which this machine has no address, with exit code 0.

.PARAMETER LogPath
The log file. Without it: Intune's log folder where its service is, else %SystemRoot%\Logs\Platen.

.EXAMPLE
powershell.exe -NoProfile -NonInteractive -ExecutionPolicy Bypass -File .\install.ps1 -WhatIf
Lists what it would do, and does nothing.
#>
[CmdletBinding(SupportsShouldProcess)]
param(
    [switch]$OnlyHere,
    [string]$LogPath = ''
)

Set-StrictMode -Version 2.0
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
$PassedOn = @{ LogPath = $LogPath; OnlyHere = $OnlyHere; WhatIf = $WhatIfPreference; Verbose = $VerbosePreference -eq 'Continue' }

#<settings>
$Settings = @{}
#</settings>

#<parts>
#</parts>

function Confirm-Change {
    # False with -WhatIf: the change is only noted.
    param([string]$Message)
    if (-not $WhatIfPreference) { return $true }
    $script:Plan += $Message
    return $false
}

function Install-Printer {
    param($Printer)
    #<if subnets>
    if ($OnlyHere) {
        # Why the printer being worked on does not belong here; empty where it does.
        $script:Away = [string](Get-SiteDifference $Printer)
        if ($script:Away) { return }
    }
    #</if>
    $driver = @($Settings.Drivers | Where-Object { $_.Key -eq $Printer.DriverKey })[0]
    Write-Log "$($Printer.Name): revision $($Printer.Revision), driver $($Printer.DriverName) $($driver.Version)"
    Assert-Machine $driver
    Start-Spooler
    #<if alone>
    Install-DriverAlone $Printer $driver
    if (-not $WhatIfPreference) { Set-Marker $Printer $driver }
    #</if>
    #<if printer>
    #<if windows>
    if ($driver.Origin -eq 'windows') { Install-WindowsDriver $Printer }
    #</if>
    #<if package>
    if ($driver.Origin -eq 'package') { Install-Driver $Printer $driver }
    #</if>
    #<if apart>
    if ($driver.Origin -eq 'apart') { Assert-Driver $Printer $driver }
    #</if>
    $portName = ''
    #<if queue>
    if ($Printer.HasQueue) {
        $queue = Get-LocalQueue $Printer.Name
        #<if ipp>
        if ($Printer.IppUrl) { $portName = Install-IppQueue $Printer $queue }
        #</if>
        #<if port>
        if (-not $Printer.IppUrl) {
            $portName = Install-Port $Printer $queue
            Install-Queue $Printer $queue $portName
        }
        #</if>
        #<if ticket>
        $hasTicket = Set-PrintTicket $Printer
        #</if>
        #<if preferences>
        Set-Preference $Printer
        #</if>
        #<if ticket>
        # When all preferences are set: others go after the ticket, and change what is read back.
        if ($hasTicket) { Set-RegistryValue (Get-MarkerPath $Printer) 'Ticket' (Get-TicketState $Printer) }
        #</if>
    }
    #</if>
    Remove-Replaced $Printer
    #<if ipp>
    if ($Printer.IppUrl) { Show-Double $Printer $portName }
    #</if>
    if (-not $WhatIfPreference) { Remove-LeftPort $Printer $portName }
    Remove-LogonSetup $Printer
    #<if default>
    if ($Printer.HasQueue) { Set-DefaultPrinter $Printer }
    #</if>
    #<if connections>
    Remove-Connection $Printer
    #</if>
    #<if reset>
    if ($Printer.HasQueue) { Reset-UserPreference $Printer }
    #</if>
    if (-not $WhatIfPreference) { Set-Marker $Printer $driver $portName }
    #</if>
}

Open-Log $LogPath 'Installation'
#<if download>
try {
    #</if>
    Invoke-Run 'Installed' 'nothing to change' { param($Printer) Install-Printer $Printer }
    #<if download>
}
finally {
    foreach ($folder in $script:TemporaryFolders) {
        Remove-Item -LiteralPath $folder -Recurse -Force -ErrorAction SilentlyContinue -WhatIf:$false
    }
}
#</if>
exit $script:ExitCode
