<#
.SYNOPSIS
Says whether this machine is where printers belong. Changes nothing.

.DESCRIPTION
Made by Platen, as a requirement script of an Intune app: prints "applicable" and nothing else where the machine has an
address inside one of the subnets, and nothing where it has none. The exit code is 0 in both cases. Needs no other file.
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

$isHere = $true
#<if subnets>
try {
    $isHere = @($Settings.Printers | Where-Object { -not (Get-SiteDifference $_) }).Count -gt 0
}
catch {
    # A machine that cannot say where it is gets nothing until it can.
    $isHere = $false
}
#</if>
if ($isHere) { Write-Output 'applicable' }
exit 0
