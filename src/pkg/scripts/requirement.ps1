<#
.SYNOPSIS
Says whether this machine needs the printers. Changes nothing.

.DESCRIPTION
Made by Platen, as a requirement script of an Intune app. Prints "applicable" if one of the printers belongs here, else
nothing. A printer belongs here if
#<if subnets>
- the machine has an address in its subnets, if it has subnets
#</if>
#<if reachable>
- its queue is there, or the printer answers, if that is required
#</if>
The exit code is 0. Needs no other file.
#>
[CmdletBinding()]
param()

Set-StrictMode -Version 2.0
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

#<settings>
$Settings = @{}
#</settings>

#<parts>
#</parts>

function Test-Applicable {
    param($Printer)
    #<if subnets>
    if (Get-SiteDifference $Printer) { return $false }
    #</if>
    #<if reachable>
    if ($Printer.RequiresReachable) {
        # A printer that sleeps must not make an installed one disappear.
        $queues = @()
        try { $queues = @(Get-Printer -ErrorAction Stop | ForEach-Object { $_.Name }) }
        catch { Write-Verbose $_.Exception.Message }
        $port = $Printer.PortNumber
        if ($Printer.Protocol -eq 'lpr') { $port = 515 }
        return $queues -contains $Printer.Name -or (Test-Reachable $Printer.Address $port)
    }
    #</if>
    return $true
}

# A machine that does not know where it is gets nothing until it does.
try { $isHere = @($Settings.Printers | Where-Object { Test-Applicable $_ } | Select-Object -First 1).Count -gt 0 }
catch { $isHere = $false }
if ($isHere) { Write-Output 'applicable' }
exit 0
