import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import {
  addSharedDriver,
  appOf,
  changesIn,
  resultRows,
  startPublishing,
} from "../support/publish/publishing.ts";

describe("removing apps of deleted records", { skip: withoutPowerShell }, () => {
  test("lists and deletes these apps, printers before their driver, and no others", async (t) => {
    const { service, tenant, publish, script, run } = await startPublishing(t);
    const [one = 0, two = 0] = await addSharedDriver(service);
    const driver_id = String(await service.addDriver(driverZip({ version: "7.0.0.0" })));
    const other = await service.addPrinter({ name: "Elsewhere", driver_id });
    await publish("/clients/1/publish");
    await publish(`/printers/${other}/publish`);
    const foreign = tenant.addApp({ displayName: "Front Desk", notes: `platen:000000000000:printer:${one}` });
    for (const id of [one, two]) await service.fetch(`/printers/${id}`, { method: "DELETE" });
    await service.fetch("/drivers/1", { method: "DELETE" });
    const text = await script(`/printers/${other}/publish`);

    const listed = await run(text, { Remove: true, WhatIf: true });
    const before = tenant.apps().length;
    const removed = await run(text, { Remove: true, Force: true });

    assert.deepEqual([listed.code, before, removed.code], [3, 5, 0], removed.output.join("\n"));
    assert.equal(resultRows(listed).filter((row) => row.includes("Pending")).length, 3);
    assert.equal(resultRows(removed).filter((row) => row.includes("Removed")).length, 3);
    assert.deepEqual(
      tenant
        .apps()
        .map(({ id }) => id)
        .sort(),
      [foreign, appOf(tenant, `printer:${other}`).id].sort(),
    );
  });

  test("deletes nothing without a prompt or -Force", async (t) => {
    const { service, tenant, publish, script, run } = await startPublishing(t);
    const gone = await service.addPrinter();
    const other = await service.addPrinter({ name: "Elsewhere", driver_id: "1" });
    await publish(`/printers/${gone}/publish`);
    await service.fetch(`/printers/${gone}`, { method: "DELETE" });
    const since = tenant.requests.length;

    const result = await run(await script(`/printers/${other}/publish`), { Remove: true });

    assert.deepEqual([result.code, changesIn(tenant, since)], [1, []]);
    assert.match(
      result.output.join("\n"),
      /This session cannot ask\. Check the list, and run the script again with -Force/,
    );
  });

  test("leaves an app alone whose notes only mention a marker", async (t) => {
    const { service, tenant, publish, script, run } = await startPublishing(t);
    const first = await service.addPrinter();
    await publish(`/printers/${first}/publish`);
    const instance = /platen:(\w+):/.exec(String(appOf(tenant, `printer:${first}`).notes))?.[1];
    const second = await service.addPrinter({ name: "Second", driver_id: "1" });
    const gone = `platen:${instance}:printer:${second}`;
    const mentions = [
      `Replaces ${gone} revision:0123456789ab`,
      `${gone}, see ticket 7`,
      `See\n${gone} revision:0123456789ab.`,
    ].map((notes) => tenant.addApp({ displayName: "Mine", notes }));
    const before = structuredClone(mentions.map((id) => tenant.app(id)));

    const published = await publish(`/printers/${second}/publish`);
    const made = tenant.apps().length;
    await service.fetch(`/printers/${second}`, { method: "DELETE" });
    const bare = tenant.addApp({ displayName: "To be taken over", notes: gone });
    const removed = await run(await script(`/printers/${first}/publish`), { Remove: true, Force: true });

    assert.deepEqual([published.code, made, removed.code], [0, 5, 0], published.output.join("\n"));
    assert.equal(resultRows(removed).length, 1, "the app that was published goes");
    assert.deepEqual(
      mentions.map((id) => tenant.app(id)),
      before,
    );
    assert.ok(tenant.app(bare));
  });

  test("does not take a record that is newer than the script for a deleted one", async (t) => {
    const { service, tenant, publish, script, run } = await startPublishing(t);
    const first = await service.addPrinter();
    const old = await script(`/printers/${first}/publish`);
    const second = await service.addPrinter({ name: "Younger", driver_id: "1" });
    await publish(`/printers/${second}/publish`);

    const refused = await run(old, { Remove: true, Force: true });
    await service.stop();
    const result = await run(old, { Remove: true, Force: true });

    assert.equal(refused.code, 1);
    assert.match(refused.output.join("\n"), /Platen has changed since this script was made/);
    assert.deepEqual([result.code, tenant.apps().length], [0, 1]);
    assert.match(
      result.output.join("\n"),
      /whether Platen has changed .* is unknown[\s\S]*nothing to remove/,
    );
  });
});

describe("publishing with -WhatIf", { skip: withoutPowerShell }, () => {
  test("says what it would do, and only reads", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    await addSharedDriver(service);
    const fresh = await publish("/clients/1/publish", {
      WhatIf: true,
      AssignTo: ["11111111-2222-4333-8444-555555555555"],
    });
    const none = changesIn(tenant);
    await publish("/clients/1/publish");
    await service.post("/clients/1", { name: "Fabrikam" });
    const since = tenant.requests.length;

    const changed = await publish("/clients/1/publish", { WhatIf: true });

    assert.deepEqual([fresh.code, none, changed.code, changesIn(tenant, since)], [3, [], 3, []]);
    assert.equal(resultRows(fresh).filter((row) => row.includes("Pending")).length, 3);
    assert.equal(resultRows(changed).filter((row) => row.includes("Pending")).length, 2);
  });
});
