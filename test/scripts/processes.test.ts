import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { deploymentOf, deploymentOfMany } from "../../src/pkg/scripts/deployment.ts";
import { renderPublishScript } from "../../src/pkg/scripts/publish-script.ts";
import { renderScript, type ScriptKind, scriptKinds } from "../../src/pkg/scripts/render.ts";
import { deepTest } from "../support/depth.ts";
import { windowsDeployable } from "../support/powershell/ipp-machine.ts";
import { deployable, withoutPowerShell } from "../support/powershell/powershell.ts";
import { runFile } from "../support/powershell/powershell-process.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";
import { makePublication } from "../support/publish/publications.ts";

// Scripts in processes of their own run without any Windows, so every script fails early. Later failures are tested on the
// simulated Windows, where `Simulation.run` checks STDERR too.

const many = [
  deployable({ id: "1", name: "One", subnets: "10.9.9.0/24" }, { trust_publisher: true }),
  deployable({ id: "2", name: "Two", duplex: "long_edge", set_default: "on", replaces: "Old" }, { id: 2 }),
  deployable({ id: "3", name: "Three", address: "" }, { id: 3 }),
];
const url = "http://127.0.0.1:1/drivers/1/files";
const deployments = {
  plain: deploymentOf(deployable()),
  alone: deploymentOf(
    deployable({ subnets: "10.9.9.0/24" }),
    new Map([[1, { url, sha256: "a".repeat(64) }]]),
  ),
  several: deploymentOfMany("Client", many),
  driverless: deploymentOf(windowsDeployable({ subnets: "10.9.9.0/24", duplex: "long_edge" })),
};
type Options = Parameters<typeof runFile>[1];
type RunArguments = [which: keyof typeof deployments, options?: Options];

/** The exit codes without Windows, modulo 256 as on this system, and the beginnings of the lines. */
const endings = {
  install: [1603 & 0xff, ["Failed"]],
  uninstall: [1603 & 0xff, ["Failed"]],
  detect: [1, ["Not installed"]],
  requirement: [0, ["applicable"]],
} as const;
type Kind = keyof typeof endings;

const problem =
  "This PC restricts PowerShell (ConstrainedLanguage). Allow this script by path, hash or publisher.";
const constrained = {
  install: [1603, `Failed: ${problem}`],
  uninstall: [1603, `Failed: ${problem}`],
  detect: [1, `Not installed: ${problem}`],
  diagnose: [1, `bad  verdict: ${problem}`],
  requirement: [1, problem],
  publish: [1, problem],
} as const;

describe("scripts as real processes", { skip: withoutPowerShell }, () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "platen-processes-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  async function run(kind: ScriptKind, which: keyof typeof deployments, options: Options = {}) {
    const script = join(folder, `${kind}-${which}.ps1`);
    writeFileSync(script, renderScript(kind, deployments[which]));
    const env = { ProgramData: join(folder, "ProgramData"), ...options.env };
    return runFile(script, { ...options, env });
  }

  /** Asserts the exit code, one line of output (a requirement of somewhere else has none), and nothing on STDERR. */
  async function assertQuiet(kind: Kind, ...rest: RunArguments): Promise<void> {
    const { code, stdout, stderr } = await run(kind, ...rest);
    const lines = stdout.split(/\r?\n/).filter((line) => line !== "");
    const [expected, beginnings] = endings[kind];
    const isElsewhere = kind === "requirement" && stdout === "" && rest[0] !== "plain";

    assert.deepEqual(
      [code, stderr, isElsewhere ? beginnings : lines.map((line) => line.split(":")[0])],
      [expected, "", beginnings],
      `${kind} ${JSON.stringify(rest)}: ${stdout}`,
    );
  }

  deepTest("the whole output of requirement.ps1 is the value that Intune's rule compares with", async () => {
    const { code, stdout, stderr } = await run("requirement", "plain");

    assert.deepEqual([code, stderr], [0, ""]);
    assert.match(stdout, /^applicable\r?\n$/);
  });

  for (const kind of Object.keys(endings) as Kind[]) {
    deepTest(
      `${kind}.ps1 without Windows ends with its exit code, at most one line, and nothing on STDERR`,
      async () => {
        const environments: Record<string, string>[] = [
          { PROCESSOR_ARCHITEW6432: "AMD64" },
          { PROCESSOR_ARCHITEW6432: "ARM64", windir: "/nowhere" },
          { ProgramData: "/dev/null" },
          { PSModulePath: "/nowhere" },
        ];

        await Promise.all([
          ...(["plain", "several", "driverless"] as const).map((what) => assertQuiet(kind, what)),
          ...environments.map((env) => assertQuiet(kind, "alone", { env })),
        ]);
      },
    );
  }

  deepTest("diagnose.ps1 without Windows reports findings and writes nothing to STDERR", async () => {
    const runs = [
      run("diagnose", "plain"),
      run("diagnose", "several", { env: { PSModulePath: "/nowhere" } }),
      run("diagnose", "driverless", { args: ["-AsJson"] }),
    ];

    for (const { code, stdout, stderr } of await Promise.all(runs)) {
      assert.deepEqual([code, stderr], [1, ""], stdout);
      assert.match(stdout, /bad/);
    }
  });

  deepTest("a log that cannot be written stops no run and writes nothing to STDERR", async () => {
    const paths = [folder, "/dev/null/x.log", "Z:\\no\\drive.log", "HKLM:\\x", "[x", " "];

    await Promise.all(paths.map((path) => assertQuiet("install", "plain", { args: ["-LogPath", path] })));
  });

  deepTest("each script accepts its parameters", async () => {
    await Promise.all([
      assertQuiet("install", "plain", { args: ["-OnlyHere", "-WhatIf"] }),
      assertQuiet("install", "alone", { args: ["-OnlyHere"] }),
      assertQuiet("uninstall", "plain", { args: ["-Force"] }),
      assertQuiet("detect", "plain", { args: ["-OnlyHere"] }),
    ]);

    const skipped = await run("detect", "alone", { args: ["-OnlyHere"] });

    assert.deepEqual([skipped.code, skipped.stderr], [0, ""]);
    assert.match(skipped.stdout, /^Skipped: not at this site \(.*\)\r?\n$/);
  });

  /** A script that takes the lock as install does. */
  const locking = (beforeLock: string, afterLock: string) =>
    `Set-StrictMode -Version 2.0
. '${resolve("src/pkg/scripts/shared/exit-codes.ps1")}'
. '${resolve("src/pkg/scripts/shared/run.ps1")}'
function Test-Administrator { return $true }
${beforeLock}
$lock = Enter-Exclusive
${afterLock}
`;

  test("a run that waits for the lock gets it as soon as the first ends, and no file stays", async () => {
    const windows = simulatedWindows();
    await windows.setMachine();
    const script = join(windows.folder, "lock.ps1");
    // The wait itself ends the first run.
    const waiting = `$first = Enter-Exclusive
$waits = [Collections.ArrayList]@()
function Start-Sleep { $null = $waits.Add(1); if ($waits.Count -eq 3) { $first.Dispose() } }`;
    const ended = `$lock.Dispose()
$Settings = @{ Waits = $waits.Count; Left = @(Get-ChildItem -LiteralPath $env:windir -Filter '*.lock').Count }`;
    writeFileSync(script, locking(waiting, ended));

    const { value } = await windows.request<{ value: unknown }>({ do: "evaluate", script });

    assert.deepEqual(value, { Waits: 3, Left: 0 });
  });

  deepTest(
    "while one process has the lock, another waits and gets it as soon as the first ends",
    async () => {
      const ready =
        "'ready' | Set-Content -LiteralPath \"$PSScriptRoot/ready\"\nStart-Sleep -Seconds 3\n[datetime]::UtcNow.Ticks\nexit 0";
      const wait =
        'while (-not (Test-Path -LiteralPath "$PSScriptRoot/ready")) { Start-Sleep -Milliseconds 50 }';
      writeFileSync(join(folder, "first.ps1"), locking("", ready));
      writeFileSync(
        join(folder, "second.ps1"),
        locking(wait, "[datetime]::UtcNow.Ticks\n$lock.Dispose()\nexit 0"),
      );
      const env = { windir: folder };

      const [first, second] = await Promise.all(
        ["first", "second"].map((name) => runFile(join(folder, `${name}.ps1`), { env })),
      );

      const [ended, taken] = [first, second].map((each) => Number(each?.stdout.trim()));
      assert.ok((ended ?? 0) > 0, `${first?.stdout}${first?.stderr}`);
      assert.ok((taken ?? 0) > (ended ?? 0), `${second?.stdout}${second?.stderr}`);
      assert.deepEqual(
        readdirSync(folder).filter((name) => name.endsWith(".lock")),
        [],
      );
    },
  );

  for (const kind of [...scriptKinds, "publish"] as const) {
    const office = deploymentOf(deployable({ subnets: "10.9.9.0/24", set_default: "on" }));
    const bytes = () =>
      kind === "publish" ? renderPublishScript(makePublication("x")) : renderScript(kind, office);

    test(`${kind}.ps1 in a constrained language says in one line what must be allowed, and fails`, async () => {
      const windows = simulatedWindows();
      const script = join(windows.folder, "constrained.ps1");
      writeFileSync(join(windows.folder, `${kind}-constrained.ps1`), bytes());
      // The session is constrained before the script starts, as AppLocker and App Control do it.
      writeFileSync(
        script,
        `$state = [initialsessionstate]::CreateDefault2()
$state.LanguageMode = 'ConstrainedLanguage'
$shell = [powershell]::Create($state)
$null = $shell.AddScript("& '$PSScriptRoot/${kind}-constrained.ps1'; \`$LASTEXITCODE")
$output = @($shell.Invoke() | ForEach-Object { [string]$_ })
$Settings = @{ Output = $output; Errors = @($shell.Streams.Error | ForEach-Object { [string]$_ }) }
$shell.Dispose()
`,
      );

      const { value } = await windows.request<{ value: unknown }>({ do: "evaluate", script });

      const [code, line] = constrained[kind];
      assert.deepEqual(value, { Output: [line, String(code)], Errors: [] });
    });

    deepTest(`${kind}.ps1 in a constrained process fails with its exit code`, async () => {
      const outer = join(folder, `constrained-${kind}.ps1`);
      writeFileSync(join(folder, `${kind}.ps1`), bytes());
      writeFileSync(
        outer,
        `$ExecutionContext.SessionState.LanguageMode = 'ConstrainedLanguage'\n& "$PSScriptRoot/${kind}.ps1"\nexit $LASTEXITCODE\n`,
      );

      const { code, stdout, stderr } = await runFile(outer);

      const [expected, line] = constrained[kind];
      assert.deepEqual([code, stdout.trimEnd(), stderr], [expected & 0xff, line, ""]);
    });
  }
});
