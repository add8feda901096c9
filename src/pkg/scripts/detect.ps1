<#
.SYNOPSIS
Says whether printers are installed as they should be. Changes nothing.

.DESCRIPTION
Made by Platen. Prints one line, "Installed: ..." with exit code 0, or "Not installed: ..." with exit code 1
and the first difference. Works as an Intune detection script, in an RMM, and by hand. Needs no other file.
#>
[CmdletBinding()]
param()

Set-StrictMode -Version 2.0
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
# To the 64-bit PowerShell, where a 32-bit one started this script.
$PassedOn = @{}

#<settings>
$Settings = @{}
#</settings>

#<parts>
#</parts>

function Get-Difference {
    # The first way in which a printer is not as it should be; $null when it is.
    param($Printer, $Queues, $Ports, $Drivers)
    $revision = Get-RegistryValue -Path (Get-MarkerPath -Printer $Printer) -Name 'Revision'
    #<if queue>
    if ($Printer.HasQueue) {
        $difference = Get-DeployedQueueDifference -Printer $Printer -Queues $Queues -Ports $Ports
        if ($difference) { return $difference }
    }
    #</if>
    #<if package|windows|apart>
    $driver = @($Settings.Drivers | Where-Object -FilterScript { $_.Key -eq $Printer.DriverKey })[0]
    $difference = Get-DriverDifference -Printer $Printer -Driver $driver -Drivers $Drivers
    if ($difference) { return $difference }
    #</if>
    if (-not $revision) { return 'it was not installed by these scripts' }
    if ($revision -ne $Printer.Revision) { return "its revision is $revision, not $($Printer.Revision)" }
    return $null
}

#<if package|windows|apart>
function Get-DriverDifference {
    param($Printer, $Driver, $Drivers)
    #<if ipp>
    if ($Driver.Origin -eq 'ipp') { return $null }
    #</if>
    if (@($Drivers | Where-Object -FilterScript { $_.Name -eq $Printer.DriverName }).Count -eq 0) {
        return "the driver $($Printer.DriverName) is not there"
    }
    #<if package|apart>
    #<if windows>
    if ($Driver.Origin -eq 'windows') { return $null }
    #</if>
    $installed = Get-DriverVersion -Name $Printer.DriverName
    if (-not (Test-DriverCurrent -Installed $installed -Driver $Driver)) {
        $version = 'unknown'
        if ($null -ne $installed -and $installed.Version) { $version = $installed.Version }
        return "the driver's version is $version, not $($Driver.Version)"
    }
    #</if>
    return $null
}
#</if>

#<if queue>
function Get-DeployedQueueDifference {
    param($Printer, $Queues, $Ports)
    $queue = @($Queues | Where-Object -FilterScript { $_.Name -eq $Printer.Name -and [string]$_.Type -ne 'Connection' })
    if ($queue.Count -eq 0) { return 'there is no such queue' }
    # The port may have another name than the wanted one, where that was taken: its address counts.
    $difference = Get-QueueDifference -Queue $queue[0] -Printer $Printer -PortName ''
    foreach ($name in @($difference.Keys | Sort-Object)) {
        return "$name is $(Get-Property -InputObject $queue[0] -Name $name), not $($difference[$name])"
    }
    #<if ipp>
    if ($Printer.IppUrl) {
        $difference = Get-IppDifference -Printer $Printer -Queue $queue[0] -Ports $Ports
        if (-not $difference) { $difference = Get-RememberedDifference -Printer $Printer -Queue $queue[0] }
        return $difference
    }
    #</if>
    #<if port>
    $port = @($Ports | Where-Object -FilterScript { $_.Name -eq $queue[0].PortName })
    if ($port.Count -eq 0) { return "its port $($queue[0].PortName) is not there" }
    if (-not $Printer.Address -and $queue[0].PortName -ne $Printer.PortName) {
        return "its port is $($queue[0].PortName), not $($Printer.PortName)"
    }
    $portDifference = Get-PortDifference -Port $port[0] -Printer $Printer
    if ($portDifference) { return "port $($queue[0].PortName): $portDifference" }
    #</if>
    return $null
}
#</if>

$name = ''
try {
    $name = $Settings.Printers[0].Name
    $queues = @(Get-Printer -ErrorAction Stop)
    $ports = @(Get-PrinterPort -ErrorAction Stop)
    $drivers = @(Get-PrinterDriver -ErrorAction Stop)
    $difference = $null
    foreach ($printer in $Settings.Printers) {
        $name = $printer.Name
        $difference = Get-Difference -Printer $printer -Queues $queues -Ports $ports -Drivers $drivers
        if ($difference) { break }
    }
}
catch {
    $difference = "Windows does not answer: $($_.Exception.Message)"
}
if ($difference) {
    Write-Output -InputObject ("Not installed: ${name}: $difference" -replace '\s+', ' ')
    exit 1
}
if ($Settings.Printers.Count -gt 1) { $name = "all $($Settings.Printers.Count) printers" }
Write-Output -InputObject "Installed: $name"
exit 0
