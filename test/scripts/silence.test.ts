import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { deploymentOf, deploymentOfMany } from "../../src/pkg/scripts/deployment.ts";
import { renderScript, type ScriptKind } from "../../src/pkg/scripts/render.ts";
import { deepTest, isDeep, selectCases } from "../support/depth.ts";
import { windowsDeployable } from "../support/powershell/ipp-machine.ts";
import { deployable, withoutPowerShell } from "../support/powershell/powershell.ts";
import { runFile } from "../support/powershell/powershell-process.ts";

// These scripts run without any Windows, so every script fails early. Later failures are tested on the simulated Windows,
// where `Simulation.run` checks STDERR too.

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

/** The exit codes without Windows, modulo 256 as on this system. */
const failures = { install: 1603 & 0xff, uninstall: 1603 & 0xff, detect: 1, requirement: 0 } as const;
type Kind = keyof typeof failures;
const kinds = Object.keys(failures) as Kind[];
type RunArguments = [which: keyof typeof deployments, options?: Parameters<typeof runFile>[1]];

describe("scripts as real processes", { skip: withoutPowerShell }, () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "platen-silence-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  async function run(
    kind: ScriptKind,
    which: keyof typeof deployments,
    options: Parameters<typeof runFile>[1] = {},
  ) {
    const script = join(folder, `${kind}-${which}.ps1`);
    writeFileSync(script, renderScript(kind, deployments[which]));
    const env = { ProgramData: join(folder, "ProgramData"), ...options.env };
    return runFile(script, { ...options, env });
  }

  /** Asserts the exit code, at most one line of output, and nothing on STDERR. */
  async function assertQuiet(kind: Kind, ...rest: RunArguments): Promise<void> {
    const { code, stdout, stderr } = await run(kind, ...rest);
    const lines = stdout.split("\n").filter((line) => line !== "");
    const what = `${kind} ${JSON.stringify(rest)}: ${stdout}`;
    const expected = {
      detect: ["Not installed"],
      requirement: [],
      install: ["Failed"],
      uninstall: ["Failed"],
    };

    assert.equal(stderr, "", what);
    assert.equal(code, failures[kind], what);
    if (kind === "requirement" && stdout !== "") assert.deepEqual(lines, ["applicable"], what);
    else
      assert.deepEqual(
        lines.map((line) => line.split(":")[0]),
        expected[kind],
        what,
      );
  }

  for (const kind of kinds) {
    test(`${kind}.ps1 without Windows ends with its exit code, at most one line, and nothing on STDERR`, async () => {
      const environments: Record<string, string>[] = [
        { PROCESSOR_ARCHITEW6432: "AMD64" },
        { PROCESSOR_ARCHITEW6432: "ARM64", windir: "/nowhere" },
        { ProgramData: "/dev/null" },
        { PSModulePath: "/nowhere" },
      ];

      await Promise.all([
        assertQuiet(kind, "plain"),
        ...(isDeep ? (["several", "driverless"] as const) : []).map((what) => assertQuiet(kind, what)),
        ...(isDeep ? environments : []).map((env) => assertQuiet(kind, "alone", { env })),
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

  test("a log that cannot be written stops no run and writes nothing to STDERR", async () => {
    const paths = [folder, "/dev/null/x.log", "Z:\\no\\drive.log", "HKLM:\\x", "[x", " "];

    await Promise.all(
      selectCases(paths, 1).map((path) => assertQuiet("install", "plain", { args: ["-LogPath", path] })),
    );
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
});
