import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { schemaVersion } from "../../src/store/database/migrations.ts";
import { pagesOf } from "../../src/store/database/seal.ts";
import { startApp, temporaryFolder } from "../support/app.ts";
import { openAt, sha256Of } from "../support/backup/backup.ts";
import { statusesOf } from "../support/backup/deletions.ts";
import { makeTarget, part, withManifest } from "../support/backup/hostile-backups.ts";
import { editDatabase, makeOldDatabase, oldDigest, oldReport } from "../support/database.ts";
import { rounds, selectCases } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { makePng } from "../support/printers/png.ts";
import { makeDriver } from "../support/records.ts";

const dayMs = 24 * 60 * 60 * 1000;
const start = Date.UTC(2027, 0, 1);
const digests = { kept: "a".repeat(64), orphan: "b".repeat(64), young: "c".repeat(64) };
const staying =
  "files without a record that stay in place, because they are newer than the database: 1, of them 1 driver ZIP in drivers/: if a driver is missing now, upload its ZIP again, from there or from the vendor";

/** An empty folder, and functions for it. `open` starts the store a number of days after `start`, and closes it. */
async function makeEmptyFolder(t: TestContext) {
  const dataDir = join(await temporaryFolder(t), "data");
  const lines: string[] = [];
  const open = async (afterDays: number, sha256?: string) => {
    const store = await openAt(dataDir, start + afterDays * dayMs, lines);
    if (sha256 !== undefined) await store.drivers.add(makeDriver({ sha256 }));
    await store.close();
  };
  /** Writes an archive or an icon with a file time `day` days after `start`. @returns its path */
  const writeFileAt = (kind: "drivers" | "icons", digest: string, day: number) => {
    const path = join(dataDir, kind, `${digest}.${kind === "drivers" ? "zip" : "png"}`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `the bytes of ${digest}`);
    utimesSync(path, start / 1000 + day * 86400, start / 1000 + day * 86400);
    return path;
  };
  const lost = join(dataDir, "lost", "drivers");
  return { dataDir, database: join(dataDir, "platen.sqlite"), lost, lines, open, writeFileAt };
}

/** A data folder written at `start`, with one driver. */
async function makeUsedFolder(t: TestContext) {
  const folder = await makeEmptyFolder(t);
  await folder.open(0, digests.kept);
  return { ...folder, archive: folder.writeFileAt("drivers", digests.kept, 0) };
}

test("with a new database all files stay", async (t) => {
  const { lines, open, writeFileAt } = await makeEmptyFolder(t);
  const archive = writeFileAt("drivers", digests.orphan, -400);
  const icon = writeFileAt("icons", digests.orphan, -400);

  for (let i = 0; i < 2; i++) await open(0);

  assert.ok(existsSync(archive) && existsSync(icon));
  assert.match(
    lines[0] ?? "",
    /stay in place, because they are newer than the database: 2, of them 1 driver ZIP in drivers\/: if/,
  );
});

test("files without a record move to lost/ for 30 days, and files newer than the database or without a digest stay", async (t) => {
  const { dataDir, lost, lines, open, writeFileAt } = await makeUsedFolder(t);
  writeFileAt("drivers", digests.orphan, -400);
  writeFileAt("icons", digests.orphan, -1);
  const young = writeFileAt("drivers", digests.young, 1);

  await open(2);

  const path = join(lost, `${digests.orphan}.zip`);
  assert.ok(existsSync(young));
  assert.equal(readdirSync(join(dataDir, "drivers")).length, 2);
  assert.equal(readFileSync(path, "utf8"), `the bytes of ${digests.orphan}`);
  assert.equal(statSync(path).mtimeMs, start + 2 * dayMs);
  assert.deepEqual(readdirSync(join(dataDir, "lost", "icons")), [`${digests.orphan}.png`]);
  assert.deepEqual(lines, [
    staying,
    "files without a record moved to lost/, where they are deleted after 30 days: 2",
  ]);
  writeFileSync(join(lost, "notes.txt"), "an operator's own");
  utimesSync(join(lost, "notes.txt"), 0, 0);
  mkdirSync(join(lost, `${digests.young}.zip`));
  await open(31);
  assert.equal(readdirSync(lost).length, 3);
  await open(33);
  assert.deepEqual(readdirSync(lost).sort(), [`${digests.young}.zip`, "notes.txt"]);
  assert.equal(lines.at(-1), "files deleted from lost/ after 30 days: 2");
});

test("a record's missing file is restored from lost/", async (t) => {
  const { archive, lost, lines, open } = await makeUsedFolder(t);
  mkdirSync(lost, { recursive: true });
  renameSync(archive, join(lost, `${digests.kept}.zip`));

  await open(400);

  assert.equal(readFileSync(archive, "utf8"), `the bytes of ${digests.kept}`);
  assert.deepEqual(lines, ["files restored, because records refer to them: 1"]);
});

test("an older database does not delete newer archives, and ends all links", async (t) => {
  const { database, lines, open, writeFileAt } = await makeUsedFolder(t);
  const backup = readFileSync(database);
  await open(5, digests.young);
  const archive = writeFileAt("drivers", digests.young, 5);
  writeFileSync(database, backup);

  for (const day of [6, 7]) {
    await open(day);
    assert.ok(existsSync(archive), `day ${day}`);
  }
  assert.deepEqual(lines, [
    staying,
    "warning: the database is older than its audit log, or a different one: all links made until now have ended, and scripts that were downloaded without a package must be downloaded again",
    staying,
  ]);
});

test("a start deletes only files that Platen named, among them incomplete saves that a crash left", async (t) => {
  const { dataDir, open } = await makeUsedFolder(t);
  const own = [
    ...["incoming/notes.txt", "incoming/folder", "drivers/notes.txt", "drivers/A.zip", "icons/logo.png"],
    ...["lock-notes.txt", "lock-0123456789abcdef", ".writable"],
  ];
  const halves = ["incoming/0b0f7b1e-8f0c-4e0e-9d3a-0123456789ab", "platen.sqlite.new", "secret.new"];
  for (const name of [...own, ...halves]) writeFileSync(join(dataDir, name), "an operator's own");

  await open(1);

  for (const name of own) assert.equal(readFileSync(join(dataDir, name), "utf8"), "an operator's own", name);
  for (const name of halves) assert.equal(existsSync(join(dataDir, name)), false, name);
  assert.deepEqual(readdirSync(join(dataDir, "incoming")).sort(), ["folder", "notes.txt"]);
});

test("an incomplete save stays when the start is refused", async (t) => {
  const { database, open } = await makeUsedFolder(t);
  const whole = readFileSync(database);
  writeFileSync(database, whole.subarray(0, 5000));
  writeFileSync(`${database}.new`, whole);

  await assert.rejects(open(1), /a copy of it broke off/);

  assert.ok(readFileSync(`${database}.new`).equals(whole));
});

test("a refused upload leaves a file without a record, and folders deleted while the service runs are made again", async (t) => {
  const { upload, fetch, addPrinter, dataDir } = await startApp(t);
  const printer = await addPrinter();
  const icon = (bytes: Buffer) => upload(`/printers/${printer}/icon`, bytes, "icon.png");
  const [zip, png] = [driverZip().subarray(0, 300), makePng(255)];
  const files = [
    [`drivers/${sha256Of(zip)}.zip`, zip] as const,
    [`icons/${sha256Of(png)}.png`, png] as const,
  ];
  for (const [path, bytes] of files) writeFileSync(join(dataDir, path), bytes);

  const refused = [await upload("/drivers/upload", zip), await icon(png)];
  const left = files.filter(([path]) => existsSync(join(dataDir, path)));
  for (const name of ["incoming", "drivers", "icons"]) rmSync(join(dataDir, name), { recursive: true });
  const answers = [await icon(makePng())];
  rmSync(join(dataDir, "incoming"), { recursive: true });
  for (const zip of [driverZip({ version: "2.0.0.0" }), driverZip()])
    answers.push(await upload("/drivers/upload", zip));
  for (const path of ["icon", "packages/rmm"]) answers.push(await fetch(`/printers/${printer}/${path}`));

  assert.deepEqual(statusesOf(refused), [422, 422]);
  assert.equal(left.length, 2);
  assert.deepEqual(statusesOf(answers), Array(5).fill(200));
  assert.equal(readdirSync(join(dataDir, "drivers")).length, 2);
});

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
  [(sound) => sound.subarray(0, 100), /it has 100 of \d+ bytes: a copy of it broke off/],
  [(sound) => sound.subarray(0, sound.length - 1), withAdvice("a copy of it broke off")],
  [() => Buffer.alloc(8192, "text "), withAdvice("it does not start as an SQLite database does")],
  [(sound) => Buffer.from(sound).fill(7, 4200, 9000), withAdvice("on page 2")],
  [(sound) => Buffer.from(sound).fill(7, 100, 5000), withAdvice("malformed")],
];

const notTheSeal = /its SHA-256 is not the one that it was saved with/;
const replaced = (sound: Buffer, from: string, to: string) =>
  Buffer.from(sound.toString("latin1").replace(from, to), "latin1");
const brokenSeals: Cases = [
  [(sound) => replaced(sound, "Contoso", "Contosso"), brokeOff],
  [(sound) => replaced(sound, "Contoso", "Kontoso"), notTheSeal],
  [(sound) => flipped(sound, 27), notTheSeal],
  ...[1, 50, 4096].map((lost) => [(sound: Buffer) => sound.subarray(0, -lost), brokeOff] as const),
];

function flipped(sound: Buffer, at: number): Buffer {
  const damaged = Buffer.from(sound);
  damaged.writeUInt8(sound.readUInt8(at) ^ (1 << (at % 8)), at);
  return damaged;
}

const unreadableOldRows: Cases = [
  ["UPDATE printers SET settings = '{'", /the printer 1 cannot be read/],
  ["UPDATE printers SET settings = '[]'", /the printer 1 cannot be read: its JSON is no object/],
  ["UPDATE printers SET settings = 'null'", /the printer 1 cannot be read: its JSON is no object/],
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
  ["PRAGMA user_version = 2", /its table “drivers” is not as Platen makes it/],
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
  ["PRAGMA user_version = -1", /it is no database of Platen’s/],
  ["PRAGMA user_version = 7", /it holds “|it lacks the|is not as Platen makes it/],
  [`PRAGMA user_version = ${schemaVersion - 1}`, /it holds “|it lacks the|is not as Platen makes it/],
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
