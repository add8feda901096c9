<#
.SYNOPSIS
#<if printer>
Installs printers with their drivers and ports, and repairs what has changed.
#</if>
#<if alone>
Installs a printer driver without a printer, under each name that printers use.
#</if>

.DESCRIPTION
Made by Platen for the settings below. Run it as SYSTEM or as an administrator, with Windows PowerShell 5.1. A second run
changes nothing. After an interrupted run, the next one completes the work.

#<if printer>
It checks the machine, installs the driver, the port and the queue with all that is set for them, removes old queues, and
writes the marker that detect.ps1 compares. Read Install-Printer, the last function, first.

#</if>
Exit codes:
0     installed, or nothing to do
3010  installed; Windows wants a restart
1641  installed; Windows is restarting
1618  busy: try again later; the last line says what is busy
1603  failed; the last line says why

#<if subnets>
.PARAMETER OnlyHere
Skips printers whose subnets this machine is not in. The exit code is 0.

#</if>
.PARAMETER LogPath
The log file. The default folder is Intune's log folder on PCs with Intune, else %SystemRoot%\Logs\Platen.

.EXAMPLE
powershell.exe -NoProfile -NonInteractive -ExecutionPolicy Bypass -File .\install.ps1 -WhatIf
Lists the main changes that it would make, and writes only its log. It needs administrator rights, too.
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

### The work
function Confirm-Change {
    # Returns false with -WhatIf, and notes the change.
    param([string]$Message)
    if (-not $WhatIfPreference) { return $true }
    $script:Plan += $Message
    return $false
}

function Install-Printer {
    # Each step changes only what is not as wanted.
    param($Printer)
    #<if subnets>
    $script:Away = ''
    if ($OnlyHere) { $script:Away = [string](Get-SiteDifference $Printer) }
    if ($script:Away) { return }
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
        #<if options>
        Set-QueueOption $Printer
        #</if>
        #<if files>
        Restore-VendorPreference $Printer
        #</if>
        #<if ticket>
        $hasTicket = Set-PrintTicket $Printer
        #</if>
        #<if preferences>
        Set-Preference $Printer
        #</if>
        #<if ticket>
        # After all preferences, because they change the ticket that is read back.
        if ($hasTicket) { Set-RegistryValue (Get-MarkerPath $Printer) 'Ticket' (Get-TicketState $Printer) }
        #</if>
        #<if options>
        Set-QueuePermission $Printer
        #</if>
    }
    #</if>
    Remove-Replaced $Printer
    #<if ipp>
    if ($Printer.IppUrl) { Show-Double $Printer $portName }
    #</if>
    #<if default>
    if ($Printer.HasQueue) { Set-DefaultPrinter $Printer }
    #</if>
    #<if connections>
    Remove-Connection $Printer
    #</if>
    #<if reset>
    if ($Printer.HasQueue) { Reset-UserPreference $Printer }
    #</if>
    #<if logon>
    Set-Logon $Printer
    #</if>
    if ($WhatIfPreference) { return }
    Remove-LeftPort $Printer $portName
    #<if no-logon>
    Remove-Logon $Printer
    #</if>
    Set-Marker $Printer $driver $portName
    #</if>
}

Open-Log $LogPath 'Installation'
#<if download|files>
try {
    #</if>
    Invoke-Run 'Installed' 'nothing to change' { param($Printer) Install-Printer $Printer }
    #<if download|files>
}
finally {
    foreach ($folder in $script:TemporaryFolders) {
        Remove-Item -LiteralPath $folder -Recurse -Force -ErrorAction SilentlyContinue -WhatIf:$false
    }
}
#</if>
exit $script:ExitCode
