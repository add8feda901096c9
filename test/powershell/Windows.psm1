# Replaces Windows' print subsystem in tests. The cmdlets are functions of a module, so that their errors are
# non-terminating and a script's preference variables do not affect them. There is one machine at a time, described
# by a table. Error texts are German, because scripts must not depend on them.

$script:M = $null
$script:Calls = @()
$script:FailAt = 0
$script:FailName = ''
$script:FailWith = 'error'

$script:Environment = @{ amd64 = 'Windows x64'; x86 = 'Windows NT x86'; arm64 = 'Windows ARM64' }
$script:PrintRoot = 'HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Control\Print'

function Set-SimulatedMachine {
    param($Machine)
    $script:M = $Machine
    [SimRegistry]::Root = [SimKey]::new()
    [SimRegistry]::Set('HKLM:\SYSTEM\CurrentControlSet\Control\Session Manager\Environment', 'PROCESSOR_ARCHITECTURE', $Machine.Architecture.ToUpperInvariant())
    Write-Registry -Keys $Machine.Registry
    foreach ($sid in @($Machine.Users)) { $null = [SimRegistry]::Make([SimRegistry]::Split("HKEY_USERS\$sid\Software\Microsoft\Windows NT\CurrentVersion\Windows")) }
    foreach ($driver in @($Machine.Drivers)) {
        Write-DriverKey -Driver $driver
        if ($driver.IsStored) { Add-StoredDriver -Driver $driver }
    }
    [SimRegistry]::BeforeWrite = { param($what) Enter-Call -Name "registry $what" }
    [SimRegistry]::Denied = @($Machine.DeniedKeys)
    Set-SimulatedNetwork -IsReal ([bool]$Machine.RealNetwork)
    $script:M.Now = 0
    $script:M.Restarts = 0
    $script:M.Downloads = 0
    $script:M.PortsMade = 0
    $script:M.Requested = @()
}

function Set-SimulatedFault {
    # At is the number of a call, or the name of one: "after NAME" is the call that follows it.
    param($At, [string]$With = 'error')
    $script:Calls = @()
    $script:FailAt = 0
    $script:FailName = ''
    if ($At -is [string]) { $script:FailName = $At } else { $script:FailAt = [int]$At }
    $script:FailWith = $With
}

function Set-SimulatedValue {
    # Changes the machine between two runs. Registry values are added to the existing ones.
    param([string]$Key, $Value)
    if ($Key -eq 'Registry') { Write-Registry -Keys $Value } else { $script:M[$Key] = $Value }
    if ($Key -eq 'Drivers') { foreach ($driver in @($Value)) { Write-DriverKey -Driver $driver } }
    if ($Key -eq 'DeniedKeys') { [SimRegistry]::Denied = @($Value) }
}

function Write-Registry {
    # A key's name may contain a slash, which would separate the parts of a path.
    param($Keys)
    foreach ($path in @($Keys.Keys)) {
        $at = $path.LastIndexOf('\')
        $key = [SimRegistry]::MakeExact($path.Substring(0, $at), $path.Substring($at + 1))
        foreach ($name in @($Keys[$path].Keys)) {
            $value = $Keys[$path][$name]
            if ($value -is [long]) { $value = [int]$value }
            $key.Values[$name] = $value
        }
    }
}

function Get-SimulatedCall { return $script:Calls }

function Get-SimulatedMachine {
    Clear-Pending
    return @{
        Queues = @($script:M.Queues | Where-Object { -not $_.Leaving } | ForEach-Object { Copy-Table $_ })
        Ports = @($script:M.Ports)
        Drivers = @($script:M.Drivers)
        Store = @($script:M.Store | ForEach-Object { $_.Inf })
        Publishers = @($script:M.Publishers)
        Spooler = $script:M.Spooler
        Registry = [SimRegistry]::Dump()
        Restarts = $script:M.Restarts
        Downloads = $script:M.Downloads
        Requested = @($script:M.Requested)
        Slept = $script:M.Now
        Clipboard = [string]$script:M.Clipboard
    }
}

function Copy-Table {
    param($Table)
    $copy = @{}
    foreach ($key in $Table.Keys) { $copy[$key] = $Table[$key] }
    return $copy
}

function Write-DriverKey {
    param($Driver)
    $root = "$script:PrintRoot\Environments\$($script:Environment[$script:M.Architecture])\Drivers\Version-3"
    $key = [SimRegistry]::MakeExact($root, $Driver.Name)
    $key.Values['DriverVersion'] = [string]$Driver.Version
    $key.Values['DriverDate'] = [string]$Driver.Date
}

function Add-StoredDriver {
    # Puts the package of an installed driver into the driver store.
    param($Driver)
    $folder = "$env:windir/System32/DriverStore/FileRepository/stored.inf_$($Driver.Version)"
    $null = New-Item -ItemType Directory -Path $folder -Force -WhatIf:$false
    $driver.InfPath = "$folder/stored.inf"
    Set-Content -LiteralPath $driver.InfPath -WhatIf:$false -Value "DriverVer = $($Driver.Date),$($Driver.Version)`n[Models.NTamd64]`n""$($Driver.Name)"" = Install"
    $script:M.Store += @{ Inf = 'stored.inf'; Names = @($Driver.Name); Machines = @('amd64'); Version = $Driver.Version; Date = $Driver.Date; StorePath = $driver.InfPath }
}

function Enter-Call {
    # Counts the calls, and lets the one that the test chose fail.
    param([string]$Name)
    $script:Calls += $Name
    if ($script:FailAt -eq 0 -and $script:FailName -in $Name, "after $Name") { $script:FailAt = $script:Calls.Count + [int]($script:FailName -ne $Name) }
    if ($script:M.SpoolerDiesAt -eq $Name) { $script:M.SpoolerDiesAt = $script:Calls.Count }
    # "cut": all later calls fail too, as after a power cut.
    $fails = $script:Calls.Count -eq $script:FailAt -or ($script:FailWith -eq 'cut' -and $script:Calls.Count -gt $script:FailAt)
    if ($script:FailAt -gt 0 -and $fails) {
        throw [InvalidOperationException]::new("Simulierter Fehler bei $Name")
    }
    if ($script:M.SpoolerDiesAt -and $script:M.SpoolerDiesAt -isnot [string] -and $script:Calls.Count -ge $script:M.SpoolerDiesAt -and $Name -notmatch '^registry|Service') {
        $script:M.Spooler.Status = 'Stopped'
        if (-not $script:M.SpoolerKeepsDying) { $script:M.SpoolerDiesAt = 0 }
    }
}

function New-PrintError {
    param([string]$Code, [string]$Cmdlet, [string]$Text, $Category = 'NotSpecified')
    $exception = [Exception]::new($Text)
    return [Management.Automation.ErrorRecord]::new($exception, "HRESULT $Code,$Cmdlet", $Category, $null)
}

function Get-SpoolerError {
    param([string]$Cmdlet)
    if ($script:M.Spooler.Status -eq 'Running') { return $null }
    $code = '0x800706ba'
    if ($Cmdlet -eq 'Add-PrinterDriver') { $code = '0x800706d9' }
    return New-PrintError $code $Cmdlet 'Der Spoolerdienst ist nicht erreichbar. Stellen Sie sicher, dass er ausgefuehrt wird.'
}

function Clear-Pending {
    # Queues disappear some time after their removal.
    $script:M.Queues = @($script:M.Queues | Where-Object { -not ($_.Leaving -and $script:M.Now -ge $_.GoneAt -and @($_.Jobs).Count -eq 0) })
    Remove-EmptyPort
}

function Test-PortBusy {
    param([string]$Name)
    Clear-Pending
    if (@($script:M.Queues | Where-Object { $_.PortName -eq $Name }).Count -gt 0) { return $true }
    return $script:M.Now -lt [int]$script:M.BusyUntil
}

class SimWebException : Exception {
    # As Windows PowerShell's for an HTTP status.
    [object]$Response
    # Constructors with a base are not in the grammar that tests parse with.
    hidden [string]$Text
    [string] get_Message() { return $this.Text }
    SimWebException([int]$status, [string]$retryAfter) {
        $this.Text = "Der Remoteserver hat einen Fehler zurueckgegeben: ($status)"
        $headers = [Net.WebHeaderCollection]::new()
        $headers.Add('Content-Type', 'text/plain')
        if ($retryAfter) { $headers.Add('Retry-After', $retryAfter) }
        $this.Response = [pscustomobject]@{ StatusCode = $status; Headers = $headers }
    }
}

. "$PSScriptRoot/print-management.ps1"
. "$PSScriptRoot/preferences.ps1"
. "$PSScriptRoot/services.ps1"
. "$PSScriptRoot/ipp.ps1"
. "$PSScriptRoot/diagnosis.ps1"

Export-ModuleMember -Function *
