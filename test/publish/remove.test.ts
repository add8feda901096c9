import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { deepTest } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import {
  addSharedDriver,
  appOf,
  changesIn,
  editPrinter,
  resultRows,
  startPublished,
  startPublishing,
} from "../support/publish/publishing.ts";

const countOf = (run: Parameters<typeof resultRows>[0], word: string) =>
  resultRows(run).filter((row) => row.includes(word)).length;

describe("publishing with -WhatIf", { skip: withoutPowerShell }, () => {
  for (const [what, given, changed] of [
    ["new", { AssignTo: ["11111111-2222-4333-8444-555555555555"] }, "New app"],
    ["changed", {}, "Description,Name,App package file"],
  ] as const)
    test(`says what it would do for ${what} apps, and only reads`, async (t) => {
      const { service, tenant, publish, published } = await startPublishing(t);
      await addSharedDriver(service);
      if (what === "changed") {
        await published("/clients/1/publish");
        await service.post("/clients/1", { name: "Fabrikam" });
      }

      const run = await publish("/clients/1/publish", { WhatIf: true, PassThru: true, ...given });

      const rows = run.rows.map(({ Result, Changed }) => [Result, ...Changed].join());
      const driver = what === "new" ? "Pending,New app" : "Unchanged";
      assert.deepEqual([run.code, changesIn(tenant)], [3, []]);
      assert.deepEqual(rows, [driver, `Pending,${changed}`, `Pending,${changed}`]);
    });
});

/** Two printers with their driver's app and an app of another printer are published; then all but the other are deleted. */
async function startWithDeleted(t: TestContext) {
  const publishing = await startPublishing(t);
  const { service, tenant, published } = publishing;
  const [one = 0, two = 0] = await addSharedDriver(service);
  const driver_id = String(await service.addDriver(driverZip({ version: "7.0.0.0" })));
  const other = await service.addPrinter({ name: "Elsewhere", driver_id });
  const path = `/printers/${other}/publish`;
  await published("/clients/1/publish");
  await published(path);
  const foreign = tenant.addApp({ displayName: "Front Desk", notes: `platen:000000000000:printer:${one}` });
  for (const id of [one, two]) await service.fetch(`/printers/${id}`, { method: "DELETE" });
  await service.fetch("/drivers/1", { method: "DELETE" });
  return { ...publishing, path, kept: [foreign, appOf(tenant, `printer:${other}`).id] };
}

describe("removing apps of deleted records", { skip: withoutPowerShell }, () => {
  test("lists these apps, and deletes nothing with -WhatIf, by default, and without a person to ask", async (t) => {
    const { tenant, publish, path } = await startWithDeleted(t);

    const listed = await publish(path, { Remove: true, WhatIf: true });
    const declined = await publish(path, { Remove: true }, { ANSWER: "default" });
    const unasked = await publish(path, { Remove: true });

    assert.deepEqual([listed.code, declined.code, unasked.code, changesIn(tenant)], [3, 3, 1, []]);
    assert.deepEqual([countOf(listed, "Pending"), countOf(declined, "Pending")], [3, 3]);
    assert.match(declined.said, /Delete 3 apps\? What they installed stays on the PCs\./);
    assert.match(
      unasked.said,
      /This session cannot ask\. Check the list, and run the script again with -Force/,
    );
  });

  test("deletes these apps after a yes, printers before their driver, and no others", async (t) => {
    const { tenant, publish, path, kept } = await startWithDeleted(t);

    const removed = await publish(path, { Remove: true }, { ANSWER: "Yes" });

    assert.equal(removed.code, 0, removed.said);
    assert.equal(countOf(removed, "Removed"), 3);
    assert.deepEqual([...tenant.state.apps.keys()].sort(), kept.sort());
  });

  /** A published printer, a second printer, and apps whose notes mention the second one's marker or another service's. */
  async function startWithMentions(t: TestContext) {
    const one = await startPublished(t);
    const { service, tenant } = one;
    const instance = /platen:(\w+):/.exec(String(one.app().notes))?.[1];
    const second = await service.addPrinter({ name: "Second", driver_id: "1" });
    const gone = `platen:${instance}:printer:${second}`;
    const mentions = [
      `Replaces ${gone} revision:0123456789ab`,
      `${gone}, see ticket 7`,
      `See\n${gone} revision:0123456789ab.`,
      `platen:000000000000:printer:${second} revision:0123456789ab`,
    ].map((notes) => tenant.addApp({ displayName: "Second", notes }));
    const before = structuredClone(mentions.map((id) => tenant.app(id)));
    return { ...one, second, gone, before, after: () => mentions.map((id) => tenant.app(id)) };
  }

  test("publishing leaves an app alone that Platen did not make, although its name or notes are alike", async (t) => {
    const { tenant, publish, second, before, after } = await startWithMentions(t);

    const run = await publish(`/printers/${second}/publish`);

    assert.deepEqual([run.code, tenant.apps().length, after()], [0, 6, before], run.said);
  });

  test("removing leaves such an app alone too, and one that nothing was published to", async (t) => {
    const { service, tenant, published, publish, path, second, gone, before, after } =
      await startWithMentions(t);
    await published(`/printers/${second}/publish`);
    const bare = tenant.addApp({ displayName: "To be taken over", notes: gone });
    await service.fetch(`/printers/${second}`, { method: "DELETE" });

    const run = await publish(path, { Remove: true, Force: true });

    assert.deepEqual([run.code, tenant.apps().length, after()], [0, 6, before], run.said);
    assert.equal(resultRows(run).length, 1, "the app that was published goes");
    assert.ok(tenant.app(bare));
  });

  for (const isStopped of [false, true])
    test(`does not take a newer record for a deleted one, if Platen ${isStopped ? "is stopped" : "runs"}`, async (t) => {
      const { service, tenant, script, published, run, path } = await startPublished(t);
      tenant.clear();
      const old = await script(path);
      const second = await service.addPrinter({ name: "Younger", driver_id: "1" });
      await published(`/printers/${second}/publish`);
      if (isStopped) await service.stop();

      const result = await run(old, { Remove: true, Force: true });

      const unknown = /whether Platen has changed .* is unknown[\s\S]*nothing to remove/;
      assert.deepEqual([result.code, tenant.apps().length], [isStopped ? 0 : 1, 1]);
      assert.match(result.said, isStopped ? unknown : /Platen has changed since this script was made/);
    });
});

describe("remarks about other apps at the end of a run", { skip: withoutPowerShell }, () => {
  for (const Remove of [false, true])
    test(`name ${Remove ? "a driver's app that nothing depends on any more" : "apps of deleted records"}`, async (t) => {
      const { service, tenant, publish, published } = await startPublishing(t);
      const [, second = 0] = await addSharedDriver(service);
      await published("/clients/1/publish");
      const driver = appOf(tenant, "driver:1").id;
      // As a run left it that found the other printer without company.
      if (Remove) tenant.getApp(appOf(tenant, "printer:1").id).children = [];
      await service.fetch(`/printers/${second}`, { method: "DELETE" });

      const { code, said } = await publish("/clients/1/publish", Remove ? { Remove, Force: true } : {});

      const gone = /Note: this tenant has 1 app of printers, clients or drivers that were deleted in Platen/;
      assert.equal(code, 0, said);
      assert.match(said, Remove ? /Note: no app depends on 'Printer driver [^']+'/ : gone);
      // The second printer's app still depends on it.
      if (!Remove) assert.doesNotMatch(said, /Note: no app depends/);
      assert.deepEqual(tenant.children(appOf(tenant, "printer:1").id), []);
      assert.ok(tenant.app(driver));
    });

  for (const isRefused of [false, true])
    test(`name other apps with the same printers ${isRefused ? "not before" : "after"} the requested app was published`, async (t) => {
      const { service, tenant, publish, published } = await startPublishing(t);
      await addSharedDriver(service);
      await published("/clients/1/publish");
      if (isRefused) tenant.fault({ method: "POST", path: /mobileApps$/, status: 400 });

      const { code, said } = await publish("/clients/1/publish", { Together: true });

      const note =
        /Note: these printers are also in 2 other apps: '[^']+' \([0-9a-f-]+\), '[^']+' \([0-9a-f-]+\)\. Remove the assignments/;
      assert.equal(code, isRefused ? 1 : 0, said);
      if (isRefused) assert.doesNotMatch(said, /Note: these printers/);
      else assert.match(said, note);
    });

  deepTest("are left out if their facts cannot be read, and the run still succeeds", async (t) => {
    const { service, tenant, publish, published } = await startPublishing(t);
    const ids = await addSharedDriver(service);
    await published("/clients/1/publish");
    const { id } = appOf(tenant, "driver:1");
    const zip = driverZip({ models: ["Papyrus 100 PCL6"], version: "9.0.0.0" });
    const driver_id = String(await service.addDriver(zip));
    for (const printer of ids) await editPrinter(service, printer, { driver_id });
    tenant.fault({ path: new RegExp(`${id}/relationships$`), status: 404, times: 99 });

    const run = await publish("/clients/1/publish");

    assert.equal(run.code, 0, run.said);
    assert.doesNotMatch(run.said + run.log, /Note: no app|Waits/);
  });
});
