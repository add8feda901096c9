import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { driverOnly, pcl } from "../../support/drivers/driver-only.ts";
import { interruptEachCall } from "../../support/powershell/interruptions.ts";
import {
  deployable,
  type Machine,
  type RunResult,
  withoutPowerShell,
} from "../../support/powershell/powershell.ts";
import { papyrusDriver, queue } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";
import { makeDriver } from "../../support/records.ts";

const newer = papyrusDriver("2.0.0.0", "01/01/2026");
const plain = deployable();
const exact = deployable({}, { exact_version: true });
const model = "Papyrus 100 PCL6";

describe("a newer driver than the deployed one, on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  /** Sets a machine with a newer driver and two other queues with it. */
  const setMachine = (more: Machine = {}) =>
    windows.setMachine({
      Queues: [queue("Front", "LPT1:"), queue("Back", "LPT1:"), queue("Label", "LPT1:", "Another")],
      Drivers: [{ ...newer, IsStored: true }],
      ...more,
    });
  const driversOf = ({ machine }: RunResult) =>
    machine.Queues.map(({ Name, DriverName }) => `${Name}: ${DriverName}`).sort();
  const versionsOf = ({ machine }: RunResult) =>
    machine.Drivers.map(({ Name, Version }) => `${Name} ${Version}`);
  const untouched = ["Back: Papyrus 100 PCL6", "Front: Papyrus 100 PCL6", "Label: Another"];

  test("without exact_version it is kept, and install and detect say so", async () => {
    await setMachine();

    const installed = await windows.runSuccessfully("install", plain);
    const detected = await windows.runSuccessfully("detect", plain);

    const kept = `; the driver ${model} has 2.0.0.0, newer than 1.2.3.4: kept`;
    assert.equal(installed.output.at(-1), `Installed: Office: installed${kept}`);
    assert.deepEqual(detected.output, [`Installed: Office${kept}`]);
    assert.deepEqual(versionsOf(detected), [`${model} 2.0.0.0`]);
  });

  test("with exact_version it is replaced, and the other queues have the driver again", async () => {
    await setMachine();
    const before = await windows.run("detect", exact);

    const installed = await windows.runSuccessfully("install", exact);
    const detected = await windows.runSuccessfully("detect", exact);
    const second = await windows.runSuccessfully("install", exact);

    assert.equal(before.code, 1);
    assert.equal(installed.output.at(-1), "Installed: Office: installed");
    assert.deepEqual(driversOf(installed), [...untouched, `Office: ${model}`].sort());
    assert.deepEqual(versionsOf(installed), [`${model} 1.2.3.4`]);
    assert.deepEqual(detected.output, ["Installed: Office"]);
    assert.equal(second.output.at(-1), "Installed: Office: nothing to change");
    assert.deepEqual(
      Object.keys(installed.machine.Registry).filter((key) => /Exchange/.test(key)),
      [],
    );
  });

  test("detect with exact_version names the difference of a newer driver", async () => {
    await setMachine({
      Queues: [queue("Office", "IP_10.0.0.9")],
      Ports: [{ Name: "IP_10.0.0.9", PrinterHostAddress: "10.0.0.9", PortNumber: 9100, Protocol: 1 }],
    });

    const detected = await windows.run("detect", exact);

    assert.equal(detected.code, 1);
    assert.match(detected.output.join(), /the driver's version is 2.0.0.0, not 1.2.3.4$/);
  });

  test("if Windows refuses the older package, nothing is touched", async () => {
    await setMachine({ PnpCode: -536870325 });

    const result = await windows.run("install", exact);

    assert.equal(result.code, 1603);
    assert.match(
      result.output.at(-1) ?? "",
      /\(0xE000024B\): the ZIP was changed; upload the ZIP of the vendor\.$/,
    );
    assert.equal(
      result.calls.some((call) => /^Set-Printer|Remove-/.test(call)),
      false,
    );
    assert.deepEqual([driversOf(result), versionsOf(result)], [untouched, [`${model} 2.0.0.0`]]);
  });

  test("if Windows does not add the older driver, the newer one and its queues are as they were", async () => {
    await setMachine({ RefusesVersion: "1.2.3.4" });

    const result = await windows.run("install", exact);

    assert.equal(result.code, 1603);
    assert.match(
      result.output.at(-1) ?? "",
      /Windows does not install it: .* The driver Papyrus 100 PCL6 is as it was\.$/,
    );
    assert.deepEqual([driversOf(result), versionsOf(result)], [untouched, [`${model} 2.0.0.0`]]);
    assert.deepEqual(
      Object.keys(result.machine.Registry).filter((key) => /Exchange/.test(key)),
      [],
    );
  });

  test("a package that another driver shares is refused before anything is touched", async () => {
    await setMachine({
      Drivers: [
        { ...newer, IsStored: true },
        { ...newer, Name: "Papyrus Fax", IsStored: true },
      ],
    });

    const result = await windows.run("install", exact);

    assert.equal(result.code, 1603);
    assert.match(
      result.output.at(-1) ?? "",
      /cannot be removed: Papyrus Fax has the same package\. The driver .* is as it was\.$/,
    );
    assert.equal(result.calls.includes("Set-Printer"), false);
    assert.deepEqual(driversOf(result), untouched);
  });

  test("uninstall after an interrupted exchange gives the other queues their driver back", async () => {
    await setMachine();
    const whole = await windows.run("install", exact);
    const at = whole.calls.indexOf("Remove-PrinterDriver") + 2;
    await setMachine();
    await windows.run("install", exact, { failAt: at, failWith: "cut" });

    const removed = await windows.run("uninstall", exact);

    assert.equal(removed.code, 0, removed.output.join());
    assert.deepEqual(driversOf(removed), untouched);
    assert.deepEqual(
      Object.keys(removed.machine.Registry).filter((key) => /Exchange/.test(key)),
      [],
    );
  });

  test("a driver’s own package replaces a newer driver too, and its uninstall completes an interrupted exchange", async () => {
    const own = { ...driverOnly(pcl), driver: makeDriver({ exact_version: true }) };
    await setMachine();

    const installed = await windows.runSuccessfully("install", own);
    const detected = await windows.runSuccessfully("detect", own);
    const at = installed.calls.indexOf("Remove-PrinterDriver") + 2;
    await setMachine();
    await windows.run("install", own, { failAt: at, failWith: "cut" });
    const removed = await windows.run("uninstall", own);

    assert.deepEqual([driversOf(installed), versionsOf(installed)], [untouched, [`${model} 1.2.3.4`]]);
    assert.match(detected.output.join(), /^Installed: /);
    assert.equal(removed.code, 0, removed.output.join());
    assert.deepEqual(driversOf(removed), untouched);
  });

  test("an older driver is updated in place, without an exchange", async () => {
    await setMachine({ Drivers: [papyrusDriver("1.0.0.0", "01/01/2020")], Store: [] });

    const result = await windows.runSuccessfully("install", exact);

    assert.equal(result.calls.includes("Remove-PrinterDriver"), false);
    assert.deepEqual(driversOf(result), [...untouched, `Office: ${model}`].sort());
  });

  test("-WhatIf exchanges nothing", async () => {
    await setMachine();

    const result = await windows.run("install", exact, { parameters: { WhatIf: true } });

    assert.equal(result.output[0], `What if: install driver ${model} 1.2.3.4 in place of 2.0.0.0`);
    assert.equal(
      result.calls.some((call) => /^(?:Set|Remove|Add)-|registry|pnputil/.test(call)),
      false,
    );
  });

  for (const failWith of ["error", "cut"] as const) {
    test(`after a failure (${failWith}) at any call, the next run completes, and every queue has its driver`, async () => {
      const runs = interruptEachCall(windows, ["install", exact], {
        prepare: () => setMachine(),
        moreThan: 30,
        failWith,
      });

      for await (const { where } of runs) {
        const healed = await windows.run("install", exact);

        assert.equal(healed.code, 0, `${where}: ${healed.output.join(" ")}`);
        assert.deepEqual(driversOf(healed), [...untouched, `Office: ${model}`].sort(), where);
        // Windows' own driver for the meantime may stay.
        const versions = versionsOf(healed).filter((driver) => !driver.startsWith("Generic / Text Only"));
        assert.deepEqual(versions, [`${model} 1.2.3.4`], where);
        assert.equal(healed.left, 0, where);
      }
    });
  }
});
