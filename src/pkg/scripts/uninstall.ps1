<#
.SYNOPSIS
Removes printers that Platen installed, with their ports and drivers, as far as nobody else uses them.

.DESCRIPTION
Made by Platen. Run it as SYSTEM or as an administrator, with Windows PowerShell 5.1. What is not there
is removed already. Windows deletes queues some time after it was asked to: ports and drivers that it
still calls busy are tried again for a while, then after one restart of the spooler; what stays is said.

Exit codes:
0     removed, or nothing to do
1618  busy: open jobs, the spooler or another installation is in the way; try again later
1603  failed; the last line says why

.PARAMETER Force
Removes a queue that still has jobs. Without it they get a minute to print.

.PARAMETER LogPath
The log file. Without it: Intune's log folder where there is one, else %ProgramData%\Platen\Logs.

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

#<settings>
$Settings = @{}
#</settings>

#<common>
#</common>

$script:MaxWaitForJobsSeconds = 60
$script:MaxWaitForDeletionSeconds = 10

function Get-OpenJob {
    param([string]$Name)
    return @(Get-PrintJob -PrinterName $Name -ErrorAction Stop)
}

function Wait-ForJobs {
    # Jobs are somebody's work: they get a while to print, unless -Force was said.
    param([string]$Name)
    if ($Force) { return }
    $queue = Invoke-Print -Command { Get-LocalQueue -Name $Name }
    if ($null -eq $queue) { return }
    $isEmpty = Wait-Until -Seconds $script:MaxWaitForJobsSeconds -Condition {
        @(Invoke-Print -Command { Get-OpenJob -Name $Name }).Count -eq 0
    }
    if ($isEmpty) { return }
    $count = @(Invoke-Print -Command { Get-OpenJob -Name $Name }).Count
    Stop-Run -Code 1618 -Message "The queue $Name still has $count open jobs. Try again later, or use -Force."
}

function Invoke-UntilFree {
    # Asks again while Windows still calls something busy: for a while, then once more after a restart of the
    # spooler. Whether it worked.
    param([string]$What, [scriptblock]$Remove)
    if (Wait-Until -Seconds $script:MaxWaitForDeletionSeconds -Condition $Remove) { return $true }
    if (-not (Restart-Spooler -Because "$What is still called busy")) { return $false }
    return Wait-Until -Seconds $script:MaxWaitForDeletionSeconds -Condition $Remove
}

function Test-DriverNeeded {
    # Whether a queue, or another deployment of ours, uses the driver.
    param($Printer)
    foreach ($queue in @(Invoke-Print -Command { Get-Printer -ErrorAction Stop })) {
        if ($queue.DriverName -eq $Printer.DriverName -and $queue.Name -ne $Printer.Name) {
            Write-Log -Message "Driver $($Printer.DriverName) stays: $($queue.Name) uses it."
            return $true
        }
    }
    foreach ($id in @(Get-RegistryChild -Path "$script:MarkerRoot\Printers")) {
        if ($id -eq [string]$Printer.Id) { continue }
        $name = Get-RegistryValue -Path "$script:MarkerRoot\Printers\$id" -Name 'DriverName'
        if ($name -eq $Printer.DriverName) {
            Write-Log -Message "Driver $($Printer.DriverName) stays: deployment $id uses it."
            return $true
        }
    }
    return $false
}

function Remove-DriverByName {
    # One try; whether the driver is gone. From the store as well, where no other driver of the INF is left.
    param([string]$Name)
    if ($null -eq (Invoke-Print -Command { Get-Driver -Name $Name })) { return $true }
    try {
        Invoke-Print -Command { Remove-PrinterDriver -Name ([WildcardPattern]::Escape($Name)) -RemoveFromDriverStore -ErrorAction Stop }
    }
    catch {
        if ((Get-FailureCode -ErrorRecord $_) -eq 1618) { throw }
        Write-Log -Message "Driver ${Name}: $(Get-ErrorCode -ErrorRecord $_)"
        try {
            Invoke-Print -Command { Remove-PrinterDriver -Name ([WildcardPattern]::Escape($Name)) -ErrorAction Stop }
        }
        catch {
            if ((Get-FailureCode -ErrorRecord $_) -eq 1618) { throw }
            return $false
        }
    }
    if ($null -ne (Invoke-Print -Command { Get-Driver -Name $Name })) { return $false }
    Write-Change -Message "driver $Name removed"
    return $true
}

function Remove-Driver {
    param($Printer)
    if ($Printer.KeepDriver) {
        Write-Log -Message "Driver $($Printer.DriverName) stays, as the printer's settings say."
        return
    }
    if (Test-DriverNeeded -Printer $Printer) { return }
    $isGone = Invoke-UntilFree -What "the driver $($Printer.DriverName)" -Remove { Remove-DriverByName -Name $Printer.DriverName }
    if (-not $isGone) { Add-Remark -Message "the driver $($Printer.DriverName) stays until Windows lets it go" }
}

function Remove-TrustedPublisher {
    param([string]$Thumbprint)
    $store = New-Object -TypeName Security.Cryptography.X509Certificates.X509Store -ArgumentList 'TrustedPublisher', 'LocalMachine'
    $store.Open('ReadWrite')
    try {
        foreach ($known in @($store.Certificates)) {
            if ($known.Thumbprint -eq $Thumbprint) { $store.Remove($known) }
        }
    }
    finally {
        $store.Close()
    }
}

function Remove-Publisher {
    # Takes a certificate out of the trusted publishers that install put in, unless another deployment of the
    # same driver, or another driver of the same publisher, is still there.
    param($Printer, $Driver)
    foreach ($id in @(Get-RegistryChild -Path "$script:MarkerRoot\Printers")) {
        if ($id -eq [string]$Printer.Id) { continue }
        if ((Get-RegistryValue -Path "$script:MarkerRoot\Printers\$id" -Name 'DriverSha256') -eq $Driver.Sha256) { return }
    }
    $path = "$script:MarkerRoot\Publishers\$($Driver.Sha256)"
    $key = Get-Item -LiteralPath $path -ErrorAction SilentlyContinue
    if ($null -eq $key) { return }
    foreach ($thumbprint in @($key.GetValueNames())) {
        if ((Get-RegistryValue -Path $path -Name $thumbprint) -ne 'added') { continue }
        $heir = @(Get-RegistryChild -Path "$script:MarkerRoot\Publishers" | Where-Object -FilterScript {
                $_ -ne $Driver.Sha256 -and
                $null -ne (Get-RegistryValue -Path "$script:MarkerRoot\Publishers\$_" -Name $thumbprint)
            })
        if ($heir.Count -gt 0) {
            $null = Set-RegistryValue -Path "$script:MarkerRoot\Publishers\$($heir[0])" -Name $thumbprint -Value 'added'
            continue
        }
        Remove-TrustedPublisher -Thumbprint $thumbprint
        Write-Change -Message "trusted publisher $thumbprint removed"
    }
    Remove-RegistryKey -Path $path
}

function Undo-Default {
    # Gives logged-on users back what install found, and stops setting the default printer at log-on.
    param($Printer)
    Remove-RegistryKey -Path "HKLM:\SOFTWARE\Microsoft\Active Setup\Installed Components\Platen-$($Printer.Id)"
    $queues = @(Invoke-Print -Command { Get-Printer -ErrorAction Stop } | ForEach-Object -Process { $_.Name })
    foreach ($sid in @(Get-LoadedUser)) {
        $path = "Registry::HKEY_USERS\$sid\Software\Microsoft\Windows NT\CurrentVersion\Windows"
        $memory = "$(Get-MarkerPath -Printer $Printer)\Users\$sid"
        $isOurs = ([string](Get-RegistryValue -Path $path -Name 'Device')).StartsWith("$($Printer.Name),", 'OrdinalIgnoreCase')
        if ($isOurs) {
            $former = [string](Get-RegistryValue -Path $memory -Name 'Device')
            if ($former -and $queues -contains ($former -replace ',[^,]*,[^,]*$', '')) {
                $null = Set-RegistryValue -Path $path -Name 'Device' -Value $former
            }
            else {
                Remove-RegistryValue -Path $path -Name 'Device'
            }
            Write-Change -Message "$($Printer.Name) is no longer the default printer of $sid"
        }
        if (-not (Test-Path -LiteralPath $memory)) { continue }
        $mode = [string](Get-RegistryValue -Path $memory -Name 'LegacyDefaultPrinterMode')
        if ($mode) {
            $null = Set-RegistryValue -Path $path -Name 'LegacyDefaultPrinterMode' -Value ([int]$mode) -Type 'DWord'
        }
        else {
            Remove-RegistryValue -Path $path -Name 'LegacyDefaultPrinterMode'
        }
    }
}

function Remove-Marker {
    # The marker last, and what is empty then.
    param($Printer)
    $path = Get-MarkerPath -Printer $Printer
    if (Test-Path -LiteralPath $path) {
        Remove-RegistryKey -Path $path
        Write-Change -Message "marker $($Printer.Id) removed"
    }
    foreach ($name in 'Printers', 'Publishers', 'Ports') {
        $key = Get-Item -LiteralPath "$script:MarkerRoot\$name" -ErrorAction SilentlyContinue
        if ($null -eq $key -or $key.ValueCount -gt 0 -or @(Get-RegistryChild -Path "$script:MarkerRoot\$name").Count -gt 0) { continue }
        Remove-RegistryKey -Path "$script:MarkerRoot\$name"
    }
    if (@(Get-RegistryChild -Path $script:MarkerRoot).Count -eq 0) { Remove-RegistryKey -Path $script:MarkerRoot }
}

function Uninstall-Printer {
    param($Printer)
    Start-Spooler
    $driver = @($Settings.Drivers | Where-Object -FilterScript { $_.Key -eq $Printer.DriverKey })[0]
    $marker = Get-MarkerPath -Printer $Printer
    # Names that an earlier revision of this printer was deployed under go as well.
    $names = @($Printer.Name, (Get-RegistryValue -Path $marker -Name 'Queue')) | Where-Object -FilterScript { $_ } | Select-Object -Unique
    if ($Printer.HasQueue) {
        $ports = @($Printer.PortName, (Get-RegistryValue -Path $marker -Name 'PortName'))
        foreach ($name in @($names)) {
            $queue = Invoke-Print -Command { Get-LocalQueue -Name $name }
            if ($null -eq $queue) { continue }
            $ports += $queue.PortName
            Wait-ForJobs -Name $name
            $isGone = Remove-Queue -Name $name
            if (-not $isGone -and (Restart-Spooler -Because "the queue $name is still listed")) {
                $isGone = Remove-Queue -Name $name
            }
            if (-not $isGone) { Add-Remark -Message "the queue $name goes when its jobs are done" }
        }
        foreach ($port in @($ports | Where-Object -FilterScript { $_ } | Select-Object -Unique)) {
            $isGone = Invoke-UntilFree -What "the port $port" -Remove { Remove-OwnPort -Name $port }
            if (-not $isGone) { Add-Remark -Message "the port $port stays until Windows lets it go" }
        }
        Undo-Default -Printer $Printer
    }
    Remove-Driver -Printer $Printer
    Remove-Publisher -Printer $Printer -Driver $driver
    Remove-Marker -Printer $Printer
}

$native = Get-NativePowerShell
if ($native) {
    $arguments = @('-NoProfile', '-NonInteractive', '-ExecutionPolicy', 'Bypass', '-File', $PSCommandPath)
    if ($Force) { $arguments += '-Force' }
    if ($LogPath) { $arguments += '-LogPath', $LogPath }
    if ($VerbosePreference -eq 'Continue') { $arguments += '-Verbose' }
    & $native @arguments
    exit $LASTEXITCODE
}

Open-Log -Path $LogPath -Title 'Removal'
Invoke-Run -Verb 'Removed' -Nothing 'nothing was there' -Work { param($Printer) Uninstall-Printer -Printer $Printer }
exit $script:ExitCode
