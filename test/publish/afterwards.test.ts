import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { addSharedDriver, appOf, editPrinter, startPublishing } from "../support/publish/publishing.ts";

describe("remarks about other apps at the end of a run", { skip: withoutPowerShell }, () => {
  test("name apps of deleted records, and a driver's app that nothing depends on any more", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const [, second = 0] = await addSharedDriver(service);
    await publish("/clients/1/publish");
    const driver = appOf(tenant, "driver:1").id;
    await service.fetch(`/printers/${second}`, { method: "DELETE" });

    const one = await publish("/clients/1/publish");

    assert.equal(one.code, 0, one.output.join("\n"));
    assert.match(
      one.output.join("\n"),
      /Note: this tenant has 1 app of printers, clients or drivers that were deleted in Platen/,
    );
    // The second printer's app still depends on it.
    assert.doesNotMatch(one.output.join("\n"), /Note: no app depends/);
    const removed = await publish("/clients/1/publish", { Remove: true, Force: true });
    assert.match(removed.output.join("\n"), /Note: no app depends on 'Printer driver [^']+'/);
    assert.deepEqual(tenant.children(appOf(tenant, "printer:1").id), []);
    assert.ok(tenant.app(driver));
  });

  test("name other apps with the same printers, but only after the requested app was published", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    await addSharedDriver(service);
    await publish("/clients/1/publish");
    tenant.fault({ method: "POST", path: /mobileApps$/, status: 400, times: 1 });

    const failed = await publish("/clients/1/publish", { Together: true });
    const together = await publish("/clients/1/publish", { Together: true });

    assert.equal(failed.code, 1);
    assert.doesNotMatch(failed.output.join("\n"), /Note: these printers/);
    assert.match(
      together.output.join("\n"),
      /Note: these printers are also in 2 other apps: '[^']+' \([0-9a-f-]+\), '[^']+' \([0-9a-f-]+\)\. Remove the assignments/,
    );
  });

  test("name a driver's app that the last printer no longer needs", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const ids = await addSharedDriver(service);
    await publish("/clients/1/publish");
    const zip = driverZip({ models: ["Papyrus 100 PCL6"], version: "9.0.0.0" });
    const other = String(await service.addDriver(zip));
    await editPrinter(service, ids[0] ?? 0, { driver_id: other });
    await editPrinter(service, ids[1] ?? 0, { driver_id: other });

    const run = await publish("/clients/1/publish");

    const { id, displayName } = appOf(tenant, "driver:1");
    assert.equal(run.code, 0, run.output.join("\n"));
    const said = run.output.join("\n");
    assert.ok(
      said.includes(`Note: no app depends on '${displayName}' (${id}), and nothing is assigned.`),
      said + run.log,
    );
  });

  test("are left out if their facts cannot be read, and the run still succeeds", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const ids = await addSharedDriver(service);
    await publish("/clients/1/publish");
    const { id } = appOf(tenant, "driver:1");
    const other = String(
      await service.addDriver(driverZip({ models: ["Papyrus 100 PCL6"], version: "9.0.0.0" })),
    );
    for (const printer of ids) await editPrinter(service, printer, { driver_id: other });
    tenant.fault({ path: new RegExp(`${id}/relationships$`), status: 404, times: 99 });

    const run = await publish("/clients/1/publish");

    assert.equal(run.code, 0, run.output.join("\n"));
    assert.doesNotMatch(run.output.join("\n") + run.log, /Note: no app|Waits/);
  });
});
