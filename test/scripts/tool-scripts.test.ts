import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { deploymentOf } from "../../src/pkg/scripts/deployment.ts";
import { renderScript, type ScriptKind } from "../../src/pkg/scripts/render.ts";
import { configMgr, nSight, type ScriptTool, scriptForTool } from "../../src/pkg/scripts/tool-scripts.ts";
import { deployable, type RunResult, withoutPowerShell } from "../support/powershell/powershell.ts";
import { powershellParser, type SyntaxNode } from "../support/powershell/powershell-syntax.ts";
import { printerKinds } from "../support/powershell/printer-kinds.ts";
import { markerOf, markerPath, readyMachine } from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";

const scriptOf = (tool: ScriptTool, kind: ScriptKind, what = deployable()) =>
  Buffer.from(scriptForTool(tool, renderScript(kind, deploymentOf(what)))).toString();

describe("scripts for tools with rules of their own", () => {
  let parse: (text: string) => SyntaxNode;
  before(async () => {
    parse = await powershellParser();
  });

  test("each differs from the usual script only by one block, is ASCII, and parses", () => {
    const deployments = Object.values(printerKinds).map((make) => make({}));
    const scripts = [nSight, configMgr].flatMap((tool) => tool.kinds.map((kind) => ({ tool, kind })));
    for (const { tool, kind } of scripts) {
      for (const deployment of deployments) {
        const usual = renderScript(kind, deployment).toString();

        const text = Buffer.from(scriptForTool(tool, Buffer.from(usual))).toString();

        const [block = ""] = /if \(-not \$env:PLATEN_INNER\) \{\r\n(?:\t.*\r\n)+\}\r\n/.exec(text) ?? [];
        assert.notEqual(block, "");
        assert.equal(text.replace(block, ""), usual);
        assert.match(text, /^[\t\r\n\x20-\x7e]+$/);
        if (deployment === deployments[0]) assert.equal(parse(text).hasError, false);
      }
    }
  });

  test("one printer's detection fits ConfigMgr's 32 KB with any kind of printer", () => {
    const sizes = Object.values(printerKinds).map(
      (make) => scriptForTool(configMgr, renderScript("detect", make({}))).length,
    );

    assert.ok(Math.max(...sizes) < 30_000, `${Math.max(...sizes)} bytes`);
  });

  test("a script without a place for the translation is refused", () => {
    assert.throws(() => scriptForTool(nSight, Buffer.from("exit 0")), /no place/);
  });
});

describe("scripts for tools on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  async function run(text: string, parameters: Record<string, unknown> = {}): Promise<RunResult> {
    const script = join(windows.folder, "for-tool.ps1");
    await writeFile(script, text);
    return windows.request({ do: "run", script, parameters, wow64: "", processArchitecture: "AMD64" });
  }

  for (const [what, tool, code, output] of [
    [
      "N-sight gets 1001 instead of 1, and the same line",
      nSight,
      1001,
      ["Not installed: Office: there is no such queue"],
    ],
    [
      "ConfigMgr gets no output and 0 for a missing printer, and the line for an installed one",
      configMgr,
      0,
      [],
    ],
  ] as const) {
    test(what, async () => {
      await windows.setMachine();
      const missing = await run(scriptOf(tool, "detect"));
      await windows.setMachine(readyMachine({}, {}, { Registry: { [markerPath]: markerOf(deployable()) } }));

      const installed = await run(scriptOf(tool, "detect"));

      assert.deepEqual([missing.code, missing.output, missing.errors], [code, output, []]);
      assert.deepEqual([installed.code, installed.output, installed.errors], [0, ["Installed: Office"], []]);
    });
  }

  test("N-sight gets a diagnosis with all of its lines", async () => {
    await windows.setMachine();
    const usual = await run(renderScript("diagnose", deploymentOf(deployable())).toString());

    const result = await run(scriptOf(nSight, "diagnose"));

    assert.deepEqual([usual.code, result.code], [1, 1001]);
    assert.ok(result.output.length > 3);
    assert.equal(result.output.length, usual.output.length);
  });

  test("parameters reach the script, and two runs in one session have the same result", async () => {
    await windows.setMachine({ Addresses: ["192.168.1.1"] });
    const text = scriptOf(nSight, "detect", deployable({ subnets: "10.1.2.0/24" }));

    const first = await run(text, { OnlyHere: true });
    const second = await run(text, { OnlyHere: true });
    const without = await run(text);

    assert.deepEqual([first.code, second.code, without.code], [0, 0, 1001]);
    assert.match(first.output[0] ?? "", /^Skipped: /);
  });
});
