import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deploymentOf, deploymentOfMany, withoutDrivers } from "../../../src/pkg/scripts/deployment.ts";
import type { DriverDeployment } from "../../../src/pkg/scripts/driver-deployment.ts";
import { windowsDeployable } from "../../support/powershell/ipp-machine.ts";
import {
  deployable,
  type Machine,
  type RunResult,
  type Simulation,
  withoutPowerShell,
} from "../../support/powershell/powershell.ts";
import { getQueue, markerPath, papyrusDriver, traces } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";

const model = "Papyrus 100 PCL6";
const office = deployable();
const apart = withoutDrivers(deploymentOf(office));
const ownPackage: DriverDeployment = { driver: office.driver, models: [model] };

describe("a printer without its driver in the package, on a simulated Windows", {
  skip: withoutPowerShell,
}, () => {
  const windows = simulatedWindows();

  async function refused(machine: Machine, ...args: Parameters<Simulation["run"]>): Promise<RunResult> {
    await windows.setMachine(machine);
    const result = await windows.run(...args);
    assert.deepEqual([result.code, result.errors], [1603, []], result.output.join(" "));
    return result;
  }

  test("install fails without the driver, names the package to install first, and changes nothing", async () => {
    const result = await refused({ Download: "/nowhere" }, "install", apart);
    const dry = await refused({}, "install", apart, { parameters: { WhatIf: true } });

    const message =
      "Failed: Office: This machine lacks the driver Papyrus 100 PCL6 in version 1.2.3.4 or newer, and this package does not bring it. " +
      'Install "Printer driver Papyrus 100 PCL6 1.2" first; in Intune, make that app a dependency of this one that is installed automatically.';
    assert.equal(result.output.at(-1), message);
    assert.equal(dry.output.at(-1), message);
    assert.deepEqual([traces(result), result.machine.Downloads, result.left], [[], 0, 0]);
    assert.equal(
      result.calls.some((call) => /pnputil|Add-|^registry/.test(call)),
      false,
    );
  });

  test("install fails with an older or another driver, and reports the older version", async () => {
    const older = await refused({ Drivers: [papyrusDriver("1.2.3.3")] }, "install", apart);
    const other = await refused(
      { Drivers: [{ ...papyrusDriver(), Name: "Papyrus 100 PS" }] },
      "install",
      apart,
    );

    assert.match(older.output.at(-1) ?? "", /1\.2\.3\.4 or newer \(it has 1\.2\.3\.3\), and this package/);
    assert.match(other.output.at(-1) ?? "", /lacks the driver Papyrus 100 PCL6 in version/);
    assert.equal(older.machine.Drivers[0]?.Version, "1.2.3.3");
    assert.equal(older.machine.Queues.length, 0);
  });

  test("install works with this or a newer driver version, and both detect scripts find the printer", async () => {
    const kept = "; the driver Papyrus 100 PCL6 has 2.0.0.0, newer than 1.2.3.4: kept";
    for (const [driver, remark] of [
      [papyrusDriver(), ""],
      [papyrusDriver("2.0.0.0", "01/01/2026"), kept],
    ] as const) {
      await windows.setMachine({ Drivers: [driver] });

      const result = await windows.runSuccessfully("install", apart);
      const repeated = await windows.runSuccessfully("install", apart);
      const whole = await windows.runSuccessfully("install", office);
      const detected = [
        await windows.runSuccessfully("detect", apart),
        await windows.runSuccessfully("detect", office),
      ];

      assert.equal(getQueue(result).DriverName, model);
      assert.deepEqual(repeated.output, [`Installed: Office: nothing to change${remark}`]);
      assert.deepEqual(whole.output, repeated.output);
      assert.deepEqual(
        detected.map(({ output }) => output.join()),
        [`Installed: Office${remark}`, `Installed: Office${remark}`],
      );
    }
  });

  test("detect fails when the driver was removed", async () => {
    await windows.setMachine({ Drivers: [papyrusDriver()] });
    await windows.runSuccessfully("install", apart);
    await windows.changeMachine({ Drivers: [] });

    const gone = await windows.run("detect", apart);

    assert.deepEqual([gone.code, gone.errors], [1, []]);
    assert.match(gone.output.join(), /^Not installed: Office: the driver Papyrus 100 PCL6 is not there$/);
  });

  test("uninstalling either package keeps a driver that the other one still needs", async () => {
    await windows.setMachine();
    await windows.runSuccessfully("install", ownPackage);
    await windows.runSuccessfully("install", apart);

    const driverFirst = await windows.runSuccessfully("uninstall", ownPackage);
    const printerThen = await windows.runSuccessfully("uninstall", apart);
    const driverLast = await windows.runSuccessfully("uninstall", ownPackage);

    assert.match(
      driverFirst.output.at(-1) ?? "",
      /^Removed: .*; the driver Papyrus 100 PCL6 stays: Office uses it$/,
    );
    assert.equal(getQueue(driverFirst).DriverName, model);
    assert.deepEqual(traces(printerThen), [`driver ${model}`]);
    assert.match(printerThen.log, /Driver Papyrus 100 PCL6 stays: its own package removes it/);
    assert.deepEqual([traces(driverLast), driverLast.machine.Store], [[], []]);
  });

  test("uninstalling the printer and then the driver leaves nothing", async () => {
    await windows.setMachine();
    await windows.runSuccessfully("install", ownPackage);
    await windows.runSuccessfully("install", apart);

    await windows.runSuccessfully("uninstall", apart);
    const removed = await windows.runSuccessfully("uninstall", ownPackage);

    assert.deepEqual([traces(removed), removed.machine.Store], [[], []]);
  });

  test("a printer can change between packages with and without the driver", async () => {
    await windows.setMachine();
    const whole = await windows.runSuccessfully("install", office);
    const small = await windows.runSuccessfully("install", apart);
    const removed = await windows.runSuccessfully("uninstall", office);

    assert.deepEqual(small.output, ["Installed: Office: nothing to change"]);
    assert.deepEqual(small.machine.Registry[markerPath], whole.machine.Registry[markerPath]);
    assert.deepEqual(traces(removed), []);
  });

  test("each printer of a client depends on its own driver, and drivers of Windows are added as usual", async () => {
    const text = windowsDeployable({ id: "8", name: "Label" }, "Generic / Text Only");
    const client = withoutDrivers(deploymentOfMany("Client", [office, text]));
    await windows.setMachine();

    const result = await windows.run("install", client);
    await windows.setMachine({ Drivers: [papyrusDriver()] });
    const whole = await windows.runSuccessfully("install", client);
    await windows.runSuccessfully("detect", client);
    const removed = await windows.runSuccessfully("uninstall", client);

    assert.equal(result.code, 1603);
    assert.deepEqual(
      result.output.map((line) => line.slice(0, 40)),
      [
        "Office: This machine lacks the driver Pap",
        "Label: installed",
        "Failed: 1 of 2 printers, first Office: T",
      ].map((line) => line.slice(0, 40)),
    );
    assert.deepEqual(
      result.machine.Queues.map(({ Name }) => Name),
      ["Label"],
    );
    assert.equal(whole.output.at(-1), "Installed: all 2 printers");
    assert.deepEqual(traces(removed), [`driver ${model}`]);
  });
});
