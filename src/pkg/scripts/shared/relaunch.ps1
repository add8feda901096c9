#region The 64-bit relaunch

# From a 32-bit process on a 64-bit machine no printer driver can be seen: there the script runs again in the 64-bit
# PowerShell, with the parameters of $PassedOn.

$NativePowerShell = "$env:windir\Sysnative\WindowsPowerShell\v1.0\powershell.exe"
if ($env:PROCESSOR_ARCHITEW6432 -and (Test-Path -LiteralPath $NativePowerShell)) {
    # An x64 process on ARM64 has no Sysnative, and needs none. A switch has no value; what is not set is left out.
    $arguments = @(foreach ($name in $PassedOn.Keys) {
            if (-not $PassedOn[$name]) { continue }
            "-$name"
            if ($PassedOn[$name] -is [string]) { $PassedOn[$name] }
        })
    & $NativePowerShell -NoProfile -NonInteractive -ExecutionPolicy Bypass -File $PSCommandPath @arguments
    exit $LASTEXITCODE
}

#endregion
