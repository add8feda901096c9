import assert from "node:assert/strict";
import { copyFileSync, cpSync, createReadStream, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseClient } from "../../src/domain/printers/client.ts";
import { startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { startFullShop } from "../support/backup/backup.ts";
import { remove } from "../support/backup/deletions.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { fill, smallDisk, withoutDisk } from "../support/durability/small-disk.ts";
import { makeOnce } from "../support/filled.ts";

const kinds = ["drivers", "icons", "preferences"];
const keptNames = (dataDir: string, ...some: string[]) =>
  (some.length === 0 ? kinds : some).flatMap((kind) => {
    const folder = join(dataDir, "backups", "files", kind);
    return existsSync(folder) ? readdirSync(folder) : [];
  });

/** A service with a printer that has a driver, an icon and preferences, and a backup of that. */
async function startWithBackup(t: TestContext, dataDir: string, backups = 14): Promise<TestApp> {
  const service = await startBeforeRead(t, dataDir, backups);
  service.app.backups.start();
  await service.app.backups.waitForWork();
  return service;
}

/** The same service before it has read any kept state. */
async function startBeforeRead(t: TestContext, dataDir: string, backups = 14): Promise<TestApp> {
  const { folder } = await makeOnce(t, makeBackup);
  cpSync(folder, dataDir, { recursive: true });
  return startApp(t, { dataDir, backups });
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
  const dataDir = await temporaryFolder(t);
  const service = await startWithBackup(t, dataDir);
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

test("files deleted right after a start, before any state was read, are kept", async (t) => {
  const dataDir = await temporaryFolder(t);
  const service = await startBeforeRead(t, dataDir);

  await deleteAll(service);

  const checks = service.app.backups.list().map(({ checked }) => checked);
  assert.deepEqual(checks, [undefined]);
  for (const kind of kinds) assert.equal(keptNames(dataDir, kind).length, 1);
});

test("files that no state needs are deleted at once, and other files with the last state that needs them", async (t) => {
  const dataDir = await temporaryFolder(t);
  const service = await startWithBackup(t, dataDir, 1);
  await service.addDriver(driverZip({ version: "7.0.0.0" }));

  await deleteAll(service);
  const kept = keptNames(dataDir, "drivers");
  await service.app.store.clients.add(parseClient({ name: "Later" }));
  const store = service.app.store;
  await store.backups.write(store.current());
  await store.backups.prune(1);
  await store.keptFiles.tidy();

  assert.equal(kept.length, 1);
  assert.deepEqual(keptNames(dataDir), []);
});

test("a file that is uploaded again is not kept twice", async (t) => {
  const dataDir = await temporaryFolder(t);
  const service = await startWithBackup(t, dataDir);

  await deleteAll(service);
  await service.addDriver();
  await service.app.store.keptFiles.tidy();

  assert.equal(readdirSync(join(dataDir, "drivers")).length, 1);
  assert.deepEqual(keptNames(dataDir, "drivers"), []);
});

test("a kept file stays until it is certain that a new upload of it gets a record", async (t) => {
  const dataDir = await temporaryFolder(t);
  const service = await startWithBackup(t, dataDir);
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

  assert.deepEqual(keptNames(dataDir, "drivers"), [`${sha256}.zip`]);
});

test("on a disk with little room a final deletion frees its space at once", async (t) => {
  const disk = smallDisk(t, 32 << 20);
  if (disk === undefined) return t.skip(withoutDisk);
  const service = await startWithBackup(t, join(disk, "data"));
  const freeSpace = fill(disk);

  await deleteAll(service);
  freeSpace();

  assert.deepEqual(keptNames(service.dataDir, "drivers"), []);
  assert.deepEqual(readdirSync(join(service.dataDir, "drivers")), []);
});
