import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { deploymentOf, deploymentOfMany, withoutDrivers } from "../../../src/pkg/scripts/deployment.ts";
import type { DriverDeployment } from "../../../src/pkg/scripts/driver-deployment.ts";
import {
  driverMarker,
  driverOnly,
  driversOf,
  driverWithModels,
  fax,
  pcl,
  printerWith,
  ps,
  title,
} from "../../support/drivers/driver-only.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";
import { filesZip } from "../../support/drivers/files-zip.ts";
import {
  changing,
  endsOf,
  lastLine,
  queuesOf,
  runAll,
  runSteps,
  unchanged,
} from "../../support/drivers/script-runs.ts";
import { windowsDeployable } from "../../support/powershell/ipp-machine.ts";
import { deployable, type Machine, withoutPowerShell } from "../../support/powershell/powershell.ts";
import {
  getQueue,
  markerPath,
  papyrusDriver,
  queue,
  tcpPort,
  traces,
} from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";

const both = driverOnly(pcl, ps);

describe("a driver's own package on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  test("install stages the package once and adds every driver name; uninstall leaves nothing", async () => {
    await windows.setMachine();
    const before = await runAll(windows, both, "detect", "install", "install", "detect");
    const after = await runAll(windows, both, "uninstall", "uninstall", "detect");

    const [, result, repeated] = before;
    const missing = `1 Not installed: ${title}: ${pcl}: the driver ${pcl} is not there`;
    assert.deepEqual(endsOf(...before, ...after), [
      missing,
      `0 Installed: ${title}: installed`,
      `0 Installed: ${title}: nothing to change`,
      `0 Installed: ${title}`,
      `0 Removed: ${title}: removed`,
      `0 Removed: ${title}: nothing was there`,
      missing,
    ]);
    assert.deepEqual([result.output.length, driversOf(result)], [1, [pcl, ps]]);
    assert.equal(result.calls.filter((call) => call === "pnputil").length, 1);
    assert.deepEqual(result.machine.Registry[driverMarker]?.DriverName, [pcl, ps]);
    assert.deepEqual(changing(repeated), []);
    assert.deepEqual([traces(after[0]), after[0].machine.Store], [[], []]);
  });

  test("install updates an older driver and leaves a newer one alone", async () => {
    const older = { Drivers: [papyrusDriver("1.0.0.0", "01/01/2020")], Queues: [queue("Theirs", "LPT1:")] };
    await windows.setMachine(older);
    const [before, updated] = await runAll(windows, driverOnly(pcl), "detect", "install");
    const newer = await windows.install(
      { Drivers: [papyrusDriver("2.0.0.0", "01/01/2026")] },
      driverOnly(pcl),
    );

    assert.match(lastLine(before), /the driver's version is 1\.0\.0\.0, not 1\.2\.3\.4$/);
    assert.deepEqual([updated.code, updated.machine.Drivers[0]?.Version], [0, "1.2.3.4"]);
    assert.equal(newer.calls.includes("pnputil"), false);
    assert.equal(newer.machine.Drivers[0]?.Version, "2.0.0.0");
  });

  test("a new name is added, and uninstall also removes names that were deployed before", async () => {
    await windows.install({}, both);
    const fewer = await windows.run("detect", driverOnly(pcl));
    const [more, result, detected] = await runAll(
      windows,
      driverOnly(fax, pcl),
      "detect",
      "install",
      "detect",
    );
    const removed = await windows.runSuccessfully("uninstall", driverOnly(pcl));

    assert.deepEqual(endsOf(fewer), [`0 Installed: ${title}`]);
    assert.match(lastLine(more), new RegExp(`${fax} is not there$`));
    assert.deepEqual(result.machine.Registry[driverMarker]?.DriverName, [fax, pcl, ps]);
    assert.deepEqual([detected.code, traces(removed), removed.machine.Store], [0, [], []]);
  });

  test("a driver name in use stays with its files, and the last line names the queue", async () => {
    await windows.setMachine({ Queues: [queue("Front Desk", "LPT1:", ps)] });
    const [, removed, repeated] = await runAll(windows, both, "install", "uninstall", "uninstall");
    await windows.changeMachine({ Queues: [] });
    const cleaned = await windows.runSuccessfully("uninstall", both);

    assert.deepEqual(endsOf(removed, repeated), [
      `0 Removed: ${title}: removed; the driver ${ps} stays: Front Desk uses it`,
      `0 Removed: ${title}: nothing was there; the driver ${ps} stays: Front Desk uses it`,
    ]);
    assert.deepEqual([driversOf(removed), removed.machine.Store], [[ps], ["papyrus.inf"]]);
    assert.equal(removed.machine.Registry[driverMarker], undefined);
    assert.deepEqual([traces(cleaned), cleaned.machine.Store], [[], []]);
  });

  test("a queue with the driver's title as its name still counts as a user of the driver", async () => {
    await windows.setMachine({ Queues: [queue(title, "LPT1:")] });
    const [, removed] = await runAll(windows, driverOnly(pcl), "install", "uninstall");

    assert.match(lastLine(removed), /stays: Papyrus 100 PCL6\/PS\/Fax 1\.2 uses it$/);
  });

  const failures: [Machine, RegExp][] = [
    [{ DriverNever: true }, new RegExp(`The driver ${pcl} was staged, but Windows does not install it`)],
    [{ Architecture: "arm64" }, /This machine is arm64; the driver is made for amd64/],
    [{ PnpCode: 5 }, /Windows refused the driver package \(pnputil 5\)/],
    [{ Admin: false }, /needs administrator rights/],
  ];
  for (const [machine, reason] of failures) {
    test(`on a machine with ${JSON.stringify(machine)} install fails with its reason and leaves no marker`, async () => {
      await windows.setMachine(machine);

      const result = await windows.run("install", both);

      assert.equal(result.code, 1603);
      assert.match(lastLine(result), reason);
      assert.equal(result.machine.Registry[driverMarker], undefined);
    });
  }

  test("-WhatIf prints the changes and makes none", async () => {
    await windows.setMachine();

    const result = await windows.runSuccessfully("install", both, { parameters: { WhatIf: true } });

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
    const Download = join(windows.folder, "driver-package.zip");
    await writeFile(Download, zip);
    const sha256 = createHash("sha256").update(zip).digest("hex");
    const fetched = { ...both, download: { url: "http://platen.lan:8080/drivers/1/files", sha256 } };
    await windows.setMachine({ Download });

    const result = await windows.runSuccessfully("install", fetched, { withoutFiles: true });
    const repeated = await windows.runSuccessfully("install", fetched, { withoutFiles: true });

    assert.deepEqual([driversOf(result), result.machine.Downloads, result.left], [[pcl, ps], 1, 0]);
    assert.equal(repeated.machine.Downloads, 1);
  });
});

describe("a driver's own package and printers of the driver", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  test("a driver name that a printer's package added counts as missing until the driver's package adds it", async () => {
    await windows.setMachine();
    await runSteps(windows, ["install", driverOnly(pcl)], ["install", printerWith(ps)]);

    const [detected] = await runAll(windows, both, "detect", "install");
    const printerGone = await windows.runSuccessfully("uninstall", printerWith(ps));

    assert.match(lastLine(detected), new RegExp(`the driver ${ps} was not installed by these scripts$`));
    assert.deepEqual(driversOf(printerGone), [pcl, ps]);
  });

  test("a printer's marker keeps a driver from the driver's uninstall, and the driver's marker from the printer's", async () => {
    const desk = printerWith(ps, { address: "", id: "9" });
    await windows.setMachine();
    const [, , driverGone, , printerGone] = await runSteps(
      windows,
      ["install", both],
      ["install", desk],
      ["uninstall", both],
      ["install", both],
      ["uninstall", desk],
    );

    const stays = `Removed: ${title}: removed; the driver ${ps} stays: deployment 9 uses it`;
    assert.deepEqual([lastLine(driverGone), driversOf(driverGone)], [stays, [ps]]);
    assert.deepEqual(driversOf(printerGone).sort(), [pcl, ps]);
    assert.match(printerGone.log, /Driver Papyrus 100 PS stays: deployment driver-1 uses it/);
  });

  test("older uninstall scripts find the driver names in the driver's marker", async () => {
    await windows.setMachine();
    await windows.runSuccessfully("install", both);

    // The check of scripts from before driver packages.
    const result = await windows.paste(`
      foreach ($key in @(Get-ChildItem -LiteralPath 'HKLM:\\SOFTWARE\\Platen\\Printers')) {
        foreach ($name in '${pcl}', '${ps}', '${fax}') {
          if ($key.GetValue('DriverName') -eq $name) { Write-Output -InputObject $name }
        }
      }`);

    assert.deepEqual(result.output, [pcl, ps]);
  });

  test("uninstalling an older driver version keeps the names that a newer version deployed", async () => {
    const newer: DriverDeployment = {
      driver: driverWithModels({ id: 2, sha256: "b".repeat(64) }),
      models: [pcl],
    };
    await windows.setMachine();
    const [, , removed] = await runSteps(
      windows,
      ["install", both],
      ["install", newer],
      ["uninstall", both],
      ["detect", newer],
    );

    assert.match(lastLine(removed), new RegExp(`the driver ${pcl} stays: deployment driver-2 uses it$`));
    assert.deepEqual(driversOf(removed), [pcl]);
  });

  test("a trusted publisher is removed with the last printer or driver that needs it", async () => {
    const driver = driverWithModels({ trust_publisher: true });
    const trusted: DriverDeployment = { driver, models: [pcl] };
    const office = { ...printerWith(pcl, { address: "" }), driver };
    await windows.setMachine();
    const [installed, , driverGone, allGone] = await runSteps(
      windows,
      ["install", trusted],
      ["install", office],
      ["uninstall", trusted],
      ["uninstall", office],
    );

    const publishers = [installed, driverGone, allGone].map(({ machine }) => machine.Publishers);
    assert.deepEqual(publishers, [["AABBCC"], ["AABBCC"], []]);
    assert.deepEqual(traces(allGone), []);
  });

  for (const order of [
    [both, printerWith(pcl)],
    [printerWith(pcl), both],
  ] as const) {
    test(`a printer's full package and the driver's own package work together, ${"printer" in order[0] ? "printer" : "driver"} first`, async () => {
      await windows.setMachine({ Ports: [{ Name: "LPT1:" }, tcpPort("Theirs", "10.1.1.1")] });
      for (const kind of ["install", "detect", "uninstall"] as const)
        await runSteps(windows, [kind, order[0]], [kind, order[1]]);
      const removed = await windows.runSuccessfully("uninstall", both);

      assert.deepEqual(traces(removed), ["port Theirs"]);
    });
  }
});

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
