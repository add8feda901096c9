import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { deploymentOf, withoutDrivers } from "../../src/pkg/scripts/deployment.ts";
import { addTwoDrivers } from "../support/deploy/two-drivers.ts";
import { deepTest } from "../support/depth.ts";
import { unpackers } from "../support/drivers/foreign.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { startFilled } from "../support/filled.ts";
import { deployable, type RunResult, withoutPowerShell } from "../support/powershell/powershell.ts";
import { papyrusDriver } from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";

const windows = simulatedWindows();

describe("a client's scripts on a simulated Windows", { skip: withoutPowerShell }, () => {
  /** Runs a script with these files beside it. */
  async function run(name: string, files: Record<string, Buffer>): Promise<RunResult> {
    const folder = join(windows.folder, "fetched");
    for (const [path, bytes] of Object.entries(files)) {
      await mkdir(join(folder, path, ".."), { recursive: true });
      await writeFile(join(folder, path), bytes);
    }
    const request = { wow64: "", processArchitecture: "AMD64", failWith: "error" };
    return windows.request({ do: "run", script: join(folder, name), ...request });
  }

  deepTest(
    "install from the package agrees with detect and uninstall downloaded alone, and with a printer's own detect",
    async (t) => {
      const { fetch } = await startFilled(t, addTwoDrivers);
      const runAlone = async (kind: string, owner = "clients/1") =>
        run(`${kind}.ps1`, { [`${kind}.ps1`]: await bytesOf(fetch(`/${owner}/scripts/${kind}`)) });
      await windows.setMachine();

      const before = await runAlone("detect");
      const files = unpackers.fflate(await bytesOf(fetch("/clients/1/packages/rmm")));
      const installed = await run("install.ps1", files);
      const after = await runAlone("detect");
      const ofPrinter = await runAlone("detect", "printers/2");
      const reinstalled = await runAlone("install");
      const removed = await runAlone("uninstall");

      const names = installed.machine.Queues.map(({ Name }) => Name);
      assert.deepEqual([before.code, installed.code, after.code], [1, 0, 0], installed.output.join("\n"));
      assert.deepEqual(after.output, ["Installed: all 3 printers"]);
      assert.deepEqual([ofPrinter.code, ofPrinter.output], [0, ["Installed: Büro “B”"]]);
      assert.deepEqual(names, ["A", "Büro “B”", "C"]);
      assert.equal(reinstalled.machine.Downloads, 0, "each driver is already installed");
      assert.deepEqual([removed.code, removed.machine.Queues, removed.machine.Drivers], [0, [], []]);
    },
  );
});

describe("a remediation on a simulated Windows", { skip: withoutPowerShell }, () => {
  const apart = withoutDrivers(deploymentOf(deployable()));
  const alone = { withoutFiles: true };

  test("adds the printer where the driver is, and detection then reports success", async () => {
    await windows.setMachine({ Drivers: [papyrusDriver()] });

    const before = await windows.run("detect", apart, alone);
    const repaired = await windows.run("install", apart, alone);
    const after = await windows.run("detect", apart, alone);

    assert.deepEqual([before.code, repaired.code, after.code], [1, 0, 0]);
    assert.deepEqual(after.output, ["Installed: Office"]);
  });

  test("fails with 1603 and names the driver's package where the driver is not", async () => {
    await windows.setMachine();

    const { code, output } = await windows.run("install", apart, alone);

    assert.equal(code, 1603);
    assert.match(output.at(-1) ?? "", /^Failed: Office: This machine lacks the driver Papyrus 100 PCL6/);
  });
});
