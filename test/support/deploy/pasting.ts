// Pastes commands into one PowerShell of a suite: a process for each text would need a second of processor time.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { pastingMachine } from "../powershell/pasted.ts";
import type { Simulation } from "../powershell/powershell.ts";

/** Runs scripts of a folder one after the other there, with its `bin` first in the path. */
const runner = `$old = $env:PATH, $env:TMPDIR, $ErrorActionPreference
Push-Location -LiteralPath $PSScriptRoot
# The simulated Windows has one of its own.
Set-Alias Invoke-WebRequest Microsoft.PowerShell.Utility\\Invoke-WebRequest
$env:PATH = "$PSScriptRoot/bin$([IO.Path]::PathSeparator)$env:PATH"
$env:TMPDIR = "$PSScriptRoot/tmp"
try {
  $Settings = @(foreach ($file in Get-ChildItem -Path . -Filter 'pasted-*.ps1' | Sort-Object Name) {
    $ErrorActionPreference = 'Continue'
    $global:LASTEXITCODE = 0
    $output = try { & $file.FullName *>&1 | Out-String -Width 4096 } catch { $global:LASTEXITCODE = 1; $_ | Out-String -Width 4096 }
    Remove-Item -LiteralPath $file.FullName
    @{ code = $global:LASTEXITCODE; output = [string]$output }
  })
} finally {
  $env:PATH, $env:TMPDIR, $ErrorActionPreference = $old
  Pop-Location
}`;

/** A machine whose `powershell.exe` saves its arguments and script and exits with a code. `paste` runs texts in order. */
export async function pasting(t: TestContext, windows: Simulation, code: number) {
  const { folder } = await pastingMachine(t, code);
  await writeFile(join(folder, "run.ps1"), runner);
  const paste = async (...texts: readonly string[]) => {
    for (const [i, text] of texts.entries())
      await writeFile(join(folder, `pasted-${i}.ps1`), `\ufeff${text}`);
    const request = { do: "evaluate", script: join(folder, "run.ps1") };
    return (await windows.request<{ value: { code: number; output: string }[] }>(request)).value;
  };
  return { folder, paste };
}
