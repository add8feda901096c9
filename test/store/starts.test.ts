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
import { innerPath } from "../../src/store/blobs.ts";
import { startApp, temporaryFolder } from "../support/app.ts";
import { openAt, sha256Of } from "../support/backup/backup.ts";
import { statusesOf } from "../support/deploy/answers.ts";
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
  const upload = "incoming/0b0f7b1e-8f0c-4e0e-9d3a-0123456789ab";
  const halves = [upload, innerPath(upload), "platen.sqlite.new", "secret.new"];
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
