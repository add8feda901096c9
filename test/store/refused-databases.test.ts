import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { schemaVersion } from "../../src/store/database/migrations.ts";
import { pagesOf } from "../../src/store/database/seal.ts";
import { temporaryFolder } from "../support/app.ts";
import { openAt } from "../support/backup/backup.ts";
import { editDatabase, makeOldDatabase, oldDigest, oldReport } from "../support/database.ts";
import { rounds } from "../support/depth.ts";

/** A folder with a sound database and its only archive. */
async function makeFolder(t: TestContext, schema: "old" | "current") {
  const dataDir = join(await temporaryFolder(t), "data");
  const path = await makeOldDatabase(dataDir, { reports: [oldReport, oldReport] });
  const archive = join(dataDir, "drivers", `${oldDigest}.zip`);
  mkdirSync(join(dataDir, "drivers"));
  writeFileSync(archive, "the archive");
  if (schema === "current") await (await openAt(dataDir)).close();
  return { dataDir, path, archive, sound: readFileSync(path) };
}

type Folder = Awaited<ReturnType<typeof makeFolder>>;
/** Statements, or a function of the sound file. */
type Change = string | ((sound: Buffer) => Uint8Array);
type Cases = readonly (readonly [Change, RegExp])[];

/** Changes the sound database, and checks that it stops the start, which changes nothing. */
async function checkRefused(folder: Folder, [change, message]: Cases[number]): Promise<void> {
  const { dataDir, path, archive, sound } = folder;
  writeFileSync(path, typeof change === "string" ? sound : change(sound));
  if (typeof change === "string") await editDatabase(path, (db) => db.exec(change));
  const [bytes, { mtimeMs }] = [readFileSync(path), statSync(path)];
  await assert.rejects(openAt(dataDir), message, String(change));
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
  [(sound) => sound.subarray(0, 1), withAdvice("it does not start as an SQLite database does")],
  [(sound) => sound.subarray(0, 100), withAdvice("a copy of it broke off")],
  [(sound) => sound.subarray(0, sound.length - 1), withAdvice("a copy of it broke off")],
  [() => Buffer.alloc(8192, "text "), withAdvice("it does not start as an SQLite database does")],
  [(sound) => Buffer.from(sound).fill(7, 4200, 9000), withAdvice("in database main")],
  [(sound) => Buffer.from(sound).fill(7, 100, 5000), withAdvice("is malformed")],
];

const notTheSeal = withAdvice("its SHA-256 is not the one that it was saved with");
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
  ["DROP TABLE icons", /no such table: icons/],
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
  ["PRAGMA user_version = -1", /it is no database of Platen’s/],
  ["PRAGMA user_version = 7", /table accounts already exists/],
];

const groups: readonly (readonly [string, "old" | "current", Cases])[] = [
  ["a damaged database stops the start with advice, and is not changed", "old", damagedFiles],
  ["a file that is not the one that was saved stops the start", "current", brokenSeals],
  ["an old database with an unreadable row is refused before anything is changed", "old", unreadableOldRows],
  ["unreadable rows and later versions are refused in a current database too", "current", unreadableRows],
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
    await checkRefused(folder, [(sound) => flipped(sound, at), notTheSeal]);
});
