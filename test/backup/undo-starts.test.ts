import assert from "node:assert/strict";
import { mkdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Undo } from "../../src/services/backup/undo.ts";
import { migrations } from "../../src/store/database/migrations.ts";
import { deletedTables } from "../../src/store/deletions.ts";
import type { Store } from "../../src/store/store.ts";
import { startApp, temporaryFolder } from "../support/app.ts";
import { filesIn, undoLast } from "../support/backup/deletions.ts";
import { editDatabase } from "../support/database.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

const minute = 60_000;

test("a start keeps deletions with time left and their files, and makes the others final", async (t) => {
  const dataDir = await temporaryFolder(t);
  let now = 1_800_000_000_000;
  const clock = () => now;
  const first = await startApp(t, { dataDir, clock });
  const [old, young] = [await first.addDriver(), await first.addDriver(driverZip({ version: "2.0" }))];
  await first.fetch(`/drivers/${old}`, { method: "DELETE" });
  now += 9 * minute;
  await first.fetch(`/drivers/${young}`, { method: "DELETE" });
  now += 2 * minute;
  await first.stop();

  const second = await startApp(t, { dataDir, clock });
  const kept = second.app.undo.list();
  const files = filesIn(dataDir);
  await undoLast(second);
  const found = await second.fetch(`/drivers/${young}/archive`);

  assert.deepEqual(
    kept.map(({ id, leftMs }) => [id, Math.round(leftMs / minute)]),
    [[2, 8]],
  );
  assert.equal(files.length, 1);
  assert.equal(found.status, 200);
  assert.deepEqual(second.lines, []);
});

test("a file that cannot be deleted is deleted by a later start", async (t) => {
  const dataDir = await temporaryFolder(t);
  const first = await startApp(t, { dataDir });
  await first.fetch(`/drivers/${await first.addDriver()}`, { method: "DELETE" });
  const path = join(dataDir, filesIn(dataDir)[0] ?? "");
  rmSync(path);
  mkdirSync(path);

  await first.app.undo.makeFinal(1);
  await first.stop();
  rmdirSync(path);
  writeFileSync(path, "as it was");
  const second = await startApp(t, { dataDir });

  assert.match(first.lines.join(), /^warning: files of deleted records are still there: [^,]*$/);
  assert.deepEqual([filesIn(dataDir), second.app.store.deletions.listFinal(), second.lines], [[], [], []]);
});

test("a deletion that an earlier version kept as JSON becomes final, and its file is deleted", async (t) => {
  const dataDir = await temporaryFolder(t);
  const first = await startApp(t, { dataDir });
  await first.fetch(`/drivers/${await first.addDriver()}`, { method: "DELETE" });
  const before = filesIn(dataDir).length;
  await first.stop();
  await editDatabase(join(dataDir, "platen.sqlite"), (db) => {
    for (const table of deletedTables) db.run(`DROP TABLE deleted_${table}`);
    db.run(`UPDATE deletions SET content = '{"tables":{},"references":{"clients":[],"drivers":[]}}'`);
    db.run("DROP TABLE preferences");
    for (const column of ["tenant_id", "app_name", "app_owner", "app_notes", "icon_sha256", "icon_size"])
      db.run(`ALTER TABLE clients DROP COLUMN ${column}`);
    for (const column of ["former_title", "exact_version"])
      db.run(`ALTER TABLE drivers DROP COLUMN ${column}`);
    db.run(`PRAGMA user_version = ${migrations.findIndex((sql) => String(sql).includes("deleted_clients"))}`);
  });

  const second = await startApp(t, { dataDir });

  assert.deepEqual([before, second.app.undo.list(), filesIn(dataDir)], [1, [], []]);
});

test("changes shortly after one another become final in one write", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 0;
  let kept = [0, 50].map((deleted_at, i) => ({ id: i + 1, deleted_at }));
  const writes: (readonly number[])[] = [];
  const makeFinal = async (ids: readonly number[]) => {
    writes.push(ids);
    kept = kept.filter(({ id }) => !ids.includes(id));
    return { count: ids.length, finalDeletions: [] };
  };
  const store = { deletions: { list: () => kept, makeFinal } } as unknown as Store;
  const undo = new Undo({ store, clock: () => now, undoMs: 1000 } as ConstructorParameters<typeof Undo>[0]);

  await undo.keep(Promise.resolve());
  for (const step of [1000, 100]) {
    now += step;
    t.mock.timers.tick(step);
    await setImmediate();
  }

  assert.deepEqual(writes, [[1, 2]]);
});
