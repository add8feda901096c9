# Answers requests, one line of JSON each: "machine" sets the machine, "change" changes it, "state" returns it, "run" runs
# a script on it, "evaluate" returns $Settings of a script. One PowerShell serves all tests of a Node process.
param([string]$Folder, [string]$Build, [switch]$Hosted)
# Global: the module's functions do not see a script's.
$global:ErrorActionPreference = 'Stop'

# Windows has a registry provider already, so there all of this runs in a session without it.
$isHostNeeded = $env:OS -eq 'Windows_NT' -or $env:PLATEN_HOSTED -eq '1'
if ($isHostNeeded -and -not $Hosted) {
    $state = [initialsessionstate]::CreateDefault2()
    $state.Providers.Remove('Registry', [type]$null)
    $shell = [powershell]::Create($state)
    $null = $shell.AddCommand($PSCommandPath).AddParameters(@{ Folder = $Folder; Build = $Build; Hosted = $true })
    try { $null = $shell.Invoke() }
    finally { $shell.Dispose() }
    return
}
[Console]::OutputEncoding = [Text.UTF8Encoding]::new($false)
[Console]::InputEncoding = [Text.UTF8Encoding]::new($false)
$ProgressPreference = 'SilentlyContinue'

# The registry provider is a binary module; outside Windows its name is free. It is compiled once per build. Processes
# that start at the same time each compile it, and the first one wins.
$assembly = [IO.Path]::Combine($Build, 'Registry.dll')
if (-not (Test-Path -LiteralPath $assembly)) {
    $compiled = [IO.Path]::Combine($Build, "Registry-$PID.dll")
    # PowerShell 7 would compile newer C# than Windows PowerShell 5.1 knows.
    $options = @{}
    if ($PSVersionTable.PSVersion.Major -ge 6) { $options = @{ CompilerOptions = '-langversion:5' } }
    Add-Type -Path "$PSScriptRoot/Registry.cs" -OutputAssembly $compiled -OutputType Library @options
    # Fails if another process was faster.
    try { [IO.File]::Move($compiled, $assembly) }
    catch { [IO.File]::Delete($compiled) }
}
Import-Module $assembly
Import-Module "$PSScriptRoot/Windows.psm1" -DisableNameChecking -Global -Force

# Aliases take precedence over the scripts' own functions.
$substitutes = @{
    'Test-Administrator' = 'Test-SimulatedAdministrator'
    'Test-Reachable' = 'Test-SimulatedReachable'
    'Open-PublisherStore' = 'Open-SimulatedStore'
    'Get-MachineAddress' = 'Get-SimulatedAddress'
}
foreach ($name in $substitutes.Keys) { Set-Alias -Name $name -Value $substitutes[$name] -Scope Global }

$env:windir = [IO.Path]::Combine($Folder, 'Windows')
$env:ProgramData = [IO.Path]::Combine($Folder, 'ProgramData')
$env:ProgramFiles = [IO.Path]::Combine($Folder, 'Program Files')
$env:TEMP = [IO.Path]::Combine($Folder, 'Temp')

function Initialize-Environment {
    # Cmdlets for files would need a third of the time of all tests.
    param($Machine)
    $env:TMPDIR = $env:TEMP
    foreach ($path in $env:windir, $env:ProgramData, $env:ProgramFiles, $env:TEMP) {
        if ([IO.Directory]::Exists($path)) { [IO.Directory]::Delete($path, $true) }
        $null = [IO.Directory]::CreateDirectory($path)
    }
    if ($null -ne $script:OtherRun) { $script:OtherRun.Dispose() }
    $script:OtherRun = $null
    if ($Machine.MutexHeld) { $script:OtherRun = [IO.FileStream]::new("$env:windir/Platen.lock", 'OpenOrCreate', 'ReadWrite', 'None', 1, 'DeleteOnClose') }
    # Any user of a machine can create this folder.
    if ($Machine.IntuneFolder) { $null = New-Item -ItemType Directory -Path "$env:ProgramData/Microsoft/IntuneManagementExtension/Logs" -Force }
    if ($Machine.LogsBlocked) { Set-Content -LiteralPath "$env:windir/Logs" -Value 'a file where a folder should be' }
    # Only 32-bit processes see Sysnative.
    if ($Machine.ProcessArchitecture -eq 'x86') {
        $native = New-Item -ItemType Directory -Path "$env:windir/Sysnative/WindowsPowerShell/v1.0" -Force
        Set-Content -LiteralPath "$($native.FullName)/powershell.exe" -Value 'the function of this path is called'
    }
    $env:COMPUTERNAME = 'PC1'
    $env:PROCESSOR_ARCHITECTURE = $Machine.ProcessArchitecture
    $env:PROCESSOR_ARCHITEW6432 = $Machine.Wow64
}

Set-Item -Path "function:global:$env:windir\System32\pnputil.exe" -Value {
    if ($args[0] -eq '/export-driver') { Export-SimulatedPackage -Published $args[1] -Folder $args[2] }
    else { Invoke-SimulatedPnpUtil -InfPath $args[1] }
}
Set-Item -Path "function:global:$env:windir\Sysnative\WindowsPowerShell\v1.0\powershell.exe" -Value {
    if ($env:PROCESSOR_ARCHITECTURE -ne 'x86') { throw 'Only a 32-bit process has a Sysnative.' }
    $env:PROCESSOR_ARCHITECTURE = $env:PROCESSOR_ARCHITEW6432
    $env:PROCESSOR_ARCHITEW6432 = ''
    $at = [array]::IndexOf($args, '-File')
    $parameters = @{}
    for ($i = $at + 2; $i -lt $args.Count; $i++) {
        $name = ([string]$args[$i]).TrimStart('-')
        $hasValue = $i + 1 -lt $args.Count -and -not ([string]$args[$i + 1]).StartsWith('-')
        if ($hasValue) { $parameters[$name] = $args[++$i] } else { $parameters[$name] = $true }
    }
    & $args[$at + 1] @parameters
}

function Invoke-Request {
    param($Request)
    switch ($Request.do) {
        'machine' {
            Initialize-Environment -Machine $Request.machine
            Set-SimulatedMachine -Machine $Request.machine
            return @{}
        }
        'change' {
            foreach ($key in $Request.values.Keys) { Set-SimulatedValue -Key $key -Value $Request.values[$key] }
            return @{}
        }
        'state' {
            return @{ machine = Get-SimulatedMachine }
        }
        'run' {
            Set-SimulatedFault -At $Request.failAt -With ([string]$Request.failWith)
            $parameters = @{}
            if ($Request.parameters) { $parameters = $Request.parameters }
            foreach ($name in @($parameters.Keys)) {
                if ($parameters[$name] -is [Collections.IDictionary]) { $parameters[$name] = ConvertTo-SecureString -AsPlainText -Force -String $parameters[$name].Secure }
            }
            $env:PROCESSOR_ARCHITECTURE = $Request.processArchitecture
            $env:PROCESSOR_ARCHITEW6432 = $Request.wow64
            $global:LASTEXITCODE = 0
            $errors = @()
            $output = @()
            try {
                $all = @(& $Request.script @parameters *>&1)
                foreach ($each in $all) { if ($each -is [Management.Automation.ErrorRecord]) { $errors += [string]$each } else { $output += [string]$each } }
                $code = $global:LASTEXITCODE
            }
            catch {
                $code = -1
                $errors = @([string]$_)
            }
            $log = ''
            $logs = @(foreach ($path in $env:ProgramData, $env:windir) { [IO.Directory]::GetFiles($path, '*.log', 'AllDirectories') })
            foreach ($path in $logs) { $log += [IO.File]::ReadAllText($path) }
            $logFolders = @(foreach ($path in $logs) { [IO.Path]::GetDirectoryName($path).Substring($Folder.Length).TrimStart('\', '/') })
            $left = [IO.Directory]::GetFileSystemEntries($env:TEMP).Length
            return @{ code = $code; output = $output; errors = $errors; calls = @(Get-SimulatedCall); log = $log; logFolders = $logFolders; left = $left; machine = Get-SimulatedMachine }
        }
        'evaluate' {
            # The script assigns its result to $Settings.
            . $Request.script
            return @{ value = $Settings }
        }
    }
}

# JSON objects as hashtables, which ConvertFrom-Json of Windows PowerShell 5.1 does not make.
function ConvertTo-Table {
    param($Value)
    if ($Value -is [Management.Automation.PSCustomObject]) {
        $table = @{}
        foreach ($property in $Value.PSObject.Properties) { $table[$property.Name] = ConvertTo-Table $property.Value }
        return $table
    }
    if ($Value -is [array]) { return , @($Value | ForEach-Object { ConvertTo-Table $_ }) }
    return $Value
}

$isOld = $PSVersionTable.PSVersion.Major -lt 6
$reading = @{ AsHashtable = $true; Depth = 30 }
$writing = @{ EscapeHandling = 'EscapeNonAscii' }
if ($isOld) { $reading = @{}; $writing = @{} }

while ($null -ne ($line = [Console]::In.ReadLine())) {
    try {
        $request = ConvertFrom-Json -InputObject $line @reading
        if ($isOld) { $request = ConvertTo-Table $request }
        $answer = Invoke-Request -Request $request
        if ($null -eq $answer) { $answer = @{} }
    }
    catch {
        $answer = @{ failed = "$_ $($_.ScriptStackTrace)" }
    }
    [Console]::Out.WriteLine((ConvertTo-Json -InputObject $answer -Depth 30 -Compress @writing))
}
