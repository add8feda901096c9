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

$name = ''
try {
    $name = $Settings.Printers[0].Name
    $queues = @(Get-Printer -ErrorAction Stop)
    $ports = @(Get-PrinterPort -ErrorAction Stop)
    $drivers = @(Get-PrinterDriver -ErrorAction Stop)
    $difference = $null
    foreach ($printer in $Settings.Printers) {
        $name = $printer.Name
        $difference = @(Get-Difference -Printer $printer -Queues $queues -Ports $ports -Drivers $drivers)[0]
        if ($difference) { break }
    }
}
catch {
    $difference = @{ Text = "Windows does not answer: $($_.Exception.Message)" }
}
if ($difference) {
    Write-Output -InputObject ("Not installed: ${name}: $($difference.Text)" -replace '\s+', ' ')
    exit 1
}
if ($Settings.Printers.Count -gt 1) { $name = "all $($Settings.Printers.Count) printers" }
Write-Output -InputObject "Installed: $name"
exit 0
