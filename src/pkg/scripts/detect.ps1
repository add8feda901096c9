<#
.SYNOPSIS
#<if printer>
Says whether printers are installed as wanted. Changes nothing.
#</if>
#<if alone>
Says whether a printer driver is installed as wanted. Changes nothing.
#</if>

.DESCRIPTION
Made by Platen. Prints one line: "Installed: ..." with exit code 0, or "Not installed: ..." and the first difference with
exit code 1. Works as an Intune detection script, in an RMM, and by hand. Needs no other file.

#<if subnets>
.PARAMETER OnlyHere
Skips printers whose subnets this machine is not in, as install.ps1 -OnlyHere does. If no printer is left, prints
"Skipped: ..." with exit code 0.
#</if>
#>
[CmdletBinding()]
param(
    [switch]$OnlyHere
)

Set-StrictMode -Version 2.0
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
$PassedOn = @{ OnlyHere = $OnlyHere }

#<settings>
$Settings = @{}
#</settings>

#<parts>
#</parts>

$name = ''
$rest = ''
$printers = @($Settings.Printers)
try {
    $name = $Settings.Printers[0].Name
    #<if subnets>
    if ($OnlyHere) {
        $printers = @($Settings.Printers | Where-Object { -not (Get-SiteDifference $_) })
        if ($printers.Count -eq 0) {
            Write-Output (Get-SkippedText $Settings.Printers)
            exit 0
        }
        $away = $Settings.Printers.Count - $printers.Count
        if ($away -gt 0) { $rest = "; $away skipped: not at this site" }
    }
    #</if>
    $queues = @(Get-Printer -ErrorAction Stop)
    $ports = @(Get-PrinterPort -ErrorAction Stop)
    $drivers = @(Get-PrinterDriver -ErrorAction Stop)
    $difference = $null
    foreach ($printer in $printers) {
        $name = $printer.Name
        $difference = @(Get-Difference $printer -Queues $queues -Ports $ports -Drivers $drivers)[0]
        if ($difference) { break }
        #<if package|apart>
        $rest += Get-NewerDriverRemark $printer
        #</if>
    }
}
catch {
    $difference = @{ Text = "Windows does not answer: $($_.Exception.Message)" }
}
if ($difference) {
    Write-Output ("Not installed: ${name}: $($difference.Text)" -replace '[\s\p{Cc}\p{Cf}-[\u200c\u200d]]+', ' ')
    exit 1
}
if ($printers.Count -gt 1) { $name = "all $($printers.Count) printers" }
Write-Output "Installed: $name$rest"
exit 0
