import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deploymentOf } from "../../../src/pkg/scripts/deployment.ts";
import type { DriverDeployment } from "../../../src/pkg/scripts/driver-deployment.ts";
import {
  driverOnly,
  driversOf,
  driverWithModels,
  fax,
  lastLine,
  pcl,
  printerWith,
  ps,
  title,
} from "../../support/drivers/driver-only.ts";
import { withoutPowerShell } from "../../support/powershell/powershell.ts";
import { tcpPort, traces } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";

describe("a driver's own package and printers of the driver on a simulated Windows", {
  skip: withoutPowerShell,
}, () => {
  const windows = simulatedWindows();

  test("a driver name that a printer's package added counts as missing until the driver's package adds it", async () => {
    await windows.setMachine();
    await windows.runSuccessfully("install", driverOnly(pcl));
    await windows.runSuccessfully("install", printerWith(ps));

    const detected = await windows.run("detect", driverOnly(pcl, ps));
    await windows.runSuccessfully("install", driverOnly(pcl, ps));
    const printerGone = await windows.runSuccessfully("uninstall", printerWith(ps));

    assert.match(lastLine(detected), new RegExp(`the driver ${ps} was not installed by these scripts$`));
    assert.deepEqual(driversOf(printerGone), [pcl, ps]);
  });

  test("a printer's marker keeps a driver from the driver's uninstall, and the driver's marker from the printer's", async () => {
    await windows.setMachine();
    await windows.runSuccessfully("install", driverOnly(pcl, ps));
    const desk = printerWith(ps, { address: "", id: "9" });
    await windows.runSuccessfully("install", desk);

    const driverGone = await windows.runSuccessfully("uninstall", driverOnly(pcl, ps));
    await windows.runSuccessfully("install", driverOnly(pcl, ps));
    const printerGone = await windows.runSuccessfully("uninstall", desk);

    assert.equal(
      lastLine(driverGone),
      `Removed: ${title}: removed; the driver ${ps} stays: deployment 9 uses it`,
    );
    assert.deepEqual(driversOf(driverGone), [ps]);
    assert.deepEqual(driversOf(printerGone).sort(), [pcl, ps]);
    assert.match(printerGone.log, /Driver Papyrus 100 PS stays: deployment driver-1 uses it/);
  });

  test("older uninstall scripts find the driver names in the driver's marker", async () => {
    await windows.setMachine();
    await windows.runSuccessfully("install", driverOnly(pcl, ps));

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
    const newer = { driver: driverWithModels({ id: 2, sha256: "b".repeat(64) }), models: [pcl] as [string] };
    await windows.setMachine();
    await windows.runSuccessfully("install", driverOnly(pcl, ps));
    await windows.runSuccessfully("install", newer);

    const removed = await windows.runSuccessfully("uninstall", driverOnly(pcl, ps));
    await windows.runSuccessfully("detect", newer);

    assert.match(lastLine(removed), new RegExp(`the driver ${pcl} stays: deployment driver-2 uses it$`));
    assert.deepEqual(driversOf(removed), [pcl]);
  });

  test("a trusted publisher is removed with the last printer or driver that needs it", async () => {
    const driver = driverWithModels({ trust_publisher: true });
    const trusted: DriverDeployment = { driver, models: [pcl] };
    const office = { ...printerWith(pcl, { address: "" }), driver };
    await windows.setMachine();
    const installed = await windows.runSuccessfully("install", trusted);
    await windows.runSuccessfully("install", office);

    const driverGone = await windows.runSuccessfully("uninstall", trusted);
    const allGone = await windows.runSuccessfully("uninstall", office);

    assert.deepEqual(installed.machine.Publishers, ["AABBCC"]);
    assert.deepEqual(driverGone.machine.Publishers, ["AABBCC"]);
    assert.deepEqual([allGone.machine.Publishers, traces(allGone)], [[], []]);
  });

  test("a printer's full package and the driver's own package work together in any order", async () => {
    const office = printerWith(pcl);
    const orders = [
      [driverOnly(pcl, ps), deploymentOf(office)],
      [deploymentOf(office), driverOnly(pcl, ps)],
    ] as const;
    for (const [first, second] of orders) {
      await windows.setMachine({ Ports: [{ Name: "LPT1:" }, tcpPort("Theirs", "10.1.1.1")] });
      for (const each of [first, second]) await windows.runSuccessfully("install", each);
      for (const each of [first, second]) await windows.runSuccessfully("detect", each);

      await windows.runSuccessfully("uninstall", first);
      await windows.runSuccessfully("uninstall", second);
      const removed = await windows.runSuccessfully("uninstall", driverOnly(pcl, ps));

      assert.deepEqual(traces(removed), ["port Theirs"]);
    }
  });
});
