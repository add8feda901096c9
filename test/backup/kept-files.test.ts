import assert from "node:assert/strict";
import { copyFileSync, cpSync, createReadStream, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { fill, smallDisk, withoutDisk } from "../support/durability/small-disk.ts";
import { madeOnce } from "../support/filled.ts";
import { makePng } from "../support/printers/png.ts";

const keptIn = (dataDir: string, kind: string) => {
  const folder = join(dataDir, "backups", "files", kind);
  return existsSync(folder) ? readdirSync(folder) : [];
};

/** A service with a printer that has a driver and an icon, and a backup of that. */
async function startWithBackup(t: TestContext, dataDir: string, backups = 14): Promise<TestApp> {
  const app = await startUnread(t, dataDir, backups);
  app.app.backups.start();
  await app.app.backups.settled();
  return app;
}

/** The same a moment earlier: no state was read yet. */
async function startUnread(t: TestContext, dataDir: string, backups?: number): Promise<TestApp> {
  const { folder } = await madeOnce(t, makeBackup);
  cpSync(folder, dataDir, { recursive: true });
  return startApp(t, { dataDir, ...(backups !== undefined && { backups }) });
}

async function makeBackup(t: TestContext, dataDir: string): Promise<void> {
  const app = await startApp(t, { dataDir });
  const printer = await app.addPrinter();
  await app.upload(`/printers/${printer}/icon`, makePng(), "icon.png");
  app.app.backups.look();
  await app.app.backups.settled();
  await app.stop();
}

/** Deletes all printers and uploaded drivers for good. */
async function deleteAll({ app, fetch, post }: TestApp): Promise<void> {
  for (const { printer } of app.store.printers.list())
    await fetch(`/printers/${printer.id}`, { method: "DELETE" });
  for (const { id, sha256 } of app.store.drivers.list())
    if (sha256 !== "") await fetch(`/drivers/${id}`, { method: "DELETE" });
  for (const { id } of app.undo.list()) await post(`/deletions/${id}/delete`, {});
}

test("what a kept state names outlasts its deletion, and is there again for who goes back", async (t) => {
  const dataDir = await temporaryFolder(t);
  const service = await startWithBackup(t, dataDir);
  const [state] = service.app.backups.list();
  const [archive = ""] = readdirSync(join(dataDir, "drivers"));
  const bytes = readFileSync(join(dataDir, "drivers", archive));

  await deleteAll(service);
  const gone = [...readdirSync(join(dataDir, "drivers")), ...readdirSync(join(dataDir, "icons"))];
  const kept = [...keptIn(dataDir, "drivers"), ...keptIn(dataDir, "icons")];
  await service.stop();
  copyFileSync(join(dataDir, "backups", state?.name ?? ""), join(dataDir, "platen.sqlite"));
  const again = await startApp(t, { dataDir });
  const download = await again.fetch("/drivers/1/archive");

  assert.deepEqual(gone, []);
  assert.equal(kept.length, 2);
  assert.deepEqual(Buffer.from(await download.arrayBuffer()), bytes);
  assert.equal(again.lines[0], "files moved back, because records refer to them: 2");
  assert.deepEqual([...keptIn(dataDir, "drivers"), ...keptIn(dataDir, "icons")], []);
});

test("what is deleted right after a start, when no state was read yet, is kept", async (t) => {
  const dataDir = await temporaryFolder(t);
  const service = await startUnread(t, dataDir);

  await deleteAll(service);

  assert.deepEqual(
    service.app.backups.list().map(({ checked }) => checked),
    [undefined],
  );
  assert.equal(keptIn(dataDir, "drivers").length, 1);
  assert.equal(keptIn(dataDir, "icons").length, 1);
});

test("what no kept state names is deleted at once, and what the last one named with it", async (t) => {
  const dataDir = await temporaryFolder(t);
  const service = await startWithBackup(t, dataDir, 1);
  await service.addDriver(driverZip({ version: "7.0.0.0" }));

  await deleteAll(service);
  const kept = keptIn(dataDir, "drivers");
  await service.app.store.clients.add({ name: "Later", notes: "", subnets: [] });
  const store = service.app.store;
  await store.backups.write(store.current());
  await store.backups.prune(1);
  await store.keptFiles.tidy();

  assert.equal(kept.length, 1);
  assert.deepEqual([...keptIn(dataDir, "drivers"), ...keptIn(dataDir, "icons")], []);
});

test("a file that is uploaded again is not kept twice", async (t) => {
  const dataDir = await temporaryFolder(t);
  const service = await startWithBackup(t, dataDir);

  await deleteAll(service);
  await service.addDriver();
  await service.app.store.keptFiles.tidy();

  assert.equal(readdirSync(join(dataDir, "drivers")).length, 1);
  assert.deepEqual(keptIn(dataDir, "drivers"), []);
});

test("a kept file stays as long as nobody knows whether its upload gets a record", async (t) => {
  const dataDir = await temporaryFolder(t);
  const service = await startWithBackup(t, dataDir);
  const { blobs, keptFiles } = service.app.store;
  await deleteAll(service);
  const [file] = (await keptFiles.list()).filter(({ kind }) => kind === "drivers");
  const sha256 = file?.sha256 ?? "";
  const incoming = await blobs.receive(createReadStream(file?.path ?? ""));

  let tidied: Promise<void> | undefined;
  const refused = blobs.inTurn(sha256, () =>
    blobs.keep("drivers", incoming, async () => {
      tidied = keptFiles.tidy();
      await new Promise((resolve) => setTimeout(resolve, 50));
      throw new Error("refused");
    }),
  );
  await assert.rejects(refused, /refused/);
  await tidied;

  assert.deepEqual(keptIn(dataDir, "drivers"), [`${sha256}.zip`]);
});

test("on a disk with little room a deletion gives its room back at once", async (t) => {
  const disk = smallDisk(t, 32 << 20);
  if (disk === undefined) return t.skip(withoutDisk);
  const service = await startWithBackup(t, join(disk, "data"));
  const giveBack = fill(disk);

  await deleteAll(service);
  giveBack();

  assert.deepEqual(keptIn(service.dataDir, "drivers"), []);
  assert.deepEqual(readdirSync(join(service.dataDir, "drivers")), []);
});
