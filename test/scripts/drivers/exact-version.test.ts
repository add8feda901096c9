import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { driverOnly, pcl } from "../../support/drivers/driver-only.ts";
import { testInterrupted } from "../../support/drivers/interrupted.ts";
import { changing, endsOf, lastLine, runAll, unchanged } from "../../support/drivers/script-runs.ts";
import {
  deployable,
  type Machine,
  type RunResult,
  withoutPowerShell,
} from "../../support/powershell/powershell.ts";
import { papyrusDriver, queue, tcpPort } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";
import { makeDriver } from "../../support/records.ts";

const newer = { ...papyrusDriver("2.0.0.0", "01/01/2026"), IsStored: true };
const exact = deployable({}, { exact_version: true });
const own = { ...driverOnly(pcl), driver: makeDriver({ exact_version: true }) };
const model = "Papyrus 100 PCL6";

/** The queues with their drivers, the drivers with their versions, and the records of an exchange. */
function stateOf({ machine }: RunResult): string[][] {
  const queues = machine.Queues.map(({ Name, DriverName }) => `${Name}: ${DriverName}`).sort();
  // Windows' own driver, which the queues have meanwhile, may stay.
  const drivers = machine.Drivers.filter(({ Name }) => Name !== "Generic / Text Only");
  const records = Object.keys(machine.Registry).filter((key) => key.includes("Exchange"));
  return [queues, drivers.map(({ Name, Version }) => `${Name} ${Version}`), records];
}
const untouched = [`Back: ${model}`, `Front: ${model}`, "Label: Another"];
const withOffice = [...untouched, `Office: ${model}`];

describe("a newer driver than the deployed one, on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  /** Sets a machine with a newer driver and two other queues with it. */
  const setMachine = (more: Machine = {}) =>
    windows.setMachine({
      Queues: [queue("Front", "LPT1:"), queue("Back", "LPT1:"), queue("Label", "LPT1:", "Another")],
      Drivers: [newer],
      ...more,
    });

  test("without exact_version it is kept, and install and detect say so", async () => {
    await setMachine();

    const runs = await runAll(windows, deployable(), "install", "detect");

    const kept = `; the driver ${model} has 2.0.0.0, newer than 1.2.3.4: kept`;
    assert.deepEqual(endsOf(...runs), [
      `0 Installed: Office: installed${kept}`,
      `0 Installed: Office${kept}`,
    ]);
    assert.deepEqual(stateOf(runs[1]), [withOffice, [`${model} 2.0.0.0`], []]);
  });

  test("with exact_version it is replaced, and the other queues have the driver again", async () => {
    await setMachine();
    const before = await windows.run("detect", exact);
    const runs = await runAll(windows, exact, "install", "detect", "install");

    assert.equal(before.code, 1);
    assert.deepEqual(endsOf(...runs), ["0 Installed: Office: installed", "0 Installed: Office", unchanged]);
    assert.deepEqual(stateOf(runs[0]), [withOffice, [`${model} 1.2.3.4`], []]);
    assert.equal(runs[0].machine.Drivers.length, 1);
  });

  test("detect with exact_version names the difference of a newer driver", async () => {
    await setMachine({ Queues: [queue("Office", "IP_10.0.0.9")], Ports: [tcpPort("IP_10.0.0.9")] });

    const detected = await windows.run("detect", exact);

    assert.equal(detected.code, 1);
    assert.match(lastLine(detected), /the driver's version is 2.0.0.0, not 1.2.3.4$/);
  });

  const fax = { ...newer, Name: "Papyrus Fax" };
  for (const [what, machine, reason, unwanted] of [
    [
      "that Windows refuses is not exchanged",
      { PnpCode: -536870325 },
      /\(0xE000024B\): the ZIP was changed; upload the ZIP of the vendor\.$/,
      /^Set-Printer|Remove-/,
    ],
    [
      "that Windows does not add is exchanged back",
      { RefusesVersion: "1.2.3.4" },
      /Windows does not install it: .* The driver Papyrus 100 PCL6 is as it was\.$/,
      /^never$/,
    ],
    [
      "that another driver shares is refused before anything is touched",
      { Drivers: [newer, fax] },
      /cannot be removed: Papyrus Fax has the same package\. The driver .* is as it was\.$/,
      /^Set-Printer$/,
    ],
  ] as const) {
    test(`an older package ${what}, and the newer driver and its queues are as they were`, async () => {
      await setMachine(machine as Machine);

      const result = await windows.run("install", exact);

      const drivers = "Drivers" in machine ? machine.Drivers : [newer];
      const versions = drivers.map(({ Name }) => `${Name} 2.0.0.0`);
      assert.equal(result.code, 1603);
      assert.match(lastLine(result), reason);
      assert.deepEqual(
        result.calls.filter((call) => unwanted.test(call)),
        [],
      );
      assert.deepEqual(stateOf(result), [untouched, versions, []]);
    });
  }

  for (const [what, deployment, queues] of [
    ["a printer", exact, withOffice],
    ["a driver’s own package", own, untouched],
  ] as const) {
    test(`${what} replaces a newer driver, and uninstall after an interrupted exchange gives the other queues their driver back`, async () => {
      await setMachine();
      const [installed, detected] = await runAll(windows, deployment, "install", "detect");
      await setMachine();
      const failAt = installed.calls.indexOf("Remove-PrinterDriver") + 2;
      await windows.run("install", deployment, { failAt, failWith: "cut" });
      const removed = await windows.runSuccessfully("uninstall", deployment);

      assert.deepEqual(stateOf(installed), [queues, [`${model} 1.2.3.4`], []]);
      assert.match(lastLine(detected), /^Installed: /);
      const [left, , records] = stateOf(removed);
      assert.deepEqual([left, records], [untouched, []]);
    });
  }

  test("an older driver is updated in place, without an exchange", async () => {
    await setMachine({ Drivers: [papyrusDriver("1.0.0.0", "01/01/2020")], Store: [] });

    const result = await windows.runSuccessfully("install", exact);

    assert.equal(result.calls.includes("Remove-PrinterDriver"), false);
    assert.deepEqual(stateOf(result)[0], withOffice);
  });

  test("-WhatIf exchanges nothing", async () => {
    await setMachine();

    const result = await windows.run("install", exact, { parameters: { WhatIf: true } });

    assert.equal(result.output[0], `What if: install driver ${model} 1.2.3.4 in place of 2.0.0.0`);
    assert.deepEqual(changing(result), []);
  });

  testInterrupted(
    windows,
    "an exchange, the next run completes, and every queue has its driver",
    {
      script: ["install", exact],
      prepare: () => setMachine(),
      moreThan: 30,
      quick: "error",
      deep: ["error", "cut"],
    },
    async (where) => {
      const healed = await windows.run("install", exact);

      assert.equal(healed.code, 0, `${where}: ${healed.output.join(" ")}`);
      const [queues, drivers] = stateOf(healed);
      assert.deepEqual([queues, drivers, healed.left], [withOffice, [`${model} 1.2.3.4`], 0], where);
    },
  );
});
