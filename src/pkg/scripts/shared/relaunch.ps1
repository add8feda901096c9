### The 64-bit relaunch
# A 32-bit process on a 64-bit machine sees no printer drivers. There the script runs again in the 64-bit PowerShell, with
# the parameters of $PassedOn. An x64 process on ARM64 has no Sysnative, and needs none.
$NativePowerShell = "$env:windir\Sysnative\WindowsPowerShell\v1.0\powershell.exe"
if ($env:PROCESSOR_ARCHITEW6432 -and (Test-Path -LiteralPath $NativePowerShell)) {
    $arguments = @(foreach ($name in $PassedOn.Keys) {
            if (-not $PassedOn[$name]) { continue }
            "-$name"
            if ($PassedOn[$name] -is [string]) { $PassedOn[$name] }
        })
    & $NativePowerShell -NoProfile -NonInteractive -ExecutionPolicy Bypass -File $PSCommandPath @arguments
    exit $LASTEXITCODE
}
