import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { sha256Of } from "../support/backup/backup.ts";
import { remove } from "../support/backup/deletions.ts";
import { deepTest } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { RecordedDisk, writeLeft } from "../support/durability/power-cuts.ts";
import { makeDriver } from "../support/records.ts";

const places = ["drivers", "lost/drivers", "backups/files/drivers"];

/**
 * Records every state of the disk that a power cut can leave. Drivers are not inspected.
 * @param skipped paths whose syncs are ignored
 */
async function recordCuts(t: TestContext, skipped?: RegExp) {
  const [root, leftIn] = [await temporaryFolder(t), await temporaryFolder(t)];
  const dataDir = join(root, "data");
  const left: string[] = [];
  const record = (disk: RecordedDisk) => {
    for (const kept of [0, 1, 0.5]) {
      const folder = join(leftIn, String(left.length));
      writeLeft(folder, disk.left({ change: (i) => i < disk.pendingChanges * kept, bytes: () => 0 }));
      left.push(join(folder, "data"));
    }
  };
  await RecordedDisk.of(t, root, record, skipped);
  const start = async () => {
    const service = await startApp(t, { dataDir });
    service.app.inspections.inspect = async () => makeDriver().report;
    return service;
  };
  /** The number of these states that lack one of these archives. */
  const countLost = (from: number, digests: readonly string[]) =>
    left.slice(from).filter((state) => !digests.every((sha256) => existsAnywhere(state, sha256))).length;
  return { dataDir, left, start, countLost };
}

/** Deletes a driver for good. */
async function deleteDriver(service: TestApp, id: number): Promise<void> {
  await remove(service, `/drivers/${id}`);
  await remove(service, `/deletions/${service.app.undo.list()[0]?.id}`);
}

/** Whether a complete archive is in one of the folders. */
function existsAnywhere(dataDir: string, sha256: string): boolean {
  return places.some((place) => {
    const path = join(dataDir, place, `${sha256}.zip`);
    return existsSync(path) && sha256Of(readFileSync(path)) === sha256;
  });
}

/** The number of states that lack an archive which was deleted but is still in a backup. */
async function lostByDeletion(t: TestContext, skipped?: RegExp): Promise<number> {
  const { dataDir, left, start, countLost } = await recordCuts(t, skipped);
  const service = await start();
  const zips = [driverZip(), driverZip({ version: "2.0" })];
  for (const zip of zips) await service.addDriver(zip);
  await service.app.backups.makeNow();
  const from = left.length;
  for (const id of [1, 2]) await deleteDriver(service, id);
  await service.addDriver(driverZip({ version: "3.0" }));
  assert.equal(readdirSync(join(dataDir, "backups", "files", "drivers")).length, 2);
  assert.ok(left.length > from + 20, "states of the disk");
  return countLost(from, zips.map(sha256Of));
}

/** The same for a start that restores one archive and moves another to `lost`. */
async function lostByTidying(t: TestContext, skipped?: RegExp): Promise<number> {
  const { dataDir, left, start, countLost } = await recordCuts(t, skipped);
  const service = await start();
  const [known, orphan] = [driverZip(), driverZip({ version: "2.0" })];
  await service.addDriver(known);
  await service.app.backups.makeNow();
  const before = readFileSync(join(dataDir, "platen.sqlite"));
  await deleteDriver(service, 1);
  await service.addDriver(orphan);
  await service.stop();
  // As after a manual return to an older database: one archive is among the kept files, the other is old and has no record.
  writeFileSync(join(dataDir, "platen.sqlite"), before);
  const name = `${sha256Of(orphan)}.zip`;
  utimesSync(join(dataDir, "drivers", name), 0, 0);
  const from = left.length;
  const next = await start();
  await next.addDriver(driverZip({ version: "3.0" }));
  assert.deepEqual(readdirSync(join(dataDir, "lost", "drivers")), [name]);
  assert.equal(readdirSync(join(dataDir, "drivers")).length, 2);
  assert.ok(statSync(join(dataDir, "lost", "drivers", name)).mtimeMs > 0);
  return countLost(from, [known, orphan].map(sha256Of));
}

test("an archive that only a backup needs survives a power cut at any time", async (t) => {
  assert.equal(await lostByDeletion(t), 0);
});

test("archives that a start restores or moves to lost survive a power cut at any time", async (t) => {
  assert.equal(await lostByTidying(t), 0);
});

const unsynced = [
  ["the folder of kept archives is", lostByDeletion, /^\/data\/backups\/files$/],
  ["a kept archive's new name is", lostByDeletion, /^\/data\/backups\/files\/drivers$/],
  ["the new name of a lost archive is", lostByTidying, /^\/data\/lost\/drivers$/],
  ["the folder of lost archives is", lostByTidying, /^\/data\/lost$/],
] as const;
for (const [what, run, skipped] of unsynced) {
  deepTest(`these power cuts detect that ${what} not synced`, async (t) => {
    assert.notEqual(await run(t, skipped), 0);
  });
}
