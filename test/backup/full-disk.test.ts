import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseClient } from "../../src/domain/printers/client.ts";
import { client, navigation, startApp, temporaryFolder } from "../support/app.ts";
import { openAt } from "../support/backup/backup.ts";
import { remove, statusesOf } from "../support/backup/deletions.ts";
import { deepTest, rounds } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { fill, freeBytes, smallDisk, withoutDisk } from "../support/durability/small-disk.ts";
import { makePng } from "../support/printers/png.ts";
import { serve } from "../support/service.ts";
import { until } from "../support/until.ts";

const clientCount = rounds(16, 40);
const largeClient = (i: number) => parseClient({ name: `Client ${i}`, notes: "n".repeat(9000) });

/** A service with data on a small disk. */
async function startOn(t: TestContext, megabytes: number) {
  const disk = smallDisk(t, megabytes << 20);
  if (disk === undefined) return t.skip(withoutDisk);
  const service = await startApp(t, { dataDir: join(disk, "data") });
  const sizeOf = (name: string) => statSync(join(service.dataDir, name)).size;
  return { ...service, disk, sizeOf, free: () => freeBytes(disk), store: service.app.store };
}

/** A service on a full disk, with large clients, a printer with an icon, and an unused driver. */
async function startOnFullDisk(t: TestContext) {
  const service = await startOn(t, 8);
  if (service === undefined) return undefined;
  for (let i = 0; i < clientCount; i++) await service.store.clients.add(largeClient(i));
  const printer = await service.addPrinter();
  await service.upload(`/printers/${printer}/icon`, makePng(), "icon.png");
  await service.addDriver(driverZip({ version: "2.0.0.0" }));
  return { ...service, freeSpace: fill(service.disk) };
}

test("on a full disk a deletion is kept if the file does not grow, and can be undone when there is room again", async (t) => {
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

  assert.ok(kept >= clientCount / 4, `${kept} of ${texts.length} are kept`);
  assert.equal(texts.filter((text) => text.includes("/undo")).length, kept);
  assert.equal(texts.filter((text) => text.includes("You cannot undo this")).length, texts.length - kept);
  assert.ok(after.size <= before, `${after.size} after ${before} bytes`);
  assert.ok(after.room >= after.size, `${after.room} bytes for the next save of ${after.size}`);
  assert.deepEqual(statusesOf([refused, undone]), [507, 200]);
  assert.equal(app.undo.list().length, kept - 1);
  assert.equal(full.store.clients.get(newest?.recordId ?? 0).name, newest?.name);
});

test("on a nearly full disk the deletion of a driver is final, and its page says so before", async (t) => {
  const full = await startOnFullDisk(t);
  if (full === undefined) return;
  const { post, fetch, app, dataDir } = full;
  const archives = () => readdirSync(join(dataDir, "drivers")).length;
  const before = archives();

  const page = await (await fetch("/drivers/2")).text();
  const sent = (await post("/drivers/2/delete", {}, navigation)).headers.get("location") ?? "";
  const list = await (await fetch(sent)).text();
  full.freeSpace();

  assert.match(page, /deleted too, permanently, because less than 128 MB of disk space is free/);
  assert.match(sent, /^\/drivers\?deleted=[\w-]{12}$/);
  assert.match(list, /Platen had no space to keep it\. You cannot undo this\./);
  assert.deepEqual([app.undo.list(), archives()], [[], before - 1]);
});

test("with little room only the deletion of a driver is final", async (t) => {
  const service = await startOn(t, 64);
  if (service === undefined) return;
  await service.post("/clients", { name: "Northwind" });
  await service.addDriver();

  const texts = await Promise.all(
    ["/clients/1", "/drivers/1"].map(async (path) => (await remove(service, path)).text()),
  );

  assert.match(texts[0] ?? "", /\/undo"/);
  assert.match(texts[1] ?? "", /You cannot undo this/);
  const kept = service.app.undo.list().map(({ kind }) => kind);
  assert.deepEqual(kept, ["client"]);
});

/** Random characters of three bytes each, which can hardly be compressed. */
function unpackable(length: number): string {
  return Array.from({ length }, () => String.fromCharCode(0x4e00 + randomInt(20_000))).join("");
}

const skip = process.platform === "win32" && "no ulimit here";

deepTest("a deletion is final when there is no room to save it", { skip }, async (t) => {
  const service = await serve(t, await temporaryFolder(t), {}, "ulimit -f 1024");
  const site = client(service.url);
  const ids: number[] = [];
  // The small clients at the end leave no free page, which a deletion could use.
  for (const size of [9000, 500, 1]) {
    for (;;) {
      const id = ids.length + 1;
      const answer = await site.post("/clients", { name: `Client ${id}`, notes: unpackable(size) });
      if (answer.status !== 200) break;
      ids.push(id);
    }
  }

  const answers: string[] = [];
  for (const id of ids) {
    const answer = await remove(site, `/clients/${id}`);
    answers.push(answer.status === 200 ? await answer.text() : String(answer.status));
  }
  const finals = answers.filter((text) => text.includes("You cannot undo this")).length;
  const kept = answers.filter((text) => text.includes("/undo")).length;

  assert.ok(ids.length > 5);
  const odd = answers.find((text) => text.length < 4);
  assert.equal(finals + kept, ids.length, odd);
  assert.ok(finals > 0);
  assert.equal((await (await site.fetch("/clients")).text()).includes("Client "), false);
});

test("an undo refused on a full disk succeeds when there is room again", async (t) => {
  const service = await startOn(t, 144);
  if (service === undefined) return;
  const { app, post, fetch } = service;
  await remove(service, `/drivers/${await service.addDriver()}`);
  const kept = app.undo.list().length;
  const freeSpace = fill(service.disk);

  const undone = await post("/deletions/1/undo", {});
  const added = await service.upload("/drivers/upload", driverZip({ version: "3.0" }));
  freeSpace();
  const later = await post("/deletions/1/undo", {});

  assert.equal(kept, 1);
  assert.deepEqual(statusesOf([undone, added, later]), [507, 507, 200]);
  assert.equal((await fetch("/drivers/1/archive")).status, 200);
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
  const warnings = lines.map((line) => line.split(":").slice(0, 2).join(":"));
  // A small file may still fit when the database does not.
  assert.ok(warnings.length > 0 && warnings.length === new Set(warnings).size, warnings.join());
  const expected = ["warning: the audit log cannot be written", "warning: downloads are not counted"];
  assert.deepEqual(
    warnings.filter((line) => !expected.includes(line)),
    [],
  );
  assert.deepEqual([unsaved, counts()], [[], [3]]);
});

deepTest("on a full disk additions are refused, and everything can be deleted", async (t) => {
  const full = await startOnFullDisk(t);
  if (full === undefined) return;
  const { app, store } = full;

  const refused = [
    await full.post("/clients", { name: "One more" }),
    await full.upload("/drivers/upload", driverZip({ version: "3.0.0.0" })),
  ];
  const free = full.free();
  const clients = Array.from({ length: clientCount }, (_, i) => `/clients/${i + 1}`);
  const deleted: Response[] = [];
  for (const path of [...clients, "/printers/1/icon", "/printers/1", "/drivers/1", "/drivers/2"])
    deleted.push(await remove(full, path));
  for (const { id } of app.undo.list()) deleted.push(await remove(full, `/deletions/${id}`));

  assert.deepEqual(statusesOf(refused), [507, 507]);
  assert.equal(free, 0);
  assert.deepEqual(new Set(statusesOf(deleted)), new Set([200]));
  assert.deepEqual([store.clients.count(), store.drivers.list().length], [0, 0]);
  for (const folder of ["drivers", "icons", "incoming"])
    assert.deepEqual(readdirSync(join(full.dataDir, folder)), []);
});

test("on a full disk concurrent deletions succeed and additions are refused", async (t) => {
  const { store } = (await startOnFullDisk(t)) ?? {};
  if (store === undefined) return;

  const results = await Promise.allSettled([
    store.clients.add(parseClient({ name: "One more" })),
    store.clients.remove(7),
    store.clients.add(parseClient({ name: "And another" })),
    store.clients.remove(8),
  ]);

  const ends = results.map(({ status }) => status);
  assert.deepEqual(ends, ["rejected", "fulfilled", "rejected", "fulfilled"]);
  assert.equal(store.clients.count(), clientCount - 2);
});

deepTest("the reserve is made again when there is space, and is as large as the database", async (t) => {
  const full = await startOnFullDisk(t);
  if (full === undefined) return;
  const { store, sizeOf } = full;
  await store.clients.remove(1);
  const afterDelete = sizeOf("platen.sqlite.reserve") + full.free();

  full.freeSpace();
  for (let i = 100; i < 140; i++) await store.clients.add(largeClient(i));
  const sizes = [sizeOf("platen.sqlite.reserve"), sizeOf("platen.sqlite")] as const;
  fill(full.disk);
  await store.clients.remove(2);

  assert.ok(afterDelete >= sizeOf("platen.sqlite") / 2);
  assert.ok(sizes[0] >= sizes[1], `${sizes}`);
  assert.equal(store.clients.count(), clientCount + 38);
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
