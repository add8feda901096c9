import assert from "node:assert/strict";
import { cpSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseClient } from "../../src/domain/printers/client.ts";
import { navigation, startApp } from "../support/app.ts";
import { openAt } from "../support/backup/backup.ts";
import { remove } from "../support/backup/deletions.ts";
import { statusesOf } from "../support/deploy/answers.ts";
import { deepTest, rounds } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { makeZip } from "../support/drivers/zip.ts";
import { fill, freeBytes, smallDisk, withoutDisk } from "../support/durability/small-disk.ts";
import { makeOnce } from "../support/filled.ts";
import { makePng } from "../support/printers/png.ts";
import { until } from "../support/until.ts";

const clientCount = rounds(16, 40);
/** Large clients, a printer with an icon, and an unused driver. */
async function makeData(t: TestContext, dataDir: string): Promise<void> {
  const { app, addPrinter, addDriver, upload, stop } = await startApp(t, { dataDir });
  const clients = Array.from({ length: clientCount }, (_, i) =>
    app.store.clients.add(parseClient({ name: `Client ${i}`, notes: "n".repeat(9000) })),
  );
  await Promise.all(clients);
  await upload(`/printers/${await addPrinter()}/icon`, makePng(), "icon.png");
  await addDriver(driverZip({ version: "2.0.0.0" }));
  await stop();
}

/** A service with that data on a full disk. */
async function startOnFullDisk(t: TestContext) {
  const disk = smallDisk(t, 8 << 20);
  if (disk === undefined) return t.skip(withoutDisk);
  const dataDir = join(disk, "data");
  cpSync((await makeOnce(t, makeData)).folder, dataDir, { recursive: true });
  const service = await startApp(t, { dataDir });
  const sizeOf = (name: string) => statSync(join(dataDir, name)).size;
  const freeSpace = fill(disk);
  return { ...service, sizeOf, free: () => freeBytes(disk), freeSpace, store: service.app.store };
}

deepTest(
  "on a full disk a deletion is kept if the file does not grow, and can be undone when there is room again",
  async (t) => {
    const full = await startOnFullDisk(t);
    if (full === undefined) return;
    const { post, sizeOf, app } = full;
    // The audit log may take a page during a save, so that the reserve is not made again: then its space is free.
    const room = () => sizeOf("platen.sqlite.reserve") + full.free();
    const before = sizeOf("platen.sqlite");
    const paths = Array.from({ length: clientCount / 2 }, (_, i) => `/clients/${i + 1}`);

    const texts: string[] = [];
    for (const path of ["/printers/1/icon", ...paths]) texts.push(await (await remove(full, path)).text());
    const after = { size: sizeOf("platen.sqlite"), room: room() };
    const kept = app.undo.list().length;
    const newest = app.undo.list()[0];
    const undo = () => post(`/deletions/${newest?.id}/undo`, {});
    const refused = await undo();
    full.freeSpace();
    const undone = await undo();
    const reserve = sizeOf("platen.sqlite.reserve");

    assert.ok(kept >= clientCount / 4, `${kept} of ${texts.length} are kept`);
    assert.equal(texts.filter((text) => text.includes("/undo")).length, kept);
    assert.equal(texts.filter((text) => text.includes("You cannot undo this")).length, texts.length - kept);
    assert.ok(after.size <= before, `${after.size} after ${before} bytes`);
    assert.ok(after.room >= after.size, `${after.room} bytes for the next save of ${after.size}`);
    assert.deepEqual(statusesOf([refused, undone]), [507, 200]);
    assert.ok(reserve >= sizeOf("platen.sqlite"), `${reserve} bytes are reserved again`);
    assert.equal(app.undo.list().length, kept - 1);
    assert.equal(full.store.clients.get(newest?.recordId ?? 0).name, newest?.name);
  },
);

test("with little room only the deletion of a driver is final, and its page says so before", async (t) => {
  const disk = smallDisk(t, 64 << 20);
  if (disk === undefined) return t.skip(withoutDisk);
  const service = await startApp(t, { dataDir: join(disk, "data") });
  const { post, fetch, app, dataDir } = service;
  await post("/clients", { name: "Northwind" });
  await service.addDriver();

  const page = await (await fetch("/drivers/1")).text();
  const text = await (await remove(service, "/clients/1")).text();
  const sent = (await post("/drivers/1/delete", {}, navigation)).headers.get("location") ?? "";
  const list = await (await fetch(sent)).text();

  assert.match(page, /deleted too, permanently, because less than 128 MB of disk space is free/);
  assert.match(text, /\/undo"/);
  assert.match(sent, /^\/drivers\?deleted=[\w-]{12}$/);
  assert.match(list, /Platen had no space to keep it\. You cannot undo this\./);
  const kept = app.undo.list().map(({ kind }) => kind);
  assert.deepEqual([kept, readdirSync(join(dataDir, "drivers"))], [["client"], []]);
});

test("a ZIP in a ZIP that does not fit on the disk is refused with 507, and nothing is left", async (t) => {
  const disk = smallDisk(t, 8 << 20);
  if (disk === undefined) return t.skip(withoutDisk);
  const { upload, dataDir } = await startApp(t, { dataDir: join(disk, "data") });
  const inner = driverZip({ extra: [{ name: "large", bytes: Buffer.alloc(12 << 20), method: 0 }] });

  const answer = await upload("/drivers/upload", makeZip([{ name: "inner.zip", bytes: inner }]));

  assert.equal(answer.status, 507, await answer.text());
  assert.deepEqual(readdirSync(join(dataDir, "incoming")), []);
});

test("downloads work on a full disk, the log says so once, and they are counted when there is room again", async (t) => {
  const full = await startOnFullDisk(t);
  if (full === undefined) return;
  const { fetch, app, lines } = full;
  const counts = () => full.store.downloads.ofPrinter(1).map(({ count }) => count);

  const statuses: number[] = [];
  for (let i = 0; i < 3; i++) {
    const answer = await fetch("/printers/1/scripts/install");
    await answer.text();
    statuses.push(answer.status);
    await app.deployments.flush();
  }
  const unsaved = counts();
  full.freeSpace();
  await until(async () => {
    await app.deployments.flush();
    return counts().includes(3);
  });

  assert.deepEqual(statuses, [200, 200, 200]);
  // A small file may still fit when the database does not.
  const known = /^warning: (the audit log cannot be written|downloads are not counted):/;
  const warnings = lines.map((line) => known.exec(line)?.[1]);
  assert.ok(lines.length > 0 && !warnings.includes(undefined), lines.join());
  assert.equal(new Set(warnings).size, lines.length, "each once");
  assert.deepEqual([unsaved, counts()], [[], [3]]);
});

test("on a full disk additions are refused, and everything can be deleted, also at the same time", async (t) => {
  const full = await startOnFullDisk(t);
  if (full === undefined) return;
  const { app, store } = full;

  const refused = [
    await full.post("/clients", { name: "One more" }),
    await full.upload("/drivers/upload", driverZip({ version: "3.0.0.0" })),
  ];
  const free = full.free();
  const together = await Promise.allSettled([
    store.clients.add(parseClient({ name: "One more" })),
    store.clients.remove(1),
    store.clients.add(parseClient({ name: "And another" })),
    store.clients.remove(2),
  ]);
  const others = Array.from({ length: clientCount - 2 }, (_, i) => remove(full, `/clients/${i + 3}`));
  const deleted = await Promise.all(others);
  for (const path of ["/printers/1/icon", "/printers/1", "/drivers/1", "/drivers/2"])
    deleted.push(await remove(full, path));
  for (const { id } of app.undo.list()) deleted.push(await remove(full, `/deletions/${id}`));

  assert.deepEqual([...statusesOf(refused), free], [507, 507, 0]);
  const ends = together.map(({ status }) => status);
  assert.deepEqual(ends, ["rejected", "fulfilled", "rejected", "fulfilled"]);
  assert.deepEqual(new Set(statusesOf(deleted)), new Set([200]));
  assert.deepEqual([store.clients.count(), store.drivers.list().length], [0, 0]);
  for (const folder of ["drivers", "icons", "incoming"])
    assert.deepEqual(readdirSync(join(full.dataDir, folder)), []);
});

test("a service starts on a full disk, and deletions there last", async (t) => {
  const disk = smallDisk(t, 4 << 20);
  if (disk === undefined) return t.skip(withoutDisk);
  const dataDir = join(disk, "data");
  const first = await openAt(dataDir);
  for (const name of ["Kept", "Deleted"]) await first.clients.add(parseClient({ name }));
  await first.close();
  fill(disk);

  const second = await openAt(dataDir);
  await second.clients.remove(2);
  await second.close();
  const third = await openAt(dataDir);
  const names = third.clients.list().map(({ name }) => name);
  await third.close();

  assert.deepEqual(names, ["Kept"]);
});
