import assert from "node:assert/strict";
import { test } from "node:test";
import { navigation, startApp } from "../support/app.ts";
import { undoLast } from "../support/backup/deletions.ts";

const textOf = async (answer: Promise<Response>) => (await answer).text();

const partsIn = (script: string) => [
  /Revision = '(\w+)'/.exec(script)?.[1],
  /ExactVersion = (\S+)/.exec(script)?.[1],
];

test("“Install exactly this version” shows its effect first, reaches scripts and packages, and can be undone", async (t) => {
  const service = await startApp(t);
  const { fetch, post, addPrinter } = service;
  await addPrinter({ name: "Office" });
  const seen = async () => {
    const { headers } = await fetch("/printers/1/packages/rmm", { method: "HEAD" });
    return [...partsIn(await textOf(fetch("/printers/1/scripts/install"))), headers.get("etag")];
  };

  const before = await seen();
  const form = await textOf(fetch("/drivers/1"));
  const asked = await textOf(post("/drivers/1", { from_form: "1", exact_version: "on" }, navigation));
  const confirmed = /name="confirmed" value="(\w+)"/.exec(asked)?.[1] ?? "";
  const unsaved = await seen();
  await post("/drivers/1", { from_form: "1", exact_version: "on", confirmed }, navigation);
  const after = await seen();
  const ticked = await textOf(fetch("/drivers/1"));
  const log = await textOf(fetch("/audit"));
  await undoLast(service);

  assert.match(form, /Other queues of the driver change drivers for a moment/);
  assert.match(asked, /1 printer must be deployed again/);
  assert.deepEqual(unsaved, before);
  assert.deepEqual([before[1], after[1]], ["$false", "$true"]);
  for (const i of [0, 2]) assert.notEqual(after[i], before[i]);
  assert.match(ticked, /name="exact_version"[^>]* checked/);
  assert.match(log, /Install exactly this version/);
  assert.deepEqual(await seen(), before);
});

test("an exact version survives a deletion that is undone and a restart; Windows’ own drivers never have it", async (t) => {
  const app = await startApp(t);
  await app.addDriver();
  await app.post("/drivers/1", { exact_version: "on" });

  await app.fetch("/drivers/1", { method: "DELETE" });
  await undoLast(app);
  const back = app.app.store.drivers.get(1).exact_version;
  await app.stop();
  const restarted = await startApp(t, { dataDir: app.dataDir });
  const ofWindows = restarted.app.store.drivers.windowsDrivers();
  const windows = await restarted.post(`/drivers/${ofWindows[0]?.id}`, { exact_version: "on" });

  assert.deepEqual([back, restarted.app.store.drivers.get(1).exact_version], [true, true]);
  assert.equal(windows.status, 409);
  for (const driver of restarted.app.store.drivers.windowsDrivers())
    assert.equal(driver.exact_version, false);
});
