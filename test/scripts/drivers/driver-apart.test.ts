import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deploymentOf, deploymentOfMany, withoutDrivers } from "../../../src/pkg/scripts/deployment.ts";
import type { DriverDeployment } from "../../../src/pkg/scripts/driver-deployment.ts";
import {
  endsOf,
  lastLine,
  queuesOf,
  runAll,
  runSteps,
  unchanged,
} from "../../support/drivers/script-runs.ts";
import { windowsDeployable } from "../../support/powershell/ipp-machine.ts";
import { deployable, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { getQueue, markerPath, papyrusDriver, traces } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";

const model = "Papyrus 100 PCL6";
const office = deployable();
const apart = withoutDrivers(deploymentOf(office));
const own: DriverDeployment = { driver: office.driver, models: [model] };

describe("a printer without its driver in the package, on a simulated Windows", {
  skip: withoutPowerShell,
}, () => {
  const windows = simulatedWindows();

  for (const [what, Drivers, version] of [
    ["no", [], ""],
    ["an older", [papyrusDriver("1.2.3.3")], " (it has 1.2.3.3)"],
    ["another", [{ ...papyrusDriver(), Name: "Papyrus 100 PS" }], ""],
  ] as const) {
    test(`install on a machine with ${what} driver fails, names the package to install first, and changes nothing`, async () => {
      await windows.setMachine({ Drivers: [...Drivers], Download: "/nowhere" });
      const before = await windows.run("install", apart, { parameters: { WhatIf: true } });
      const result = await windows.run("install", apart);

      const message =
        `Failed: Office: This machine lacks the driver Papyrus 100 PCL6 in version 1.2.3.4 or newer${version}, and this package does not bring it. ` +
        'Install "Printer driver Papyrus 100 PCL6 1.2" first; in Intune, make that app a dependency of this one that is installed automatically.';
      assert.deepEqual([before.code, lastLine(before), result.code], [1603, message, 1603]);
      assert.equal(lastLine(result), message);
      assert.deepEqual(result.machine, before.machine);
      assert.deepEqual([result.machine.Downloads, result.left, queuesOf(result)], [0, 0, []]);
      assert.equal(
        result.calls.some((call) => /pnputil|Add-|^registry/.test(call)),
        false,
      );
    });
  }

  for (const [driver, remark] of [
    [papyrusDriver(), ""],
    [
      papyrusDriver("2.0.0.0", "01/01/2026"),
      "; the driver Papyrus 100 PCL6 has 2.0.0.0, newer than 1.2.3.4: kept",
    ],
  ] as const) {
    test(`install works with driver version ${driver.Version}, and detect finds the printer`, async () => {
      await windows.setMachine({ Drivers: [driver] });

      const [result, ...others] = await runAll(windows, apart, "install", "install", "detect");

      const [same, there] = [
        `0 Installed: Office: nothing to change${remark}`,
        `0 Installed: Office${remark}`,
      ];
      assert.deepEqual([result.code, getQueue(result).DriverName], [0, model]);
      assert.deepEqual(endsOf(...others), [same, there]);
    });
  }

  test("detect fails when the driver was removed", async () => {
    await windows.setMachine({ Drivers: [papyrusDriver()] });
    await windows.runSuccessfully("install", apart);
    await windows.changeMachine({ Drivers: [] });

    const { code, output } = await windows.run("detect", apart);

    assert.deepEqual(
      [code, ...output],
      [1, "Not installed: Office: the driver Papyrus 100 PCL6 is not there"],
    );
  });

  test("uninstalling either package keeps a driver that the other one still needs; after both nothing is left", async () => {
    await windows.setMachine();
    await runSteps(windows, ["install", own], ["install", apart]);

    const [driverFirst, printerThen, driverLast] = await runSteps(
      windows,
      ["uninstall", own],
      ["uninstall", apart],
      ["uninstall", own],
    );

    assert.match(lastLine(driverFirst), /^Removed: .*; the driver Papyrus 100 PCL6 stays: Office uses it$/);
    assert.equal(getQueue(driverFirst).DriverName, model);
    assert.deepEqual(traces(printerThen), [`driver ${model}`]);
    assert.match(printerThen.log, /Driver Papyrus 100 PCL6 stays: its own package removes it/);
    assert.deepEqual([traces(driverLast), driverLast.machine.Store], [[], []]);
  });

  test("a printer can change between packages with and without the driver, and both detect it", async () => {
    await windows.setMachine();
    const [whole, small, ...others] = await runSteps(
      windows,
      ["install", office],
      ["install", apart],
      ["detect", apart],
      ["detect", office],
      ["install", office],
      ["uninstall", office],
    );

    const [removed] = others.slice(-1);
    assert.deepEqual(endsOf(small, ...others.slice(0, 3)), [
      unchanged,
      "0 Installed: Office",
      "0 Installed: Office",
      unchanged,
    ]);
    assert.deepEqual(small.machine.Registry[markerPath], whole.machine.Registry[markerPath]);
    assert.deepEqual(removed && traces(removed), []);
  });

  test("each printer of a client depends on its own driver, and drivers of Windows are added as usual", async () => {
    const text = windowsDeployable({ id: "8", name: "Label" }, "Generic / Text Only");
    const client = withoutDrivers(deploymentOfMany("Client", [office, text]));
    await windows.setMachine();

    const result = await windows.run("install", client);
    await windows.changeMachine({ Drivers: [...result.machine.Drivers, papyrusDriver()] });
    const [whole, removed] = await runSteps(windows, ["install", client], ["uninstall", client]);

    assert.equal(result.code, 1603);
    assert.match(
      result.output.join("\n"),
      /^Office: This machine lacks the driver Pap.*\nLabel: installed\nFailed: 1 of 2 printers, first Office: T/,
    );
    assert.deepEqual(queuesOf(result), ["Label"]);
    assert.equal(lastLine(whole), "Installed: all 2 printers");
    assert.deepEqual(traces(removed), [`driver ${model}`]);
  });
});
