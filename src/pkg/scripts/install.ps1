<#
.SYNOPSIS
#<if printer>
Installs printers with their drivers and ports, and repairs what has drifted.
#</if>
#<if alone>
Installs a printer driver by itself, under each name that printers use.
#</if>

.DESCRIPTION
Made by Platen. Everything that differs from one printer to the next stands in the settings below; the
rest is the same in every script. Run it as SYSTEM or as an administrator, with Windows PowerShell 5.1.
A second run changes nothing. What an interrupted run left undone, the next one does.

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
The log file. Without it: Intune's log folder where there is one, else %ProgramData%\Platen\Logs.

.EXAMPLE
powershell.exe -NoProfile -NonInteractive -ExecutionPolicy Bypass -File .\install.ps1

.EXAMPLE
powershell.exe -NoProfile -NonInteractive -ExecutionPolicy Bypass -File .\install.ps1 -WhatIf
Lists what it would do, and does nothing.
#>
[CmdletBinding(SupportsShouldProcess = $true)]
param(
    [switch]$OnlyHere,
    [string]$LogPath = ''
)

Set-StrictMode -Version 2.0
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
# To the 64-bit PowerShell, where a 32-bit one started this script.
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
        $script:Away = [string](Get-SiteDifference -Printer $Printer)
        if ($script:Away) { return }
    }
    #</if>
    $driver = @($Settings.Drivers | Where-Object -FilterScript { $_.Key -eq $Printer.DriverKey })[0]
    Write-Log -Message "$($Printer.Name): revision $($Printer.Revision), driver $($Printer.DriverName) $($driver.Version)"
    Assert-Machine -Driver $driver
    Start-Spooler
    #<if alone>
    Install-DriverAlone -Printer $Printer -Driver $driver
    if (-not $WhatIfPreference) { Set-Marker -Printer $Printer -Driver $driver }
    #</if>
    #<if printer>
    #<if windows>
    if ($driver.Origin -eq 'windows') { Install-WindowsDriver -Printer $Printer }
    #</if>
    #<if package>
    if ($driver.Origin -eq 'package') { Install-Driver -Printer $Printer -Driver $driver }
    #</if>
    #<if apart>
    if ($driver.Origin -eq 'apart') { Assert-Driver -Printer $Printer -Driver $driver }
    #</if>
    $portName = ''
    #<if queue>
    if ($Printer.HasQueue) {
        $queue = Invoke-Print -Command { Get-LocalQueue -Name $Printer.Name }
        #<if ipp>
        if ($Printer.IppUrl) { $portName = Install-IppQueue -Printer $Printer -Queue $queue }
        #</if>
        #<if port>
        if (-not $Printer.IppUrl) {
            $portName = Install-Port -Printer $Printer -Queue $queue
            Install-Queue -Printer $Printer -Queue $queue -PortName $portName
        }
        #</if>
        #<if ticket>
        $hasTicket = Set-PrintTicket -Printer $Printer
        #</if>
        #<if preferences>
        Set-Preference -Printer $Printer
        #</if>
        #<if ticket>
        if ($hasTicket) { Save-TicketState -Printer $Printer }
        #</if>
    }
    #</if>
    Remove-Replaced -Printer $Printer
    #<if ipp>
    if ($Printer.IppUrl) { Show-Double -Printer $Printer -PortName $portName }
    #</if>
    if (-not $WhatIfPreference) { Remove-LeftPort -Printer $Printer -Kept $portName }
    Remove-LogonSetup -Printer $Printer
    #<if default>
    if ($Printer.HasQueue) { Set-DefaultPrinter -Printer $Printer }
    #</if>
    #<if connections>
    Remove-Connection -Printer $Printer
    #</if>
    #<if reset>
    if ($Printer.HasQueue) { Reset-UserPreference -Printer $Printer }
    #</if>
    if (-not $WhatIfPreference) { Set-Marker -Printer $Printer -Driver $driver -PortName $portName }
    #</if>
}

Open-Log -Path $LogPath -Title 'Installation'
#<if download>
try {
    #</if>
    Invoke-Run -Verb 'Installed' -Nothing 'nothing to change' -Work { param($Printer) Install-Printer -Printer $Printer }
    #<if download>
}
finally {
    foreach ($folder in $script:TemporaryFolders) {
        Remove-Item -LiteralPath $folder -Recurse -Force -ErrorAction SilentlyContinue -WhatIf:$false
    }
}
#</if>
exit $script:ExitCode
