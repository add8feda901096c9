# Parses every script of Platen's, and of the simulation, with the PowerShell that runs this file. It ends with 1 if one does
# not parse.
$root = Split-Path -Parent (Split-Path -Parent $PSScriptRoot)
$wrong = 0
$files = @(Get-ChildItem -LiteralPath "$root/src/pkg/scripts", $PSScriptRoot -Recurse -File | Where-Object { $_.Extension -in '.ps1', '.psm1' })
foreach ($file in $files) {
    $tokens = $null
    $problems = $null
    $null = [Management.Automation.Language.Parser]::ParseFile($file.FullName, [ref]$tokens, [ref]$problems)
    foreach ($problem in $problems) {
        $wrong++
        "$($file.Name):$($problem.Extent.StartLineNumber) $($problem.Message)"
    }
}
"$($files.Count) files, $wrong errors, PowerShell $($PSVersionTable.PSVersion)"
if ($wrong -gt 0 -or $files.Count -eq 0) { exit 1 }
