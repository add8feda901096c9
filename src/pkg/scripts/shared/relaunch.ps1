#region The 64-bit relaunch

# No printer driver can be installed, or seen, from a 32-bit process on a 64-bit machine. There the script runs
# again in the 64-bit PowerShell, with the parameters of $PassedOn, and its exit code is passed back.

function Get-NativePowerShell {
    # The 64-bit PowerShell, when this process is a 32-bit one on a 64-bit machine; else $null. An x64 process on ARM64
    # has no Sysnative, and needs none.
    if (-not $env:PROCESSOR_ARCHITEW6432) { return $null }
    $path = "$env:windir\Sysnative\WindowsPowerShell\v1.0\powershell.exe"
    if (Test-Path -LiteralPath $path) { return $path }
    return $null
}

function Get-RelaunchArgument {
    # Of powershell.exe: the script and its parameters. A switch has no value, and what is not set is left out.
    param([string]$Script, $Parameters)
    '-NoProfile', '-NonInteractive', '-ExecutionPolicy', 'Bypass', '-File', $Script
    foreach ($name in @($Parameters.Keys)) {
        $value = $Parameters[$name]
        if (-not $value) { continue }
        "-$name"
        if ($value -is [string]) { $value }
    }
}

$native = Get-NativePowerShell
if ($native) {
    $arguments = @(Get-RelaunchArgument -Script $PSCommandPath -Parameters $PassedOn)
    & $native @arguments
    exit $LASTEXITCODE
}

#endregion
