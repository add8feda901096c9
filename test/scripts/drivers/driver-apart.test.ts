import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deploymentApart, deploymentOf, deploymentOfMany } from "../../../src/pkg/scripts/deployment.ts";
import type { DriverDeployment } from "../../../src/pkg/scripts/driver-deployment.ts";
import { windowsDeployable } from "../../support/powershell/ipp-machine.ts";
import {
  deployable,
  type Machine,
  type RunResult,
  type Simulation,
  withoutPowerShell,
} from "../../support/powershell/powershell.ts";
import { markerPath, papyrus, queueOf, traces } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";

const model = "Papyrus 100 PCL6";
const office = deployable();
const apart = deploymentApart(deploymentOf(office));
const ownPackage: DriverDeployment = { driver: office.driver, models: [model] };

describe("a printer whose driver is apart on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  async function refused(machine: Machine, ...args: Parameters<Simulation["run"]>): Promise<RunResult> {
    await windows.machine(machine);
    const result = await windows.run(...args);
    assert.deepEqual([result.code, result.errors], [1603, []], result.output.join(" "));
    return result;
  }

  test("fails without the driver, names what to install first, and neither stages nor downloads nor makes anything", async () => {
    const result = await refused({ Download: "/nowhere" }, "install", apart);
    const dry = await refused({}, "install", apart, { parameters: { WhatIf: true } });

    const said =
      "Failed: Office: This machine lacks the driver Papyrus 100 PCL6 in version 1.2.3.4 or newer, and this package does not bring it. " +
      'Install "Printer driver Papyrus papyrus.inf 1.2.3.4" first; in Intune, make that app a dependency of this one that is installed automatically.';
    assert.equal(result.output.at(-1), said);
    assert.equal(dry.output.at(-1), said);
    assert.deepEqual([traces(result), result.machine.Downloads, result.left], [[], 0, 0]);
    assert.equal(
      result.calls.some((call) => /pnputil|Add-|^registry/.test(call)),
      false,
    );
  });

  test("fails where the driver is older, or of another name, and says which version is there", async () => {
    const older = await refused({ Drivers: [papyrus("1.2.3.3")] }, "install", apart);
    const other = await refused({ Drivers: [{ ...papyrus(), Name: "Papyrus 100 PS" }] }, "install", apart);

    assert.match(older.output.at(-1) ?? "", /1\.2\.3\.4 or newer \(it has 1\.2\.3\.3\), and this package/);
    assert.match(other.output.at(-1) ?? "", /lacks the driver Papyrus 100 PCL6 in version/);
    assert.equal(older.machine.Drivers[0]?.Version, "1.2.3.3");
    assert.equal(older.machine.Queues.length, 0);
  });

  test("installs where the driver is there in this version or a newer one, and is detected by either detect script", async () => {
    for (const driver of [papyrus(), papyrus("2.0.0.0", "01/01/2026")]) {
      await windows.machine({ Drivers: [driver] });

      const result = await windows.done("install", apart);
      const again = await windows.done("install", apart);
      const whole = await windows.done("install", office);
      const detected = [await windows.done("detect", apart), await windows.done("detect", office)];

      assert.equal(queueOf(result).DriverName, model);
      assert.deepEqual(again.output, ["Installed: Office: nothing to change"]);
      assert.deepEqual(whole.output, again.output);
      assert.deepEqual(
        detected.map(({ output }) => output.join()),
        ["Installed: Office", "Installed: Office"],
      );
    }
  });

  test("is not detected where the driver went, or went back to an older version", async () => {
    await windows.machine({ Drivers: [papyrus()] });
    await windows.done("install", apart);
    await windows.change({ Drivers: [] });

    const gone = await windows.run("detect", apart);

    assert.deepEqual([gone.code, gone.errors], [1, []]);
    assert.match(gone.output.join(), /^Not installed: Office: the driver Papyrus 100 PCL6 is not there$/);
  });

  test("its uninstall leaves the driver to the driver's own package, whose uninstall left it to the queue before", async () => {
    await windows.machine();
    await windows.done("install", ownPackage);
    await windows.done("install", apart);

    const driverFirst = await windows.done("uninstall", ownPackage);
    const printerThen = await windows.done("uninstall", apart);
    const driverLast = await windows.done("uninstall", ownPackage);

    assert.match(
      driverFirst.output.at(-1) ?? "",
      /^Removed: .*; the driver Papyrus 100 PCL6 stays: Office uses it$/,
    );
    assert.equal(queueOf(driverFirst).DriverName, model);
    assert.deepEqual(traces(printerThen), [`driver ${model}`]);
    assert.match(printerThen.log, /Driver Papyrus 100 PCL6 stays: its own package removes it/);
    assert.deepEqual([traces(driverLast), driverLast.machine.Store], [[], []]);
  });

  test("after the printer's uninstall the driver's leaves no trace", async () => {
    await windows.machine();
    await windows.done("install", ownPackage);
    await windows.done("install", apart);

    await windows.done("uninstall", apart);
    const removed = await windows.done("uninstall", ownPackage);

    assert.deepEqual([traces(removed), removed.machine.Store], [[], []]);
  });

  test("a printer that was installed with its driver goes on without it, and the other way round", async () => {
    await windows.machine();
    const whole = await windows.done("install", office);
    const small = await windows.done("install", apart);
    const removed = await windows.done("uninstall", office);

    assert.deepEqual(small.output, ["Installed: Office: nothing to change"]);
    assert.deepEqual(small.machine.Registry[markerPath], whole.machine.Registry[markerPath]);
    assert.deepEqual(traces(removed), []);
  });

  test("a client's printers each fail or succeed by their own drivers; Windows' own are added as ever", async () => {
    const text = windowsDeployable({ id: "8", name: "Label" }, "Generic / Text Only");
    const client = deploymentApart(deploymentOfMany("Client", [office, text]));
    await windows.machine();

    const result = await windows.run("install", client);
    await windows.machine({ Drivers: [papyrus()] });
    const whole = await windows.done("install", client);
    await windows.done("detect", client);
    const removed = await windows.done("uninstall", client);

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
