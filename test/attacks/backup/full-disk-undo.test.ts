import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { client, navigation, startApp, temporaryFolder } from "../../support/app.ts";
import { deepTest } from "../../support/depth.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";
import {
  fill,
  freeBytes,
  smallDisk,
  startOnFullDisk,
  withoutDisk,
} from "../../support/durability/small-disk.ts";
import { serve } from "../../support/service.ts";
import { until } from "../../support/until.ts";

test("on a full disk a deletion is kept if the file does not grow, and can be undone when there is room again", async (t) => {
  const full = await startOnFullDisk(t);
  if (full === undefined) return t.skip(withoutDisk);
  const { post, fetch, app } = full.app;
  const size = () => statSync(join(full.dataDir, "platen.sqlite")).size;
  // The audit log may take a page during a save, so that the reserve is not made again: then its space is free.
  const room = () => statSync(join(full.dataDir, "platen.sqlite.reserve")).size + freeBytes(full.disk);
  const before = size();

  const texts = [await (await fetch("/printers/1/icon", { method: "DELETE" })).text()];
  for (let id = 1; id <= 20; id++)
    texts.push(await (await fetch(`/clients/${id}`, { method: "DELETE" })).text());
  const after = { size: size(), room: room() };
  const kept = app.undo.list().length;
  const newest = app.undo.list()[0];
  const undo = async () => (await post(`/deletions/${newest?.id}/undo`, {})).status;
  const undone = [await undo()];
  full.freeSpace();
  undone.push(await undo());

  assert.ok(kept >= 10, `${kept} of 21 are kept`);
  assert.equal(texts.filter((text) => text.includes("/undo")).length, kept);
  assert.equal(texts.filter((text) => text.includes("You cannot undo this")).length, 21 - kept);
  assert.ok(after.size <= before, `${after.size} after ${before} bytes`);
  assert.ok(after.room >= after.size, `${after.room} bytes for the next save of ${after.size}`);
  assert.deepEqual(undone, [507, 200]);
  assert.equal(app.undo.list().length, kept - 1);
  assert.equal(app.store.clients.get(newest?.recordId ?? 0).name, newest?.name);
});

test("on a nearly full disk the deletion of a driver is final, and its page says so before", async (t) => {
  const full = await startOnFullDisk(t);
  if (full === undefined) return t.skip(withoutDisk);
  const { post, fetch, app } = full.app;
  const archives = () => readdirSync(join(full.dataDir, "drivers")).length;
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
  const disk = smallDisk(t, 64 << 20);
  if (disk === undefined) return t.skip(withoutDisk);
  const { app, post, fetch, addDriver } = await startApp(t, { dataDir: disk });
  await post("/clients", { name: "Northwind" });
  const driver = await addDriver();

  const client = await (await fetch("/clients/1", { method: "DELETE" })).text();
  const deleted = await (await fetch(`/drivers/${driver}`, { method: "DELETE" })).text();

  assert.match(client, /\/undo"/);
  assert.match(deleted, /You cannot undo this/);
  assert.deepEqual(
    app.undo.list().map(({ kind }) => kind),
    ["client"],
  );
});

/** Random characters of three bytes each, which can hardly be compressed. */
function unpackable(length: number): string {
  return Array.from({ length }, () => String.fromCharCode(0x4e00 + randomInt(20_000))).join("");
}

deepTest(
  "a deletion is final when there is no room to save it",
  {
    skip: process.platform === "win32" && "no ulimit here",
  },
  async (t) => {
    const service = await serve(t, await temporaryFolder(t), {}, "ulimit -f 1024");
    const { post, fetch } = client(service.url);
    const ids: number[] = [];
    // The small clients at the end leave no free page, which a deletion could use.
    for (const size of [9000, 500, 1]) {
      for (;;) {
        const id = ids.length + 1;
        const answer = await post("/clients", { name: `Client ${id}`, notes: unpackable(size) });
        if (answer.status !== 200) break;
        ids.push(id);
      }
    }

    const answers: string[] = [];
    for (const id of ids) {
      const answer = await fetch(`/clients/${id}`, { method: "DELETE" });
      answers.push(answer.status === 200 ? await answer.text() : String(answer.status));
    }
    const finals = answers.filter((text) => text.includes("You cannot undo this")).length;
    const kept = answers.filter((text) => text.includes("/undo")).length;

    assert.ok(ids.length > 5);
    assert.equal(
      finals + kept,
      ids.length,
      answers.find((text) => text.length < 4),
    );
    assert.ok(finals > 0);
    assert.equal((await (await fetch("/clients")).text()).includes("Client "), false);
  },
);

test("an undo refused on a full disk succeeds when there is room again", async (t) => {
  const disk = smallDisk(t, 144 << 20);
  if (disk === undefined) return t.skip(withoutDisk);
  const { app, post, fetch, addDriver, upload } = await startApp(t, { dataDir: disk });
  const driver = await addDriver();
  await fetch(`/drivers/${driver}`, { method: "DELETE" });
  const kept = app.undo.list().length;
  const freeSpace = fill(disk);

  const full = [
    await post("/deletions/1/undo", {}),
    await upload("/drivers/upload", driverZip({ version: "3.0" })),
  ];
  freeSpace();
  const later = await post("/deletions/1/undo", {});

  assert.equal(kept, 1);
  assert.deepEqual(
    [...full, later].map(({ status }) => status),
    [507, 507, 200],
  );
  assert.equal((await fetch(`/drivers/${driver}/archive`)).status, 200);
});

test("downloads work on a full disk, the log says so once, and they are counted when there is room again", async (t) => {
  const full = await startOnFullDisk(t);
  if (full === undefined) return t.skip(withoutDisk);
  const { fetch, app, lines } = full.app;

  const statuses: number[] = [];
  for (let i = 0; i < 3; i++) {
    const answer = await fetch("/printers/1/scripts/install");
    await answer.text();
    statuses.push(answer.status);
    await app.deployments.flush();
  }
  const unsaved = app.store.downloads.ofPrinter(1);
  full.freeSpace();
  await until(async () => {
    await app.deployments.flush();
    return app.store.downloads.ofPrinter(1).some(({ count }) => count === 3);
  });
  const saved = app.store.downloads.ofPrinter(1);

  assert.deepEqual(statuses, [200, 200, 200]);
  const warnings = lines.map((line) => line.split(":").slice(0, 2).join(":"));
  // A small file may still fit when the database does not.
  assert.ok(warnings.length > 0 && warnings.length === new Set(warnings).size, warnings.join());
  const expected = ["warning: the audit log cannot be written", "warning: downloads are not counted"];
  assert.ok(
    warnings.every((line) => expected.includes(line)),
    warnings.join(),
  );
  assert.deepEqual([unsaved.length, saved.map(({ count }) => count)], [0, [3]]);
});
