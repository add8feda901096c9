import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import {
  driverMarker,
  driverOnly,
  driversOf,
  fax,
  lastLine,
  pcl,
  ps,
  title,
} from "../../support/drivers/driver-only.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";
import { filesZip } from "../../support/drivers/files-zip.ts";
import { type Simulation, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { papyrusDriver, queue, traces } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";

describe("a driver's own package on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  test("install stages the package once and adds every driver name, and a second run changes nothing", async () => {
    await windows.setMachine();
    const missing = await windows.run("detect", driverOnly(pcl, ps));

    const result = await windows.runSuccessfully("install", driverOnly(pcl, ps));
    const repeated = await windows.runSuccessfully("install", driverOnly(pcl, ps));
    const detected = await windows.runSuccessfully("detect", driverOnly(pcl, ps));

    assert.deepEqual([missing.code, missing.errors], [1, []]);
    assert.equal(missing.output.join(), `Not installed: ${title}: ${pcl}: the driver ${pcl} is not there`);
    assert.deepEqual(result.output, [`Installed: ${title}: installed`]);
    assert.deepEqual(driversOf(result), [pcl, ps]);
    assert.equal(result.calls.filter((call) => call === "pnputil").length, 1);
    assert.deepEqual(result.machine.Registry[driverMarker]?.DriverName, [pcl, ps]);
    assert.equal(lastLine(repeated), `Installed: ${title}: nothing to change`);
    assert.equal(
      repeated.calls.some((call) => /^registry|pnputil|Add-/.test(call)),
      false,
    );
    assert.deepEqual(detected.output, [`Installed: ${title}`]);
  });

  test("uninstall leaves nothing, and a second run finds nothing", async () => {
    await windows.setMachine();
    await windows.runSuccessfully("install", driverOnly(pcl, ps));

    const removed = await windows.runSuccessfully("uninstall", driverOnly(pcl, ps));
    const repeated = await windows.runSuccessfully("uninstall", driverOnly(pcl, ps));
    const detected = await windows.run("detect", driverOnly(pcl, ps));

    assert.equal(lastLine(removed), `Removed: ${title}: removed`);
    assert.deepEqual([traces(removed), removed.machine.Store], [[], []]);
    assert.equal(lastLine(repeated), `Removed: ${title}: nothing was there`);
    assert.equal(detected.code, 1);
  });

  test("install updates an older driver and leaves a newer one alone", async () => {
    await windows.setMachine({
      Drivers: [papyrusDriver("1.0.0.0", "01/01/2020")],
      Queues: [queue("Theirs", "LPT1:")],
    });
    const before = await windows.run("detect", driverOnly(pcl));
    const updated = await windows.runSuccessfully("install", driverOnly(pcl));
    await windows.setMachine({ Drivers: [papyrusDriver("2.0.0.0", "01/01/2026")] });
    const newer = await windows.runSuccessfully("install", driverOnly(pcl));
    await windows.runSuccessfully("detect", driverOnly(pcl));

    assert.match(lastLine(before), /the driver's version is 1\.0\.0\.0, not 1\.2\.3\.4$/);
    assert.equal(updated.machine.Drivers[0]?.Version, "1.2.3.4");
    assert.equal(newer.calls.includes("pnputil"), false);
    assert.equal(newer.machine.Drivers[0]?.Version, "2.0.0.0");
  });

  test("a new name is added, and uninstall also removes names that were deployed before", async () => {
    await windows.setMachine();
    await windows.runSuccessfully("install", driverOnly(pcl, ps));

    const fewer = await windows.runSuccessfully("detect", driverOnly(pcl));
    const more = await windows.run("detect", driverOnly(fax, pcl));
    const result = await windows.runSuccessfully("install", driverOnly(fax, pcl));
    await windows.runSuccessfully("detect", driverOnly(fax, pcl));
    const removed = await windows.runSuccessfully("uninstall", driverOnly(pcl));

    assert.deepEqual(fewer.output, [`Installed: ${title}`]);
    assert.match(lastLine(more), new RegExp(`${fax} is not there$`));
    assert.deepEqual(result.machine.Registry[driverMarker]?.DriverName, [fax, pcl, ps]);
    assert.deepEqual([traces(removed), removed.machine.Store], [[], []]);
  });

  test("a driver name in use stays with its files, and the last line names the queue", async () => {
    const theirs = { Queues: [queue("Front Desk", "LPT1:", ps)] };
    await windows.setMachine(theirs);
    await windows.runSuccessfully("install", driverOnly(pcl, ps));

    const removed = await windows.runSuccessfully("uninstall", driverOnly(pcl, ps));
    const repeated = await windows.runSuccessfully("uninstall", driverOnly(pcl, ps));
    await windows.changeMachine({ Queues: [] });
    const cleaned = await windows.runSuccessfully("uninstall", driverOnly(pcl, ps));

    assert.equal(lastLine(removed), `Removed: ${title}: removed; the driver ${ps} stays: Front Desk uses it`);
    assert.deepEqual([driversOf(removed), removed.machine.Store], [[ps], ["papyrus.inf"]]);
    assert.equal(removed.machine.Registry[driverMarker], undefined);
    assert.equal(
      lastLine(repeated),
      `Removed: ${title}: nothing was there; the driver ${ps} stays: Front Desk uses it`,
    );
    assert.deepEqual([traces(cleaned), cleaned.machine.Store], [[], []]);
  });

  test("a queue with the driver's title as its name still counts as a user of the driver", async () => {
    await windows.setMachine({ Queues: [queue(title, "LPT1:")] });
    await windows.runSuccessfully("install", driverOnly(pcl));

    const removed = await windows.runSuccessfully("uninstall", driverOnly(pcl));

    assert.match(lastLine(removed), /stays: Papyrus 100 PCL6\/PS\/Fax 1\.2 uses it$/);
  });

  test("a driver that cannot be installed fails with its reason and leaves no marker", async () => {
    const attempts: [Parameters<Simulation["setMachine"]>[0], RegExp][] = [
      [{ DriverNever: true }, new RegExp(`The driver ${pcl} was staged, but Windows does not install it`)],
      [{ Architecture: "arm64" }, /This machine is arm64; the driver is made for amd64/],
      [{ PnpCode: 5 }, /Windows refused the driver package \(pnputil 5\)/],
      [{ Admin: false }, /needs administrator rights/],
    ];
    for (const [machine, reason] of attempts) {
      await windows.setMachine(machine);

      const result = await windows.run("install", driverOnly(pcl, ps));

      assert.deepEqual([result.code, result.errors], [1603, []]);
      assert.match(lastLine(result), reason);
      assert.equal(result.machine.Registry[driverMarker], undefined);
    }
  });

  test("-WhatIf prints the changes and makes none", async () => {
    await windows.setMachine();

    const result = await windows.runSuccessfully("install", driverOnly(pcl, ps), {
      parameters: { WhatIf: true },
    });

    assert.deepEqual(result.output, [
      `What if: install driver ${pcl} 1.2.3.4`,
      `What if: install driver ${ps} 1.2.3.4`,
      `Checked: ${title}: nothing was changed`,
    ]);
    assert.deepEqual(traces(result), []);
  });

  test("a script without the package downloads the files once, checks them and leaves no files", async () => {
    const inf = { models: [pcl, ps, fax], version: "1.2.3.4", date: "06/21/2025" };
    const zip = await filesZip(driverZip(inf));
    const path = join(windows.folder, "driver-package.zip");
    await writeFile(path, zip);
    const sha256 = createHash("sha256").update(zip).digest("hex");
    const download = { url: "http://platen.lan:8080/drivers/1/files", sha256 };
    await windows.setMachine({ Download: path });

    const fetched = { ...driverOnly(pcl, ps), download };
    const result = await windows.runSuccessfully("install", fetched, { withoutFiles: true });
    const repeated = await windows.runSuccessfully("install", fetched, { withoutFiles: true });

    assert.deepEqual([driversOf(result), result.machine.Downloads, result.left], [[pcl, ps], 1, 0]);
    assert.equal(repeated.machine.Downloads, 1);
  });
});
