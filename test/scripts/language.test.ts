import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { deploymentOf } from "../../src/pkg/scripts/deployment.ts";
import { renderPublishScript } from "../../src/pkg/scripts/publish-script.ts";
import { renderScript, scriptKinds } from "../../src/pkg/scripts/render.ts";
import { deployable, withoutPowerShell } from "../support/powershell/powershell.ts";
import { runFile } from "../support/powershell/powershell-process.ts";
import { makePublication } from "../support/publish/publications.ts";

const problem =
  "This PC restricts PowerShell (ConstrainedLanguage). Allow this script by path, hash or publisher.";
const lines: Readonly<Record<string, string>> = {
  install: `Failed: ${problem}`,
  uninstall: `Failed: ${problem}`,
  detect: `Not installed: ${problem}`,
  diagnose: `bad  verdict: ${problem}`,
  requirement: problem,
  publish: problem,
};

describe("scripts in a PowerShell with a constrained language", { skip: withoutPowerShell }, () => {
  const folder = mkdtempSync(join(tmpdir(), "platen-language-"));
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const kind of [...scriptKinds, "publish"] as const) {
    test(`${kind}.ps1 says in one line what must be allowed, and fails`, async () => {
      const office = deployable({ subnets: "10.9.9.0/24", set_default: "on" });
      const bytes =
        kind === "publish"
          ? renderPublishScript(makePublication("x"))
          : renderScript(kind, deploymentOf(office));
      writeFileSync(join(folder, `${kind}.ps1`), bytes);
      // The session is constrained before the script starts, as AppLocker and App Control do it.
      const outer = join(folder, `constrained-${kind}.ps1`);
      writeFileSync(
        outer,
        `$ExecutionContext.SessionState.LanguageMode = 'ConstrainedLanguage'\n& "$PSScriptRoot/${kind}.ps1"\nexit $LASTEXITCODE\n`,
      );

      const { code, stdout, stderr } = await runFile(outer);

      const isInstall = kind === "install" || kind === "uninstall";
      assert.equal(code, isInstall ? 1603 & 0xff : 1);
      assert.deepEqual([stdout.trimEnd(), stderr], [lines[kind], ""]);
    });
  }
});
