import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { deploymentOf, deploymentOfMany } from "../../src/pkg/scripts/deployment.ts";
import { renderPublishScript } from "../../src/pkg/scripts/publish-script.ts";
import { renderScript, type ScriptKind, scriptKinds } from "../../src/pkg/scripts/render.ts";
import { deepTest } from "../support/depth.ts";
import { evaluate } from "../support/powershell/diagnosis.ts";
import { windowsDeployable } from "../support/powershell/ipp-machine.ts";
import { deployable, program, withoutPowerShell } from "../support/powershell/powershell.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";
import { makePublication } from "../support/publish/publications.ts";

// Scripts in processes of their own run without any Windows, so every script fails early. Later failures are tested on the
// simulated Windows, where `Simulation.run` checks STDERR too.

const many = [
  deployable({ id: "1", name: "One", subnets: "10.9.9.0/24" }, { trust_publisher: true }),
  deployable({ id: "2", name: "Two", duplex: "long_edge", set_default: "on", replaces: "Old" }, { id: 2 }),
  deployable({ id: "3", name: "Three", address: "" }, { id: 3 }),
];
const download = { url: "http://127.0.0.1:1/drivers/1/files", sha256: "a".repeat(64) };
const deployments = {
  plain: deploymentOf(deployable()),
  alone: deploymentOf(deployable({ subnets: "10.9.9.0/24" }), new Map([[1, download]])),
  several: deploymentOfMany("Client", many),
  driverless: deploymentOf(windowsDeployable({ subnets: "10.9.9.0/24", duplex: "long_edge" })),
};
interface Options {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}
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

/** Runs a file in its own process, as RMM tools do on Windows. The exit code is modulo 256: this system keeps only eight bits. */
async function runFile(script: string, { args = [], env = {} }: Options = {}) {
  const all = ["-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File", script, ...args];
  // Files that a script writes to relative paths stay beside it.
  const place = { cwd: dirname(script), env: { ...process.env, ...env } };
  const child = spawn(program, all, { ...place, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, stdout, stderr };
}

describe("scripts as real processes", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();
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

    const found = isElsewhere ? beginnings : lines.map((line) => line.split(":")[0]);
    const message = `${kind} ${JSON.stringify(rest)}: ${stdout}`;
    assert.deepEqual([code, stderr, found], [expected, "", beginnings], message);
  }

  for (const kind of Object.keys(endings) as Kind[]) {
    const name = `${kind}.ps1 without Windows ends with its exit code, at most one line, and nothing on STDERR`;
    deepTest(name, async () => {
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
    });
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

  deepTest("each script accepts its parameters, and a log that cannot be written stops no run", async () => {
    const logs = [folder, "/dev/null/x.log", "Z:\\no\\drive.log", "HKLM:\\x", "[x", " "];
    await Promise.all([
      ...logs.map((path) => assertQuiet("install", "plain", { args: ["-LogPath", path] })),
      assertQuiet("install", "plain", { args: ["-OnlyHere", "-WhatIf"] }),
      assertQuiet("install", "alone", { args: ["-OnlyHere"] }),
      assertQuiet("uninstall", "plain", { args: ["-Force"] }),
      assertQuiet("detect", "plain", { args: ["-OnlyHere"] }),
    ]);

    const { code, stdout, stderr } = await run("detect", "alone", { args: ["-OnlyHere"] });

    assert.deepEqual([code, stderr], [0, ""]);
    assert.match(stdout, /^Skipped: not at this site \(.*\)\r?\n$/);
  });

  test("a run that waits for the lock gets it as soon as the first ends, and no file stays", async () => {
    await windows.setMachine();

    // The wait itself ends the first run.
    const found = await evaluate(
      windows,
      ["shared/exit-codes", "shared/run"],
      {},
      `& {
  function Test-Administrator { return $true }
  function Start-Sleep { $null = $waits.Add(1); if ($waits.Count -eq 3) { $first.Dispose() } }
  $waits = [Collections.ArrayList]@()
  $first = Enter-Exclusive
  $lock = Enter-Exclusive
  $lock.Dispose()
  @{ Waits = $waits.Count; Left = @(Get-ChildItem -LiteralPath $env:windir -Filter '*.lock').Count }
}`,
    );

    assert.deepEqual(found, { Waits: 3, Left: 0 });
  });

  deepTest(
    "while one process has the lock, another waits and gets it as soon as the first ends",
    async () => {
      const parts = ["exit-codes", "run"].map(
        (part) => `. '${resolve(`src/pkg/scripts/shared/${part}.ps1`)}'\n`,
      );
      const locking = (first: string, last: string) =>
        `Set-StrictMode -Version 2.0\n${parts.join("")}function Test-Administrator { return $true }\n${first}\n$lock = Enter-Exclusive\n${last}\nexit 0`;
      const ready = "'ready' | Set-Content -LiteralPath \"$PSScriptRoot/ready\"\nStart-Sleep -Seconds 3";
      const wait =
        'while (-not (Test-Path -LiteralPath "$PSScriptRoot/ready")) { Start-Sleep -Milliseconds 50 }';
      const ticks = "[datetime]::UtcNow.Ticks";
      writeFileSync(join(folder, "first.ps1"), locking("", `${ready}\n${ticks}`));
      writeFileSync(join(folder, "second.ps1"), locking(wait, `${ticks}\n$lock.Dispose()`));

      const runs = ["first", "second"].map((name) =>
        runFile(join(folder, `${name}.ps1`), { env: { windir: folder } }),
      );
      const [ended = 0, taken = 0] = (await Promise.all(runs)).map(({ stdout }) => Number(stdout.trim()));

      assert.ok(0 < ended && ended < taken, `${ended}, ${taken}`);
      assert.ok(!readdirSync(folder).some((name) => name.endsWith(".lock")));
    },
  );

  for (const kind of [...scriptKinds, "publish"] as const) {
    const office = deploymentOf(deployable({ subnets: "10.9.9.0/24", set_default: "on" }));
    const [code, line] = constrained[kind];
    const write = (place: string) => {
      const script = join(place, `constrained-${kind}.ps1`);
      writeFileSync(
        script,
        kind === "publish" ? renderPublishScript(makePublication("x")) : renderScript(kind, office),
      );
      return script;
    };

    test(`${kind}.ps1 in a constrained language says in one line what must be allowed, and fails`, async () => {
      // The session is constrained before the script starts, as AppLocker and App Control do it.
      const found = await evaluate(
        windows,
        [],
        write(windows.folder),
        `& {
  $state = [initialsessionstate]::CreateDefault2()
  $state.LanguageMode = 'ConstrainedLanguage'
  $shell = [powershell]::Create($state)
  $null = $shell.AddScript("& '$Values'; \`$LASTEXITCODE")
  $output = @($shell.Invoke() | ForEach-Object { [string]$_ })
  @{ Output = $output; Errors = @($shell.Streams.Error | ForEach-Object { [string]$_ }) }
  $shell.Dispose()
}`,
      );

      assert.deepEqual(found, { Output: [line, String(code)], Errors: [] });
    });

    deepTest(`${kind}.ps1 in a constrained process fails with its exit code`, async () => {
      const outer = join(folder, `outer-${kind}.ps1`);
      const constraint = "$ExecutionContext.SessionState.LanguageMode = 'ConstrainedLanguage'";
      writeFileSync(outer, `${constraint}\n& '${write(folder)}'\nexit $LASTEXITCODE\n`);

      const { stdout, stderr, ...result } = await runFile(outer);

      assert.deepEqual([result.code, stdout.trimEnd(), stderr], [code & 0xff, line, ""]);
    });
  }
});
