import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { startClosed } from "../support/access/people.ts";
import { groupedProxies } from "../support/access/proxies.ts";
import { client, startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { sha256Of } from "../support/backup/backup.ts";
import { remove } from "../support/backup/deletions.ts";
import { deepTest, selectCases } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { hasProblemsAfterCuts, problemsAfterCuts } from "../support/durability/cut-states.ts";
import { RecordedDisk, writeLeft } from "../support/durability/power-cuts.ts";
import { writeKinds } from "../support/durability/write-kinds.ts";
import { makePng } from "../support/printers/png.ts";
import { makeDriver } from "../support/records.ts";

// A power cut comes after every call that changes the disk. The disk keeps some or all of the unsynced changes.

/** Without sign-in: writes of clients, drivers, printers, icons and deletions. */
const drivers = {
  start: (t: TestContext, dataDir: string) => startApp(t, { dataDir }),
  async work({ post, fetch, upload, app, addPrinter }: TestApp, acknowledged: () => void): Promise<void> {
    const done = async (ask: () => Promise<Response>) => {
      const answer = await ask();
      assert.equal(answer.status, 200, await answer.text());
      acknowledged();
    };
    const remove = (path: string) => () => fetch(path, { method: "DELETE" });
    await done(() => post("/clients", { name: "A" }));
    for (const version of ["1.0", "2.0"]) await done(() => upload("/drivers/upload", driverZip({ version })));
    await addPrinter({ name: "P", driver_id: "1" });
    acknowledged();
    await done(() => upload("/printers/1/icon", makePng(), "icon.png"));
    await done(remove("/clients/1"));
    await done(() => post(`/deletions/${app.undo.list()[0]?.id}/undo`, {}));
    await done(remove("/drivers/2"));
    await done(remove(`/deletions/${app.undo.list()[0]?.id}`));
    await done(() => post("/import", { text: "name,address\nQ,10.0.0.1\n" }));
    await done(remove("/printers/1"));
  },
};

/** With sign-in: writes of accounts, sessions, tokens, links and icons. */
const people = {
  async start(t: TestContext, dataDir: string): Promise<TestApp> {
    const service = await startClosed(t, { dataDir, proxies: groupedProxies() });
    return {
      ...service,
      ...client(service.url, { "remote-user": "boss", "remote-groups": "platen-admins" }),
    };
  },
  async work(service: TestApp, acknowledged: () => void): Promise<void> {
    await service.addDriver(driverZip({ version: "0.1" }));
    acknowledged();
    for (const [n, name] of selectCases(accessWrites, 5).entries()) {
      const { prepare, act } = writeKinds[name] ?? assert.fail(name);
      const id = (await prepare?.(service, n)) ?? 0;
      acknowledged();
      const answer = await act(service, id, n);
      assert.ok(answer.status < 400, `${name}: ${answer.status} ${await answer.text()}`);
      acknowledged();
    }
  },
};
const accessWrites = [
  ...["a new account", "a disabled account", "a deleted account"],
  ...["a new one-time password", "a chosen password"],
  ...["a sign-in", "an ended session", "a sign-out"],
  ...["a new token", "a revoked token", "a printer whose links are revoked"],
  ...["a replaced icon", "a deleted icon", "a changed printer"],
];

const hasProblems = (t: TestContext, skipped: RegExp) => hasProblemsAfterCuts(t, drivers, skipped);

for (const [what, work] of Object.entries({ drivers, people })) {
  test(`${what}: after any power cut, the next start finds all acknowledged writes, and the audit log has them`, async (t) => {
    const { wrong, count } = await problemsAfterCuts(t, work);

    t.diagnostic(`${count} states of the disk`);
    assert.ok(count > 100, `${count}`);
    assert.deepEqual(wrong, []);
  });
}

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
  /** Whether one of these states lacks one of these archives. */
  const isLost = (from: number, digests: readonly string[]) =>
    left.slice(from).some((state) => !digests.every((sha256) => existsAnywhere(state, sha256)));
  return { dataDir, left, start, isLost };
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

/** Whether a power cut loses an archive which was deleted but is still in a backup. */
async function losesByDeletion(t: TestContext, skipped?: RegExp): Promise<boolean> {
  const { dataDir, left, start, isLost } = await recordCuts(t, skipped);
  const service = await start();
  const zips = [driverZip(), driverZip({ version: "2.0" })];
  for (const zip of zips) await service.addDriver(zip);
  await service.app.backups.makeNow();
  const from = left.length;
  for (const id of [1, 2]) await deleteDriver(service, id);
  await service.addDriver(driverZip({ version: "3.0" }));
  assert.equal(readdirSync(join(dataDir, "backups", "files", "drivers")).length, 2);
  assert.ok(left.length > from + 20, "states of the disk");
  return isLost(from, zips.map(sha256Of));
}

/** The same for a start that restores one archive and moves another to `lost`. */
async function losesByTidying(t: TestContext, skipped?: RegExp): Promise<boolean> {
  const { dataDir, left, start, isLost } = await recordCuts(t, skipped);
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
  return isLost(from, [known, orphan].map(sha256Of));
}

test("an archive that only a backup needs survives a power cut at any time", async (t) => {
  assert.equal(await losesByDeletion(t), false);
});

deepTest("archives that a start restores or moves to lost survive a power cut at any time", async (t) => {
  assert.equal(await losesByTidying(t), false);
});

/** Skipped syncs, the paths that they concern, and whether the power cuts then find a problem. */
const unsynced: readonly (readonly [
  string,
  RegExp,
  (t: TestContext, skipped: RegExp) => Promise<boolean>,
])[] = [
  ["the database's bytes are", /sqlite\.new$/, hasProblems],
  ["the database's new name is", /^\/data$/, hasProblems],
  ["an upload's bytes are", /^\/data\/incoming\/[0-9a-f-]{36}$/, hasProblems],
  ["an archive's new name is", /^\/data\/drivers$/, hasProblems],
  ["the data folder is", /^$/, hasProblems],
  ["the audit log is", /^\/data\/audit\/[0-9-]+\.jsonl$/, hasProblems],
  ["the folder of kept archives is", /^\/data\/backups\/files$/, losesByDeletion],
  ["a kept archive's new name is", /^\/data\/backups\/files\/drivers$/, losesByDeletion],
  ["the new name of a lost archive is", /^\/data\/lost\/drivers$/, losesByTidying],
  ["the folder of lost archives is", /^\/data\/lost$/, losesByTidying],
];
for (const [what, skipped, findsProblem] of unsynced) {
  deepTest(`the power cuts detect that ${what} not synced`, async (t) => {
    assert.ok(await findsProblem(t, skipped));
  });
}
