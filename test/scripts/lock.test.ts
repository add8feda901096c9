import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, describe, test } from "node:test";
import { deployable, withoutPowerShell } from "../support/powershell/powershell.ts";
import { runFile } from "../support/powershell/powershell-process.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";

describe("the lock of a run", { skip: withoutPowerShell }, () => {
  const folder = mkdtempSync(join(tmpdir(), "platen-lock-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const windows = simulatedWindows();

  test("while one process has it, another waits and gets it as soon as the first ends, and no file stays", async () => {
    const body = (more: string) =>
      `Set-StrictMode -Version 2.0
. '${resolve("src/pkg/scripts/shared/exit-codes.ps1")}'
. '${resolve("src/pkg/scripts/shared/run.ps1")}'
function Test-Administrator { return $true }
$lock = Enter-Exclusive
${more}
exit 0
`.replaceAll("#<if", "# <if");
    writeFileSync(
      join(folder, "first.ps1"),
      body(
        "'ready' | Set-Content -LiteralPath \"$PSScriptRoot/ready\"\nStart-Sleep -Seconds 3\n[datetime]::UtcNow.Ticks",
      ),
    );
    writeFileSync(
      join(folder, "second.ps1"),
      `while (-not (Test-Path -LiteralPath "$PSScriptRoot/ready")) { Start-Sleep -Milliseconds 50 }\n${body("[datetime]::UtcNow.Ticks\n$lock.Dispose()")}`,
    );
    const env = { windir: folder };

    const [first, second] = await Promise.all(
      ["first", "second"].map((name) => runFile(join(folder, `${name}.ps1`), { env })),
    );

    const [ended, taken] = [first, second].map((run) => Number(run?.stdout.trim()));
    assert.ok((ended ?? 0) > 0, `${first?.stdout}${first?.stderr}`);
    assert.ok((taken ?? 0) > (ended ?? 0), `${second?.stdout}${second?.stderr}`);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.endsWith(".lock")),
      [],
    );
  });

  test("a run that waits for a minute and a half ends with 1618 and changes nothing", async () => {
    await windows.setMachine({ MutexHeld: true });

    const result = await windows.run("install", deployable());

    const reason =
      /^Failed: Another installation of printers is running on this machine\. Try again later\. \(.*\)$/;
    assert.equal(result.code, 1618);
    assert.match(result.output.join("\n"), reason);
    assert.deepEqual([result.machine.Slept, result.machine.Queues], [90_000, []]);
  });
});
