import assert from "node:assert/strict";
import {
  copyFileSync,
  cpSync,
  createReadStream,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseClient } from "../../src/domain/printers/client.ts";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { openAt, startFullShop } from "../support/backup/backup.ts";
import { remove } from "../support/backup/deletions.ts";
import { editDatabase } from "../support/database.ts";
import { selectCases } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { fill, smallDisk, withoutDisk } from "../support/durability/small-disk.ts";
import { makeOnce } from "../support/filled.ts";
import { serve } from "../support/service.ts";

const day = 24 * 60 * 60_000;
const monday = Date.UTC(2026, 10, 16, 12);

/** A folder with a state of Monday (one client), a state of Tuesday (two clients), and a damaged database of Wednesday. */
async function damagedFolder(t: TestContext) {
  const { folder } = await makeOnce(t, makeDamaged);
  const dataDir = join(folder, "data");
  const path = join(dataDir, "platen.sqlite");
  const copies = () => readdirSync(dataDir).filter((name) => name.includes("damaged"));
  return { folder, dataDir, path, states: join(dataDir, "backups"), damaged: readFileSync(path), copies };
}

async function makeDamaged(t: TestContext, folder: string): Promise<void> {
  const dataDir = join(folder, "data");
  let now = monday;
  const service = await startApp(t, { dataDir, clock: () => now });
  for (const name of ["Monday", "Tuesday"]) {
    await service.app.store.clients.add(parseClient({ name }));
    now += day;
    service.app.backups.keepDue();
    await service.app.backups.waitForWork();
  }
  await service.addDriver();
  await service.stop();
  const path = join(dataDir, "platen.sqlite");
  writeFileSync(path, readFileSync(path).fill(7, 4200, 9000));
}

const openOnThursday = (dataDir: string, recover = false, lines: string[] = []) =>
  openAt(dataDir, monday + 3 * day, lines, recover);

/** Recovers. @returns the names of the clients */
async function recoveredNames(dataDir: string, recover = true, lines: string[] = []): Promise<string[]> {
  const store = await openOnThursday(dataDir, recover, lines);
  const names = store.clients.list().map(({ name }) => name);
  await store.close();
  return names;
}

test("a damaged database stops the start with an error that names the newest good backup and --recover", async (t) => {
  const { dataDir, path, damaged } = await damagedFolder(t);

  const started = openOnThursday(dataDir);

  await assert.rejects(started, ({ message }: Error) => {
    assert.match(message, /platen\.sqlite cannot be read as a database .*Nothing was changed\./s);
    assert.match(
      message,
      /newest good backup is platen-2026-11-17T120000\.000Z-2\.sqlite, the state of 2026-11-17T12:00:00\.000Z: 2 clients, 0 drivers, 0 printers\. Whatever was changed since then is not in it\./,
    );
    assert.match(message, /a full backup elsewhere, platen restore FILE\.tar replaces everything/);
    assert.match(message, /Started with --recover, .* the damaged file is set aside, never deleted/);
    assert.match(message, /docker compose run/);
    return true;
  });
  assert.ok(readFileSync(path).equals(damaged));
});

test("--recover keeps the damaged database, goes on from the newest good backup, logs what is lost, and gives no id that a lost record may have had", async (t) => {
  const { dataDir, path, damaged, copies } = await damagedFolder(t);
  const lines: string[] = [];

  const found = await recoveredNames(dataDir, true, lines);
  await recoveredNames(dataDir, true, lines);
  const service = await startApp(t, { dataDir });
  const client = await service.app.store.clients.add(parseClient({ name: "Later" }));
  const driver = await service.addDriver(driverZip({ version: "9.0.0.0" }));
  const printer = await service.addPrinter({ driver_id: String(driver) });

  assert.deepEqual([client, driver, printer], [1003, 1001, 10_001]);
  assert.deepEqual(found, ["Monday", "Tuesday"]);
  const [copy = ""] = copies();
  assert.equal(copy, "platen.sqlite.damaged-2026-11-19T120000Z");
  assert.ok(readFileSync(join(dataDir, copy)).equals(damaged));
  assert.ok(!readFileSync(path).equals(damaged));
  assert.equal(statSync(path).mode & 0o77, 0, "others on the host may read it");
  assert.deepEqual(lines, [
    `recovered: the damaged database is kept as ${copy}`,
    "recovered: the database is platen-2026-11-17T120000.000Z-2.sqlite, the state of 2026-11-17T12:00:00.000Z: 2 clients, 0 drivers, 0 printers; what was changed after it is not in it",
    "recovered: accounts, sessions and tokens are those of that time; all links have ended: scripts that were downloaded without a package must be downloaded again",
    "files without a record that stay in place, because they are newer than the database: 1, of them 1 driver ZIP in drivers/: if a driver is missing now, upload its ZIP again, from there or from the vendor",
    "--recover: the database is sound: nothing was changed",
    "files without a record that stay in place, because they are newer than the database: 1, of them 1 driver ZIP in drivers/: if a driver is missing now, upload its ZIP again, from there or from the vendor",
  ]);
});

test("--recover takes the good state with the highest number whatever its time, also without a database", async (t) => {
  const { dataDir, path, damaged, states } = await damagedFolder(t);
  const rename = (from: string, to: string) =>
    renameSync(join(states, `platen-${from}.sqlite`), join(states, `platen-${to}.sqlite`));
  const newest = join(states, "platen-2026-11-17T120000.000Z.sqlite");
  const both = ["Monday", "Tuesday"];
  const steps: readonly (readonly [string, () => void, string[]])[] = [
    ["no database", () => rmSync(path), both],
    ["an older state of later", () => rename("2026-11-16T120000.000Z-1", "2031-01-01T120000.000Z-1"), both],
    [
      "the older one of an earlier version",
      () => rename("2031-01-01T120000.000Z-1", "2026-11-16T120000.000Z"),
      both,
    ],
    ["both of an earlier version", () => rename("2026-11-17T120000.000Z-2", "2026-11-17T120000.000Z"), both],
    ["a damaged one", () => writeFileSync(newest, damaged.subarray(0, statSync(newest).size)), ["Monday"]],
  ];

  for (const [what, arrange, names] of steps) {
    writeFileSync(path, damaged);
    arrange();
    assert.deepEqual(await recoveredNames(dataDir), names, what);
  }
  rmSync(path);
  assert.deepEqual(await recoveredNames(dataDir, false), [], "without --recover");
});

test("without a good backup, and for a database of a newer version, --recover changes nothing and says what else to do", async (t) => {
  const { dataDir, path, damaged, states, copies } = await damagedFolder(t);
  cpSync(join(states, "platen-2026-11-17T120000.000Z-2.sqlite"), path);
  await editDatabase(path, (db) => db.exec("PRAGMA user_version = 9999"));
  const newer = readFileSync(path);
  const started = (recover: boolean) => openOnThursday(dataDir, recover);

  await assert.rejects(started(true), /was written by a newer Platen \(schema 9999/);
  assert.ok(readFileSync(path).equals(newer));
  writeFileSync(path, damaged);
  for (const name of readdirSync(states)) writeFileSync(join(states, name), "no database");
  await assert.rejects(started(true), /platen restore FILE\.tar.*No good backup is in .*, of 2 states\./s);
  rmSync(states, { recursive: true });
  await assert.rejects(started(true), /platen restore FILE\.tar.*No good backup is in .*, of 0 states\./s);
  await assert.rejects(started(false), /Put a backup in its place, or move it away to start afresh/);

  assert.ok(readFileSync(path).equals(damaged));
  assert.deepEqual(copies(), []);
});

test("a recovered state with a missing archive starts", async (t) => {
  const { folder: dataDir } = await makeOnce(t, makeBackup);
  writeFileSync(join(dataDir, "platen.sqlite"), "");
  rmSync(join(dataDir, "drivers"), { recursive: true });

  const store = await openOnThursday(dataDir, true);
  const ids = store.drivers.list().map(({ id }) => id);
  await store.close();

  assert.deepEqual(ids, [1]);
});

for (const args of selectCases([["--recover"], ["serve", "--recover"]], 1)) {
  test(`the program recovers with ${args.join(" ")}`, async (t) => {
    const { folder } = await damagedFolder(t);

    const { url } = await serve(t, folder, {}, undefined, args);

    assert.match(await (await fetch(`${url}/clients`)).text(), /Tuesday/);
  });
}

const kinds = ["drivers", "icons", "preferences"];
const keptNames = (dataDir: string, ...some: string[]) =>
  (some.length === 0 ? kinds : some).flatMap((kind) => {
    const folder = join(dataDir, "backups", "files", kind);
    return existsSync(folder) ? readdirSync(folder) : [];
  });

/** A service with a printer that has a driver, an icon and preferences, and a backup of that. */
async function startWithBackup(
  t: TestContext,
  { dataDir = "", backups = 14, isRead = true } = {},
): Promise<TestApp> {
  const { folder } = await makeOnce(t, makeBackup);
  if (dataDir !== "") cpSync(folder, dataDir, { recursive: true });
  const service = await startApp(t, { dataDir: dataDir || folder, backups });
  if (isRead) service.app.backups.start();
  await service.app.backups.waitForWork();
  return service;
}

async function makeBackup(t: TestContext, dataDir: string): Promise<void> {
  const { app, stop } = await startFullShop(t, dataDir, {});
  app.backups.keepDue();
  await app.backups.waitForWork();
  await stop();
}

/** Deletes all printers and uploaded drivers, and makes the deletions final. */
async function deleteAll(service: TestApp): Promise<void> {
  const { store, undo } = service.app;
  for (const { printer } of store.printers.list()) await remove(service, `/printers/${printer.id}`);
  for (const { id, sha256 } of store.drivers.list())
    if (sha256 !== "") await remove(service, `/drivers/${id}`);
  for (const { id } of undo.list()) await remove(service, `/deletions/${id}`);
}

test("files that a kept state needs stay after their deletion, and return with that state", async (t) => {
  const service = await startWithBackup(t);
  const { dataDir } = service;
  const [state] = service.app.backups.list();
  const [archive = ""] = readdirSync(join(dataDir, "drivers"));
  const bytes = readFileSync(join(dataDir, "drivers", archive));

  await deleteAll(service);
  const gone = kinds.flatMap((kind) => readdirSync(join(dataDir, kind)));
  const kept = keptNames(dataDir);
  await service.stop();
  copyFileSync(join(dataDir, "backups", state?.name ?? ""), join(dataDir, "platen.sqlite"));
  const restarted = await startApp(t, { dataDir });
  const download = await restarted.fetch("/drivers/1/archive");

  assert.deepEqual(gone, []);
  assert.equal(kept.length, 3);
  assert.deepEqual(Buffer.from(await download.arrayBuffer()), bytes);
  assert.equal(restarted.lines[0], "files restored, because records refer to them: 3");
  assert.deepEqual(keptNames(dataDir), []);
});

test("files deleted right after a start, before any state was read, are kept, until a user deletes them on the page", async (t) => {
  const service = await startWithBackup(t, { isRead: false });

  await deleteAll(service);

  const checks = service.app.backups.list().map(({ checked }) => checked);
  const kept = kinds.map((kind) => keptNames(service.dataDir, kind).length);
  const before = await (await service.fetch("/backups")).text();
  const answer = await service.post("/backups/files/delete", {}, navigation);
  const after = await (await service.fetch("/backups")).text();

  assert.deepEqual([checks, kept], [[undefined], [1, 1, 1]]);
  assert.match(before, /Older backups need 3 files of deleted records \([\d.]+ (?:bytes|KB)\)\./);
  assert.equal(answer.headers.get("location"), "/backups?done=files");
  assert.doesNotMatch(after, /Files of deleted records/);
  assert.deepEqual(keptNames(service.dataDir), []);
});

test("files that no state needs are deleted at once, and others when they are uploaded again or no state needs them", async (t) => {
  const service = await startWithBackup(t, { backups: 1 });
  const { dataDir } = service;
  await service.addDriver(driverZip({ version: "7.0.0.0" }));

  await deleteAll(service);
  const kept = keptNames(dataDir, "drivers");
  await service.addDriver();
  await service.app.store.keptFiles.tidy();
  const again = keptNames(dataDir, "drivers");
  await deleteAll(service);
  await service.app.store.clients.add(parseClient({ name: "Later" }));
  const store = service.app.store;
  await store.backups.write(store.current());
  await store.backups.prune(1);
  await store.keptFiles.tidy();

  assert.deepEqual([kept.length, again], [1, []]);
  assert.deepEqual(keptNames(dataDir), []);
});

test("a kept file stays until it is certain that a new upload of it gets a record", async (t) => {
  const service = await startWithBackup(t);
  const { blobs, keptFiles } = service.app.store;
  await deleteAll(service);
  const [file] = (await keptFiles.list()).filter(({ kind }) => kind === "drivers");
  const sha256 = file?.sha256 ?? "";
  const incoming = await blobs.receive(createReadStream(file?.path ?? ""));

  let tidied: Promise<void> | undefined;
  const refused = blobs.inOrder(sha256, () =>
    blobs.keep("drivers", incoming, async () => {
      tidied = keptFiles.tidy();
      await new Promise((resolve) => setTimeout(resolve, 50));
      throw new Error("refused");
    }),
  );
  await assert.rejects(refused, /refused/);
  await tidied;

  assert.deepEqual(keptNames(service.dataDir, "drivers"), [`${sha256}.zip`]);
});

test("on a disk with little room a final deletion frees its space at once", async (t) => {
  const disk = smallDisk(t, 32 << 20);
  if (disk === undefined) return t.skip(withoutDisk);
  const service = await startWithBackup(t, { dataDir: join(disk, "data") });
  const freeSpace = fill(disk);

  await deleteAll(service);
  freeSpace();

  assert.deepEqual(keptNames(service.dataDir, "drivers"), []);
  assert.deepEqual(readdirSync(join(service.dataDir, "drivers")), []);
});
