import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseClient } from "../../../src/domain/printers/client.ts";
import { openStore } from "../../../src/store/store.ts";
import { deepTest } from "../../support/depth.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";
import {
  fill,
  freeBytes,
  smallDisk,
  startOnFullDisk,
  withoutDisk,
} from "../../support/durability/small-disk.ts";

deepTest("on a full disk additions are refused, and everything can be deleted", async (t) => {
  const full = await startOnFullDisk(t);
  if (full === undefined) return t.skip(withoutDisk);
  const { post, fetch, upload, app } = full.app;
  const remove = (path: string) => fetch(path, { method: "DELETE" });

  const refused = [
    await post("/clients", { name: "One more" }),
    await upload("/drivers/upload", driverZip({ version: "3.0.0.0" })),
  ];
  const free = freeBytes(full.disk);
  const deleted: number[] = [];
  for (let id = 1; id <= 40; id++) deleted.push((await remove(`/clients/${id}`)).status);
  for (const path of ["/printers/1/icon", "/printers/1", "/drivers/1", "/drivers/2"])
    deleted.push((await remove(path)).status);
  for (const { id } of app.undo.list()) deleted.push((await remove(`/deletions/${id}`)).status);

  assert.deepEqual(
    refused.map(({ status }) => status),
    [507, 507],
  );
  assert.equal(free, 0);
  assert.deepEqual(new Set(deleted), new Set([200]));
  assert.deepEqual([app.store.clients.count(), app.store.drivers.list().length], [0, 0]);
  for (const folder of ["drivers", "icons", "incoming"])
    assert.deepEqual(readdirSync(join(full.dataDir, folder)), []);
});

test("on a full disk concurrent deletions succeed and additions are refused", async (t) => {
  const full = await startOnFullDisk(t);
  if (full === undefined) return t.skip(withoutDisk);
  const { store } = full.app.app;

  const results = await Promise.allSettled([
    store.clients.add(parseClient({ name: "One more" })),
    store.clients.remove(7),
    store.clients.add(parseClient({ name: "And another" })),
    store.clients.remove(8),
  ]);

  assert.deepEqual(
    results.map(({ status }) => status),
    ["rejected", "fulfilled", "rejected", "fulfilled"],
  );
  assert.equal(store.clients.count(), 38);
});

deepTest("the reserve is made again when there is space, and is as large as the database", async (t) => {
  const full = await startOnFullDisk(t);
  if (full === undefined) return t.skip(withoutDisk);
  const { store } = full.app.app;
  const sizeOf = (name: string) => statSync(join(full.dataDir, name)).size;
  await store.clients.remove(1);
  const afterDelete = sizeOf("platen.sqlite.reserve") + freeBytes(full.disk);

  full.freeSpace();
  for (let i = 100; i < 140; i++)
    await store.clients.add(parseClient({ name: `Client ${i}`, notes: "n".repeat(9000) }));
  const sizes = [sizeOf("platen.sqlite.reserve"), sizeOf("platen.sqlite")] as const;
  fill(full.disk);
  await store.clients.remove(2);

  assert.ok(afterDelete >= sizeOf("platen.sqlite") / 2);
  assert.ok(sizes[0] >= sizes[1], `${sizes}`);
  assert.equal(store.clients.count(), 78);
});

test("a service starts on a full disk, and deletions there last", async (t) => {
  const disk = smallDisk(t, 4 << 20);
  if (disk === undefined) return t.skip(withoutDisk);
  const dataDir = join(disk, "data");
  const quiet = () => {};
  const first = await openStore(dataDir, Date.now, quiet);
  for (const name of ["Kept", "Deleted"]) await first.clients.add(parseClient({ name }));
  await first.close();
  fill(disk);

  const second = await openStore(dataDir, Date.now, quiet);
  await second.clients.remove(2);
  await second.close();
  const third = await openStore(dataDir, Date.now, quiet);
  const names = third.clients.list().map(({ name }) => name);
  await third.close();

  assert.deepEqual(names, ["Kept"]);
});
