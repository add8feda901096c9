import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import {
  alone,
  driverMarker,
  driversOf,
  fax,
  lastLine,
  pcl,
  ps,
  title,
} from "../../support/drivers/driver-alone.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";
import { filesZip } from "../../support/drivers/files-zip.ts";
import { type Simulation, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { papyrus, queue, traces } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";

describe("a driver's own package on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  test("is staged once and installed under each of its names; a second run changes nothing", async () => {
    await windows.machine();
    const missing = await windows.run("detect", alone(pcl, ps));

    const result = await windows.done("install", alone(pcl, ps));
    const again = await windows.done("install", alone(pcl, ps));
    const detected = await windows.done("detect", alone(pcl, ps));

    assert.deepEqual([missing.code, missing.errors], [1, []]);
    assert.equal(missing.output.join(), `Not installed: ${title}: ${pcl}: the driver ${pcl} is not there`);
    assert.deepEqual(result.output, [`Installed: ${title}: installed`]);
    assert.deepEqual(driversOf(result), [pcl, ps]);
    assert.equal(result.calls.filter((call) => call === "pnputil").length, 1);
    assert.deepEqual(result.machine.Registry[driverMarker]?.DriverName, [pcl, ps]);
    assert.equal(lastLine(again), `Installed: ${title}: nothing to change`);
    assert.equal(
      again.calls.some((call) => /^registry|pnputil|Add-/.test(call)),
      false,
    );
    assert.deepEqual(detected.output, [`Installed: ${title}`]);
  });

  test("goes without a trace, its files with its last name; a second removal finds nothing", async () => {
    await windows.machine();
    await windows.done("install", alone(pcl, ps));

    const removed = await windows.done("uninstall", alone(pcl, ps));
    const again = await windows.done("uninstall", alone(pcl, ps));
    const detected = await windows.run("detect", alone(pcl, ps));

    assert.equal(lastLine(removed), `Removed: ${title}: removed`);
    assert.deepEqual([traces(removed), removed.machine.Store], [[], []]);
    assert.equal(lastLine(again), `Removed: ${title}: nothing was there`);
    assert.equal(detected.code, 1);
  });

  test("updates an older driver in place under its name, and leaves a newer one alone", async () => {
    await windows.machine({
      Drivers: [papyrus("1.0.0.0", "01/01/2020")],
      Queues: [queue("Theirs", "LPT1:")],
    });
    const before = await windows.run("detect", alone(pcl));
    const updated = await windows.done("install", alone(pcl));
    await windows.machine({ Drivers: [papyrus("2.0.0.0", "01/01/2026")] });
    const newer = await windows.done("install", alone(pcl));
    await windows.done("detect", alone(pcl));

    assert.match(lastLine(before), /the driver's version is 1\.0\.0\.0, not 1\.2\.3\.4$/);
    assert.equal(updated.machine.Drivers[0]?.Version, "1.2.3.4");
    assert.equal(newer.calls.includes("pnputil"), false);
    assert.equal(newer.machine.Drivers[0]?.Version, "2.0.0.0");
  });

  test("names come and go: a new one is installed, and those that went are removed with the rest", async () => {
    await windows.machine();
    await windows.done("install", alone(pcl, ps));

    const fewer = await windows.done("detect", alone(pcl));
    const more = await windows.run("detect", alone(fax, pcl));
    const result = await windows.done("install", alone(fax, pcl));
    await windows.done("detect", alone(fax, pcl));
    const removed = await windows.done("uninstall", alone(pcl));

    assert.deepEqual(fewer.output, [`Installed: ${title}`]);
    assert.match(lastLine(more), new RegExp(`${fax} is not there$`));
    assert.deepEqual(result.machine.Registry[driverMarker]?.DriverName, [fax, pcl, ps]);
    assert.deepEqual([traces(removed), removed.machine.Store], [[], []]);
  });

  test("a name that a queue uses stays, with the driver's files, and the last line says whose", async () => {
    const theirs = { Queues: [queue("Front Desk", "LPT1:", ps)] };
    await windows.machine(theirs);
    await windows.done("install", alone(pcl, ps));

    const removed = await windows.done("uninstall", alone(pcl, ps));
    const again = await windows.done("uninstall", alone(pcl, ps));
    await windows.change({ Queues: [] });
    const cleaned = await windows.done("uninstall", alone(pcl, ps));

    assert.equal(lastLine(removed), `Removed: ${title}: removed; the driver ${ps} stays: Front Desk uses it`);
    assert.deepEqual([driversOf(removed), removed.machine.Store], [[ps], ["papyrus.inf"]]);
    assert.equal(removed.machine.Registry[driverMarker], undefined);
    assert.equal(
      lastLine(again),
      `Removed: ${title}: nothing was there; the driver ${ps} stays: Front Desk uses it`,
    );
    assert.deepEqual([traces(cleaned), cleaned.machine.Store], [[], []]);
  });

  test("a queue that is called as the driver is still somebody who uses it", async () => {
    await windows.machine({ Queues: [queue(title, "LPT1:")] });
    await windows.done("install", alone(pcl));

    const removed = await windows.done("uninstall", alone(pcl));

    assert.match(lastLine(removed), /stays: Papyrus papyrus\.inf 1\.2\.3\.4 uses it$/);
  });

  test("what cannot be installed fails with its name and reason, and leaves no marker", async () => {
    const attempts: [Parameters<Simulation["machine"]>[0], RegExp][] = [
      [{ DriverNever: true }, new RegExp(`The driver ${pcl} was staged, but Windows does not install it`)],
      [{ Architecture: "arm64" }, /This machine is arm64; the driver is made for amd64/],
      [{ PnpCode: 5 }, /Windows refused the driver package \(pnputil 5\)/],
      [{ Admin: false }, /needs administrator rights/],
    ];
    for (const [machine, reason] of attempts) {
      await windows.machine(machine);

      const result = await windows.run("install", alone(pcl, ps));

      assert.deepEqual([result.code, result.errors], [1603, []]);
      assert.match(lastLine(result), reason);
      assert.equal(result.machine.Registry[driverMarker], undefined);
    }
  });

  test("with -WhatIf it says what it would do, and does nothing", async () => {
    await windows.machine();

    const result = await windows.done("install", alone(pcl, ps), { parameters: { WhatIf: true } });

    assert.deepEqual(result.output, [
      `What if: install driver ${pcl} 1.2.3.4`,
      `What if: install driver ${ps} 1.2.3.4`,
      `Installed: ${title}: checked only`,
    ]);
    assert.deepEqual(traces(result), []);
  });

  test("its script fetched alone downloads the files once, checks them and leaves nothing of them", async () => {
    const inf = { models: [pcl, ps, fax], version: "1.2.3.4", date: "06/21/2025" };
    const zip = await filesZip(driverZip(inf));
    const path = join(windows.folder, "driver-package.zip");
    await writeFile(path, zip);
    const sha256 = createHash("sha256").update(zip).digest("hex");
    const download = { url: "http://platen.lan:8080/drivers/1/files", sha256 };
    await windows.machine({ Download: path });

    const fetched = { ...alone(pcl, ps), download };
    const result = await windows.done("install", fetched, { withoutFiles: true });
    const again = await windows.done("install", fetched, { withoutFiles: true });

    assert.deepEqual([driversOf(result), result.machine.Downloads, result.left], [[pcl, ps], 1, 0]);
    assert.equal(again.machine.Downloads, 1);
  });
});
