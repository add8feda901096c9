import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseClient } from "../../../src/domain/printers/client.ts";
import { openStore } from "../../../src/store/store.ts";
import { temporaryFolder } from "../../support/app.ts";
import { editDatabase, makeOldDatabase, oldDigest, oldReport } from "../../support/database.ts";

const now = () => Date.UTC(2027, 0, 1);
const quiet = () => {};

/** A folder with a sound database and its only archive. */
async function makeSoundFolder(t: TestContext): Promise<{ dataDir: string; path: string; archive: string }> {
  const dataDir = join(await temporaryFolder(t), "data");
  const path = await makeOldDatabase(dataDir);
  const archive = join(dataDir, "drivers", `${oldDigest}.zip`);
  mkdirSync(join(dataDir, "drivers"));
  writeFileSync(archive, "the archive");
  return { dataDir, path, archive };
}

test("a damaged database stops the start with advice, and is not changed", async (t) => {
  const { dataDir, path, archive } = await makeSoundFolder(t);
  const sound = readFileSync(path);
  const damaged = Buffer.from(sound);
  damaged.fill(7, 4200, 9000);
  const cases: [string, Buffer, RegExp][] = [
    ["empty", Buffer.alloc(0), /it is empty/],
    ["one byte", sound.subarray(0, 1), /it is shorter than a header: 1 of 100 bytes/],
    ["half a header", sound.subarray(0, 60), /shorter than a header: 60 of 100 bytes/],
    ["a header alone", sound.subarray(0, 100), /it has 100 of \d+ bytes: a copy of it broke off/],
    ["one page short", sound.subarray(0, sound.length - 4096), /a copy of it broke off/],
    ["one byte short", sound.subarray(0, sound.length - 1), /a copy of it broke off/],
    ["something else", Buffer.alloc(8192, "text "), /it does not start as an SQLite database does/],
    ["damaged inside", damaged, /cannot be read as a database/],
  ];

  for (const [name, bytes, message] of cases) {
    writeFileSync(path, bytes);
    const before = statSync(path).mtimeMs;
    const error = await openStore(dataDir, now, quiet).then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    assert.match(error?.message ?? "", message, name);
    assert.match(error?.message ?? "", /Put a backup in its place, or move it away to start afresh/, name);
    assert.ok(readFileSync(path).equals(bytes), name);
    assert.equal(statSync(path).mtimeMs, before, name);
    assert.ok(existsSync(archive), name);
  }
});

test("an old database with an unreadable row is refused before anything is changed", async (t) => {
  const { dataDir, path, archive } = await makeSoundFolder(t);
  const sound = readFileSync(path);
  const cases: [string, RegExp][] = [
    ["UPDATE printers SET settings = '{'", /the printer 1 cannot be read/],
    ["UPDATE printers SET settings = '[]'", /the printer 1 cannot be read: its JSON is no object/],
    ["UPDATE printers SET settings = 'null'", /the printer 1 cannot be read: its JSON is no object/],
    ["UPDATE drivers SET report = '7'", /the driver 1 cannot be read/],
    ["UPDATE drivers SET report = 'garbage'", /the driver 1 cannot be read/],
    ["UPDATE drivers SET sha256 = '../../platen'", /the driver 1 cannot be read: its digest is no SHA-256/],
    ["INSERT INTO icons VALUES (1, '../secret', 1, 1)", /the icon of printer 1 cannot be read/],
    ["UPDATE printers SET driver_id = 99", /row 1 of printers refers to a row of drivers that is not there/],
    ["DROP TABLE icons", /it lacks the table “icons”/],
    ["PRAGMA user_version = 0", /it is no database of Platen’s/],
  ];

  for (const [statement, message] of cases) {
    writeFileSync(path, sound);
    await editDatabase(path, (db) => db.exec(statement));
    const bytes = readFileSync(path);
    await assert.rejects(openStore(dataDir, now, quiet), message, statement);
    assert.ok(readFileSync(path).equals(bytes), statement);
    assert.ok(existsSync(archive), statement);
  }
});

test("unreadable rows are refused in a current database too", async (t) => {
  const { dataDir, path } = await makeSoundFolder(t);
  await (await openStore(dataDir, now, quiet)).close();
  const sound = readFileSync(path);
  const cases: [string, RegExp][] = [
    ["UPDATE reports SET report = 'garbage'", /the driver 1 cannot be read/],
    ["DELETE FROM reports", /the driver 1 cannot be read/],
    ["UPDATE printers SET print_ticket = 'garbage'", /the printer 1 cannot be read/],
    ["UPDATE drivers SET listed = '[]'", /the driver 1 cannot be read: its JSON is no object/],
  ];

  for (const [statement, message] of cases) {
    writeFileSync(path, sound);
    await editDatabase(path, (db) => db.exec(statement));
    await assert.rejects(openStore(dataDir, now, quiet), message, statement);
  }
});

test("following the advice loses nothing: after a fresh start, the restored database finds every archive", async (t) => {
  const { dataDir, path, archive } = await makeSoundFolder(t);
  await (await openStore(dataDir, now, quiet)).close();
  const backup = readFileSync(path);
  const lines: string[] = [];
  const restart = (minutes: number) =>
    openStore(
      dataDir,
      () => now() + minutes * 60_000,
      (line) => lines.push(line),
    );

  writeFileSync(path, backup.subarray(0, 1));
  await assert.rejects(openStore(dataDir, now, quiet), /start afresh/);
  renameSync(path, `${path}.damaged`);
  const afresh = await restart(1);
  const afterFirst = existsSync(archive);
  await afresh.clients.add(parseClient({ name: "New" }));
  await afresh.close();
  await (await restart(2)).close();
  writeFileSync(path, backup);
  const restored = await restart(3);

  assert.equal(afterFirst, true);
  assert.deepEqual(readFileSync(archive, "utf8"), "the archive");
  assert.equal(restored.drivers.list().length, 1);
  assert.deepEqual(lines, [
    "files without a record that stay in place, because they are newer than the database: 1, of them 1 driver ZIP in drivers/: if a driver is missing now, upload its ZIP again, from there or from the vendor",
    "files without a record moved to lost/, where they are deleted after 30 days: 1",
    "files restored, because records refer to them: 1",
    "warning: the database is older than its audit log, or a different one: all links made until now have ended, and scripts that were downloaded without a package must be downloaded again",
  ]);
  assert.deepEqual(readdirSync(join(dataDir, "lost", "drivers")), []);
  await restored.close();
});

test("a damaged report is refused with the driver's number", async (t) => {
  const dataDir = join(await temporaryFolder(t), "data");
  await makeOldDatabase(dataDir, { reports: [oldReport, oldReport.slice(0, 100)] });

  const opening = openStore(dataDir, now, quiet);

  await assert.rejects(opening, /platen\.sqlite cannot be read as a database \(the driver 2 cannot be read/);
});

test("a database with foreign triggers or views is refused, and not changed", async (t) => {
  const { dataDir, path } = await makeSoundFolder(t);
  const sound = readFileSync(path);
  const statements = [
    "CREATE TRIGGER back AFTER UPDATE ON clients BEGIN UPDATE clients SET notes = 'x'; END",
    "CREATE VIEW everybody AS SELECT * FROM clients",
  ];

  for (const statement of statements) {
    writeFileSync(path, sound);
    await editDatabase(path, (db) => db.run(statement));
    const bytes = readFileSync(path);
    await assert.rejects(
      openStore(dataDir, now, quiet),
      /it holds “(?:back|everybody)”, which Platen never makes/,
    );
    assert.ok(readFileSync(path).equals(bytes), statement);
  }
});
