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
import { parseClient } from "../../src/domain/printers/client.ts";
import { Connection } from "../../src/store/database/connection.ts";
import { migrations, schemaVersion } from "../../src/store/database/migrations.ts";
import { pagesOf } from "../../src/store/database/seal.ts";
import { temporaryFolder } from "../support/app.ts";
import { openAt } from "../support/backup/backup.ts";
import { makeTarget, part, withManifest } from "../support/backup/hostile-backups.ts";
import { editDatabase, makeOldDatabase, oldDigest, oldReport, readDatabase } from "../support/database.ts";
import { isDeep, rounds, selectCases } from "../support/depth.ts";

const start = Date.UTC(2027, 0, 1);

interface Folder {
  readonly dataDir: string;
  readonly path: string;
  readonly archive: string;
  readonly sound: Buffer;
}

/** A folder with a sound database and its only archive. */
async function makeFolder(t: TestContext, schema: "old" | "current"): Promise<Folder> {
  const dataDir = join(await temporaryFolder(t), "data");
  const path = await makeOldDatabase(dataDir, { reports: [oldReport, oldReport] });
  const archive = join(dataDir, "drivers", `${oldDigest}.zip`);
  mkdirSync(join(dataDir, "drivers"));
  writeFileSync(archive, "the archive");
  if (schema === "current") await (await openAt(dataDir, start)).close();
  return { dataDir, path, archive, sound: readFileSync(path) };
}

/** Statements, or a function of the sound file. */
type Change = string | ((sound: Buffer) => Uint8Array);
type Cases = readonly (readonly [Change, RegExp])[];

/** Changes the sound database, and checks that it stops the start, which changes nothing. */
async function checkRefused(folder: Folder, [change, message]: Cases[number]): Promise<void> {
  const { dataDir, path, archive, sound } = folder;
  writeFileSync(path, typeof change === "string" ? sound : change(sound));
  if (typeof change === "string") await editDatabase(path, (db) => db.exec(change));
  const [bytes, { mtimeMs }] = [readFileSync(path), statSync(path)];
  await assert.rejects(openAt(dataDir, start), message, String(change));
  assert.ok(!bytes.equals(sound) && readFileSync(path).equals(bytes), String(change));
  assert.equal(statSync(path).mtimeMs, mtimeMs, String(change));
  assert.ok(existsSync(archive), String(change));
}

/** An error with this reason, and all advice. */
const withAdvice = (reason: string) =>
  new RegExp(
    `cannot be read as a database \\(.*${reason}.*\\)\\. Nothing was changed\\..*--recover.*platen restore FILE\\.tar.*Put a backup in its place, or move it away to start afresh`,
    "s",
  );
const brokeOff = /a copy of it broke off/;

const damagedFiles: Cases = [
  [() => Buffer.alloc(0), withAdvice("it is empty")],
  [(sound) => sound.subarray(0, 1), withAdvice("it is shorter than a header: 1 of 100 bytes")],
  [(sound) => sound.subarray(0, 60), /shorter than a header: 60 of 100 bytes/],
  [(sound) => sound.subarray(0, 100), /it has 100 of \d+ bytes: a copy of it broke off/],
  [(sound) => sound.subarray(0, sound.length - 4096), brokeOff],
  [(sound) => sound.subarray(0, sound.length - 1), withAdvice("a copy of it broke off")],
  [() => Buffer.alloc(8192, "text "), withAdvice("it does not start as an SQLite database does")],
  [() => Buffer.from("this is no database at all"), /cannot be read as a database/],
  [(sound) => Buffer.from(sound).fill(7, 4200, 9000), withAdvice("")],
  [(sound) => Buffer.from(sound).fill(7, 100, 5000), withAdvice("")],
];

const notTheSeal = /its SHA-256 is not the one that it was saved with/;
const replaced = (sound: Buffer, from: string, to: string) =>
  Buffer.from(sound.toString("latin1").replace(from, to), "latin1");
const brokenSeals: Cases = [
  [(sound) => replaced(sound, "Contoso", "Contosso"), /./],
  [(sound) => replaced(sound, "Contoso", "Kontoso"), notTheSeal],
  [(sound) => flipped(sound, 27), notTheSeal],
  ...[1, 50, 4096].map((lost) => [(sound: Buffer) => sound.subarray(0, -lost), brokeOff] as const),
];

function flipped(sound: Buffer, at: number): Buffer {
  const damaged = Buffer.from(sound);
  damaged.writeUInt8(sound.readUInt8(at) ^ (1 << (at % 8)), at);
  return damaged;
}

const noObject = /the printer 1 cannot be read: its JSON is no object/;
const unreadableOldRows: Cases = [
  ["UPDATE printers SET settings = '{'", /the printer 1 cannot be read/],
  ["UPDATE printers SET settings = '[]'", noObject],
  ["UPDATE printers SET settings = 'null'", noObject],
  ["UPDATE drivers SET report = '7' WHERE id = 1", /the driver 1 cannot be read/],
  ["UPDATE drivers SET report = 'garbage' WHERE id = 1", /the driver 1 cannot be read/],
  [
    "UPDATE drivers SET report = substr(report, 1, 100) WHERE id = 2",
    withAdvice("the driver 2 cannot be read"),
  ],
  [
    "UPDATE drivers SET sha256 = '../../platen' WHERE id = 1",
    /the driver 1 cannot be read: its digest is no SHA-256/,
  ],
  ["INSERT INTO icons VALUES (1, '../secret', 1, 1)", /the icon of printer 1 cannot be read/],
  ["UPDATE printers SET driver_id = 99", /row 1 of printers refers to a row of drivers that is not there/],
  ["DROP TABLE icons", /it lacks the table “icons”/],
  ["PRAGMA user_version = 0", /it is no database of Platen’s/],
  [
    "CREATE TRIGGER back AFTER UPDATE ON clients BEGIN UPDATE clients SET notes = 'x'; END",
    /it holds “back”, which Platen never makes/,
  ],
  ["CREATE VIEW everybody AS SELECT * FROM clients", /it holds “everybody”, which Platen never makes/],
];

const unreadableRows: Cases = [
  ["UPDATE reports SET report = 'garbage' WHERE driver_id = 1", /the driver 1 cannot be read/],
  ["DELETE FROM reports", /the driver 1 cannot be read/],
  ["UPDATE printers SET print_ticket = 'garbage'", /the printer 1 cannot be read/],
  ["UPDATE drivers SET listed = '[]' WHERE id = 1", /the driver 1 cannot be read: its JSON is no object/],
  [
    `PRAGMA user_version = ${schemaVersion + 1}`,
    new RegExp(
      `written by a newer Platen \\(schema ${schemaVersion + 1}, this one knows ${schemaVersion}\\).*go back`,
    ),
  ],
  ["PRAGMA user_version = 99", /was written by a newer Platen \(schema 99/],
];

/** Changes the definition of a table or an index with SQLite's `writable_schema`. */
const redefine = (name: string, from: string, to: string, kind = "table") =>
  [
    `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '${from}', '${to.replaceAll("'", "''")}') WHERE name = '${name}'`,
    new RegExp(`its ${kind} “${name}” is not as Platen makes it`),
  ] as const;
const role = "role TEXT NOT NULL";

const alteredSchemas: Cases = [
  ["CREATE TABLE spare (id INTEGER)", /it holds “spare”, which Platen never makes/],
  ["CREATE INDEX spare ON clients (lower(notes))", /it holds “spare”/],
  ["DROP INDEX printers_by_client", /it lacks the index “printers_by_client”/],
  ["DROP TABLE icons", /it lacks the (?:index|table) “icons/],
  ["ALTER TABLE accounts ADD COLUMN x TEXT GENERATED ALWAYS AS (name)", /its table “accounts” is not as/],
  ["ALTER TABLE clients RENAME COLUMN notes TO remarks", /its table “clients” is not/],
  redefine("accounts", role, `${role} DEFAULT 'admin'`),
  redefine("accounts", role, `${role} CHECK (name <> 'x')`),
  redefine("accounts", "name_key TEXT", "name_key TEXT COLLATE NOCASE"),
  redefine("tokens", "STRICT", ""),
  redefine("sessions", "ON DELETE CASCADE", ""),
  redefine("printers_by_client", "(client_id)", "(client_id) WHERE client_id > 1", "index"),
  [
    `PRAGMA writable_schema = ON; INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES ('table', 'hidden', 'clients', 0,
      'CREATE TRIGGER hidden AFTER INSERT ON clients BEGIN UPDATE clients SET notes = ''x''; END')`,
    /it holds “hidden”|malformed/,
  ],
];

const groups: readonly (readonly [string, "old" | "current", Cases])[] = [
  ["a damaged database stops the start with advice, and is not changed", "old", damagedFiles],
  ["a file that is not the one that was saved stops the start", "current", brokenSeals],
  ["an old database with an unreadable row is refused before anything is changed", "old", unreadableOldRows],
  ["unreadable rows and later versions are refused in a current database too", "current", unreadableRows],
  ["changed tables and indexes are refused at a start, and not changed", "current", alteredSchemas],
];
for (const [rule, schema, cases] of groups) {
  test(rule, async (t) => {
    const folder = await makeFolder(t, schema);

    for (const one of cases) await checkRefused(folder, one);
  });
}

test("one flipped bit anywhere stops the start, which changes nothing and says how to recover", async (t) => {
  const folder = await makeFolder(t, "current");
  const distance = Math.floor(folder.sound.length / rounds(12, 400));

  for (let at = 20; at < pagesOf(folder.sound).length; at += distance)
    await checkRefused(folder, [(sound) => flipped(sound, at), withAdvice("")]);
});

test("a backup with a changed schema is refused before anything is replaced", async (t) => {
  const { attack } = await makeTarget(t);
  const { path, sound } = await makeFolder(t, "current");

  for (const [statement, message] of selectCases(alteredSchemas, 2)) {
    writeFileSync(path, sound);
    await editDatabase(path, (db) => db.exec(String(statement)));
    const refusal = await attack(withManifest([part("platen.sqlite", readFileSync(path))]));
    assert.match(refusal, /its database is damaged/, String(statement));
    assert.match(refusal, message, String(statement));
  }
});

/** Gives a folder an empty database with the schema of a version. */
async function makeEmpty(path: string, version: number): Promise<void> {
  await editDatabase(path, (db) => {
    const connection = new Connection(db);
    for (const migration of migrations.slice(0, version))
      typeof migration === "string" ? connection.run(migration) : migration(connection);
    connection.run(`PRAGMA user_version = ${version}`);
  });
}

test("a database with a wrong version number is refused", async (t) => {
  const folder = await makeFolder(t, "old");
  await makeEmpty(`${folder.path}.8`, 8);
  const message = /it is no database of Platen’s|it holds “|it lacks the|is not as Platen makes it/;

  for (const version of [-1, 0, 1, 7, 9, migrations.length])
    await checkRefused({ ...folder, sound: readFileSync(`${folder.path}.8`) }, [
      `PRAGMA user_version = ${version}`,
      message,
    ]);
});

test("an empty database of any version opens", async (t) => {
  const versions = migrations.map((_, i) => i + 1);

  // The data folders of all other versions are opened too.
  for (const version of isDeep ? versions : [2, 4, 6]) {
    const dataDir = await temporaryFolder(t);
    await makeEmpty(join(dataDir, "platen.sqlite"), version);
    for (let i = 0; i < 2; i++) await (await openAt(dataDir, start)).close();
    const found = await readDatabase(join(dataDir, "platen.sqlite"), (db) => db.exec("PRAGMA user_version"));
    assert.equal(found[0]?.values[0]?.[0], schemaVersion);
  }
});

test("following the advice loses nothing: after a fresh start, the restored database finds every archive", async (t) => {
  const { dataDir, path, archive, sound } = await makeFolder(t, "current");
  const lines: string[] = [];
  const restart = (minutes: number) => openAt(dataDir, start + minutes * 60_000, lines);

  writeFileSync(path, sound.subarray(0, 1));
  await assert.rejects(openAt(dataDir, start), /start afresh/);
  renameSync(path, `${path}.damaged`);
  const afresh = await restart(1);
  const afterFirst = existsSync(archive);
  await afresh.clients.add(parseClient({ name: "New" }));
  await afresh.close();
  await (await restart(2)).close();
  writeFileSync(path, sound);
  const restored = await restart(3);

  assert.equal(afterFirst, true);
  assert.equal(readFileSync(archive, "utf8"), "the archive");
  assert.equal(restored.drivers.list().length, 2);
  assert.deepEqual(lines, [
    "files without a record that stay in place, because they are newer than the database: 1, of them 1 driver ZIP in drivers/: if a driver is missing now, upload its ZIP again, from there or from the vendor",
    "files without a record moved to lost/, where they are deleted after 30 days: 1",
    "files restored, because records refer to them: 1",
    "warning: the database is older than its audit log, or a different one: all links made until now have ended, and scripts that were downloaded without a package must be downloaded again",
  ]);
  assert.deepEqual(readdirSync(join(dataDir, "lost", "drivers")), []);
  await restored.close();
});
