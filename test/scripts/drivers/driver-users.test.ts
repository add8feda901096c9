import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deploymentOf } from "../../../src/pkg/scripts/deployment.ts";
import type { DriverDeployment } from "../../../src/pkg/scripts/driver-deployment.ts";
import {
  alone,
  driversOf,
  fax,
  lastLine,
  manyNames,
  pcl,
  printerWith,
  ps,
  title,
} from "../../support/drivers/driver-alone.ts";
import { withoutPowerShell } from "../../support/powershell/powershell.ts";
import { tcp, traces } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";

describe("a driver's own package and printers of the driver on a simulated Windows", {
  skip: withoutPowerShell,
}, () => {
  const windows = simulatedWindows();

  test("a name that others brought is not taken for installed, and becomes its own", async () => {
    await windows.machine();
    await windows.done("install", alone(pcl));
    await windows.done("install", printerWith(ps));

    const detected = await windows.run("detect", alone(pcl, ps));
    await windows.done("install", alone(pcl, ps));
    const printerGone = await windows.done("uninstall", printerWith(ps));

    assert.match(lastLine(detected), new RegExp(`the driver ${ps} was not installed by these scripts$`));
    assert.deepEqual(driversOf(printerGone), [pcl, ps]);
  });

  test("printers' markers, older ones too, keep a driver, and its own marker keeps it from printers", async () => {
    await windows.machine();
    await windows.done("install", alone(pcl, ps));
    const desk = printerWith(ps, { address: "", id: "9" });
    await windows.done("install", desk);

    const driverGone = await windows.done("uninstall", alone(pcl, ps));
    await windows.done("install", alone(pcl, ps));
    const printerGone = await windows.done("uninstall", desk);

    assert.equal(
      lastLine(driverGone),
      `Removed: ${title}: removed; the driver ${ps} stays: deployment 9 uses it`,
    );
    assert.deepEqual(driversOf(driverGone), [ps]);
    assert.deepEqual(driversOf(printerGone).sort(), [pcl, ps]);
    assert.match(printerGone.log, /Driver Papyrus 100 PS stays: deployment driver-1 uses it/);
  });

  test("uninstall scripts that are in the field already find the driver's names in its marker", async () => {
    await windows.machine();
    await windows.done("install", alone(pcl, ps));

    // The question as scripts asked it before there were packages of drivers.
    const asked = await windows.paste(`
      foreach ($key in @(Get-ChildItem -LiteralPath 'HKLM:\\SOFTWARE\\Platen\\Printers')) {
        foreach ($name in '${pcl}', '${ps}', '${fax}') {
          if ($key.GetValue('DriverName') -eq $name) { Write-Output -InputObject $name }
        }
      }`);

    assert.deepEqual(asked.output, [pcl, ps]);
  });

  test("two versions of a driver: uninstalling the older leaves what the newer one names", async () => {
    const newer = { driver: manyNames({ id: 2, sha256: "b".repeat(64) }), models: [pcl] as [string] };
    await windows.machine();
    await windows.done("install", alone(pcl, ps));
    await windows.done("install", newer);

    const removed = await windows.done("uninstall", alone(pcl, ps));
    await windows.done("detect", newer);

    assert.match(lastLine(removed), new RegExp(`the driver ${pcl} stays: deployment driver-2 uses it$`));
    assert.deepEqual(driversOf(removed), [pcl]);
  });

  test("a trusted publisher goes with the last that relied on it: printer or driver", async () => {
    const driver = manyNames({ trust_publisher: true });
    const trusted: DriverDeployment = { driver, models: [pcl] };
    const office = { ...printerWith(pcl, { address: "" }), driver };
    await windows.machine();
    const installed = await windows.done("install", trusted);
    await windows.done("install", office);

    const driverGone = await windows.done("uninstall", trusted);
    const allGone = await windows.done("uninstall", office);

    assert.deepEqual(installed.machine.Publishers, ["AABBCC"]);
    assert.deepEqual(driverGone.machine.Publishers, ["AABBCC"]);
    assert.deepEqual([allGone.machine.Publishers, traces(allGone)], [[], []]);
  });

  test("a full package of a printer and the driver's own live side by side, in any order", async () => {
    const office = printerWith(pcl);
    const orders = [
      [alone(pcl, ps), deploymentOf(office)],
      [deploymentOf(office), alone(pcl, ps)],
    ] as const;
    for (const [first, second] of orders) {
      await windows.machine({ Ports: [{ Name: "LPT1:" }, tcp("Theirs", "10.1.1.1")] });
      for (const each of [first, second]) await windows.done("install", each);
      for (const each of [first, second]) await windows.done("detect", each);

      await windows.done("uninstall", first);
      await windows.done("uninstall", second);
      const removed = await windows.done("uninstall", alone(pcl, ps));

      assert.deepEqual(traces(removed), ["port Theirs"]);
    }
  });
});
