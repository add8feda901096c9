import assert from "node:assert/strict";
import { createHash } from "node:crypto";
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
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openStore, type Store } from "../../../src/store/store.ts";
import { startApp, temporaryFolder } from "../../support/app.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";
import { makePng } from "../../support/printers/png.ts";
import { makeDriver } from "../../support/records.ts";

const dayMs = 24 * 60 * 60 * 1000;
const start = Date.UTC(2027, 0, 1);
const digests = { kept: "a".repeat(64), orphan: "b".repeat(64), young: "c".repeat(64) };

interface Folder {
  readonly dataDir: string;
  readonly lines: string[];
  readonly open: (afterDays?: number) => Promise<Store>;
}

/** A data folder written at `start`, with one driver. `open` starts the store a number of days later. */
async function makeUsedFolder(t: TestContext): Promise<Folder> {
  const dataDir = join(await temporaryFolder(t), "data");
  const lines: string[] = [];
  const open = (afterDays = 0) =>
    openStore(
      dataDir,
      () => start + afterDays * dayMs,
      (line) => lines.push(line),
    );
  const store = await open();
  await store.drivers.add(makeDriver({ sha256: digests.kept }));
  await store.close();
  writeFileAt(dataDir, "drivers", digests.kept, 0);
  return { dataDir, lines, open };
}

/** Writes an archive or an icon with a file time `day` days after `start`. */
function writeFileAt(dataDir: string, kind: "drivers" | "icons", digest: string, day: number): string {
  const path = join(dataDir, kind, `${digest}.${kind === "drivers" ? "zip" : "png"}`);
  mkdirSync(join(dataDir, kind), { recursive: true });
  writeFileSync(path, `the bytes of ${digest}`);
  utimesSync(path, start / 1000 + day * 86400, start / 1000 + day * 86400);
  return path;
}

test("with a new database all files stay", async (t) => {
  const dataDir = join(await temporaryFolder(t), "data");
  const archive = writeFileAt(dataDir, "drivers", digests.orphan, -400);
  const icon = writeFileAt(dataDir, "icons", digests.orphan, -400);
  const lines: string[] = [];

  for (let i = 0; i < 2; i++) {
    const store = await openStore(
      dataDir,
      () => start,
      (line) => lines.push(line),
    );
    await store.close();
  }

  assert.ok(existsSync(archive) && existsSync(icon));
  assert.match(
    lines[0] ?? "",
    /stay in place, because they are newer than the database: 2, of them 1 driver ZIP in drivers\/: if/,
  );
});

test("files without a record move to lost/, and files newer than the database stay", async (t) => {
  const { dataDir, lines, open } = await makeUsedFolder(t);
  writeFileAt(dataDir, "drivers", digests.orphan, -400);
  writeFileAt(dataDir, "icons", digests.orphan, -1);
  const young = writeFileAt(dataDir, "drivers", digests.young, 1);

  const store = await open(2);

  assert.ok(existsSync(young));
  assert.deepEqual(readdirSync(join(dataDir, "drivers")).length, 2);
  const lost = join(dataDir, "lost", "drivers", `${digests.orphan}.zip`);
  assert.equal(readFileSync(lost, "utf8"), `the bytes of ${digests.orphan}`);
  assert.equal(statSync(lost).mtimeMs, start + 2 * dayMs);
  assert.deepEqual(readdirSync(join(dataDir, "lost", "icons")), [`${digests.orphan}.png`]);
  assert.deepEqual(lines, [
    "files without a record that stay in place, because they are newer than the database: 1, of them 1 driver ZIP in drivers/: if a driver is missing now, upload its ZIP again, from there or from the vendor",
    "files without a record moved to lost/, where they are deleted after 30 days: 2",
  ]);
  await store.close();
});

test("files in lost/ stay for 30 days, and only files named by a digest are deleted", async (t) => {
  const { dataDir, lines, open } = await makeUsedFolder(t);
  writeFileAt(dataDir, "drivers", digests.orphan, -400);
  await (await open(1)).close();
  const lost = join(dataDir, "lost", "drivers");
  writeFileSync(join(lost, "notes.txt"), "an operator's own");
  utimesSync(join(lost, "notes.txt"), 0, 0);
  mkdirSync(join(lost, `${digests.young}.zip`));

  await (await open(30)).close();
  const before = readdirSync(lost).length;
  await (await open(32)).close();

  assert.equal(before, 3);
  assert.deepEqual(readdirSync(lost).sort(), [`${digests.young}.zip`, "notes.txt"]);
  assert.equal(lines.at(-1), "files deleted from lost/ after 30 days: 1");
});

test("a record's missing file is restored from lost/", async (t) => {
  const { dataDir, lines, open } = await makeUsedFolder(t);
  const archive = join(dataDir, "drivers", `${digests.kept}.zip`);
  mkdirSync(join(dataDir, "lost", "drivers"), { recursive: true });
  renameSync(archive, join(dataDir, "lost", "drivers", `${digests.kept}.zip`));

  await (await open(400)).close();

  assert.equal(readFileSync(archive, "utf8"), `the bytes of ${digests.kept}`);
  assert.deepEqual(lines, ["files restored, because records refer to them: 1"]);
});

test("an older database does not delete newer archives", async (t) => {
  const { dataDir, open } = await makeUsedFolder(t);
  const database = join(dataDir, "platen.sqlite");
  const backup = readFileSync(database);
  const later = await open(5);
  await later.drivers.add(makeDriver({ sha256: digests.young }));
  await later.close();
  const archive = writeFileAt(dataDir, "drivers", digests.young, 5);

  writeFileSync(database, backup);
  await (await open(6)).close();
  const afterFirst = existsSync(archive);
  await (await open(7)).close();

  assert.equal(afterFirst, true);
  assert.equal(existsSync(archive), true);
});

test("a start deletes only files that Platen named", async (t) => {
  const { dataDir, open } = await makeUsedFolder(t);
  const own = [
    "incoming/notes.txt",
    "incoming/folder",
    "drivers/notes.txt",
    "drivers/A.zip",
    "icons/logo.png",
    "lock-notes.txt",
    "lock-0123456789abcdef",
    ".writable",
  ];
  for (const name of own) writeFileSync(join(dataDir, name), "an operator's own");
  writeFileSync(join(dataDir, "incoming", "0b0f7b1e-8f0c-4e0e-9d3a-0123456789ab"), "half an upload");

  await (await open(1)).close();

  for (const name of own) assert.equal(readFileSync(join(dataDir, name), "utf8"), "an operator's own", name);
  assert.deepEqual(readdirSync(join(dataDir, "incoming")).sort(), ["folder", "notes.txt"]);
});

test("a start deletes incomplete saves that a crash left", async (t) => {
  const { dataDir, open } = await makeUsedFolder(t);
  for (const name of ["platen.sqlite.new", "secret.new"]) writeFileSync(join(dataDir, name), "half a save");

  await (await open(1)).close();

  assert.deepEqual(
    readdirSync(dataDir).filter((name) => name.endsWith(".new")),
    [],
  );
});

test("an incomplete save stays when the start is refused", async (t) => {
  const { dataDir, open } = await makeUsedFolder(t);
  const whole = readFileSync(join(dataDir, "platen.sqlite"));
  writeFileSync(join(dataDir, "platen.sqlite"), whole.subarray(0, 5000));
  writeFileSync(join(dataDir, "platen.sqlite.new"), whole);

  await assert.rejects(open(1), /a copy of it broke off/);

  assert.ok(readFileSync(join(dataDir, "platen.sqlite.new")).equals(whole));
});

test("folders deleted while the service runs are made again by the next upload", async (t) => {
  const { upload, fetch, addPrinter, dataDir } = await startApp(t);
  const printer = await addPrinter();
  for (const name of ["incoming", "drivers", "icons"]) rmSync(join(dataDir, name), { recursive: true });

  const icon = await upload(`/printers/${printer}/icon`, makePng(), "icon.png");
  rmSync(join(dataDir, "incoming"), { recursive: true });
  const driver = await upload("/drivers/upload", driverZip({ version: "2.0.0.0" }));
  const again = await upload("/drivers/upload", driverZip());

  assert.deepEqual([icon.status, driver.status, again.status], [200, 200, 200]);
  assert.equal((await fetch(`/printers/${printer}/icon`)).status, 200);
  assert.equal((await fetch(`/printers/${printer}/packages/rmm`)).status, 200);
  assert.equal(readdirSync(join(dataDir, "drivers")).length, 2);
});

test("a refused upload does not delete an existing file without a record", async (t) => {
  const { upload, addPrinter, dataDir } = await startApp(t);
  const printer = await addPrinter();
  const [zip, png] = [driverZip().subarray(0, 300), makePng(255)];
  const archive = join(dataDir, "drivers", `${digestOf(zip)}.zip`);
  const icon = join(dataDir, "icons", `${digestOf(png)}.png`);
  writeFileSync(archive, zip);
  writeFileSync(icon, png);

  const answers = [
    await upload("/drivers/upload", zip),
    await upload(`/printers/${printer}/icon`, png, "icon.png"),
  ];

  assert.deepEqual(
    answers.map(({ status }) => status),
    [422, 422],
  );
  assert.ok(existsSync(archive) && existsSync(icon));
});

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
