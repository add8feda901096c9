import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseClient } from "../../src/domain/printers/client.ts";
import { verifyAudit } from "../../src/store/audit/verify.ts";
import { restoreBackup } from "../../src/store/backup/full-restore.ts";
import { finishSwap, makeStaging, swapIn } from "../../src/store/backup/swap.ts";
import { unpackBackup } from "../../src/store/backup/unpacking.ts";
import { startApp } from "../support/app.ts";
import { backedUpFiles, openAt, recordsIn, runPlaten, startFullShop } from "../support/backup/backup.ts";
import { chunksOf } from "../support/backup/hostile-backups.ts";
import { command } from "../support/commands.ts";
import { editDatabase } from "../support/database.ts";
import { rounds } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { watchDisk } from "../support/durability/disk-calls.ts";
import { makeOnce } from "../support/filled.ts";

/**
 * A backup, and a DATA_DIR with later changes: another driver, another client, another secret. `old` and `now` are the digests
 * of their files, `oldRecords` and `nowRecords` the same from `recordsIn`.
 */
async function prepareTwoStates(t: TestContext) {
  const { folder, value } = await makeOnce(t, makeTwoStates);
  return { ...value, folder, dataDir: join(folder, "data"), file: join(folder, "all.tar") };
}

async function makeTwoStates(t: TestContext, folder: string) {
  const [dataDir, file] = [join(folder, "data"), join(folder, "all.tar")];
  const shop = await startFullShop(t, dataDir);
  await shop.stop();
  await command(dataDir, "backup", file);
  const [old, oldRecords] = [backedUpFiles(dataDir), await recordsIn(dataDir)];
  const later = await startApp(t, { dataDir, clock: Date.now });
  await later.addDriver(driverZip({ version: "9.0.0.0" }));
  await later.post("/clients", { name: "Later" });
  await later.stop();
  writeFileSync(join(dataDir, "secret"), Buffer.alloc(32, 1));
  return { old, oldRecords, now: backedUpFiles(dataDir), nowRecords: await recordsIn(dataDir) };
}

const namesWith = (dataDir: string, start: string) =>
  readdirSync(dataDir).filter((name) => name.startsWith(start));
const keptFolders = (dataDir: string) => namesWith(dataDir, "before-restore");
const chunks = (file: string) => chunksOf(readFileSync(file), 65_536);

test("a restore puts everything back and keeps the replaced files in a dated folder", async (t) => {
  const { dataDir, file, old, now, oldRecords } = await prepareTwoStates(t);

  const { status, stderr, stdout } = runPlaten(dataDir, "restore", file);
  const open = Object.keys(old).filter((name) => (statSync(join(dataDir, name)).mode & 0o77) !== 0);

  assert.deepEqual(open, [], "what everybody on the host may read");
  assert.deepEqual([status, stdout], [0, ""], stderr);
  const [kept = ""] = keptFolders(dataDir);
  assert.match(kept, /^before-restore-\d{4}-\d\d-\d\dT\d{6}Z$/);
  assert.match(
    stderr,
    new RegExp(
      `are in its folder ${kept}: delete that folder when everything works\\. The audit log is also that of the backup; later entries are only in ${kept}/audit, .*\\n`,
    ),
  );
  assert.deepEqual(backedUpFiles(join(dataDir, kept)), now);
  assert.deepEqual(await recordsIn(dataDir), oldRecords);
  const store = await openAt(dataDir);
  const client = await store.clients.add(parseClient({ name: "After" }));
  await store.close();
  assert.ok(client > 1000, "others may have had the numbers in between");
  assert.deepEqual(namesWith(dataDir, "restore"), []);
});

test("a restore is refused while a service is running, and does not disturb it", async (t) => {
  const { dataDir, file, now } = await prepareTwoStates(t);
  const service = await startApp(t, { dataDir, clock: Date.now });

  const { status, stderr } = await command(dataDir, "restore", file);
  const answer = await service.post("/clients", { name: "Still here" });

  assert.equal(status, 1);
  assert.match(stderr, /nothing was restored.*Another Platen is running on .*Stop it first/);
  assert.equal(answer.status, 200);
  assert.deepEqual(Object.keys(backedUpFiles(dataDir)), Object.keys(now));
});

/** Which disk calls fail. @param left the number of calls before the first failure */
const failures: Readonly<Record<string, (left: number) => boolean>> = {
  "the power fails": (left) => left <= 0,
  "the disk fails once": (left) => left === 0,
};
for (const [when, isFailing] of Object.entries(failures)) {
  test(`whenever ${when} during a restore, the folder has either the old state or the new one completely`, async (t) => {
    const { folder, dataDir, file, now, oldRecords, nowRecords } = await prepareTwoStates(t);
    const states: string[] = [];
    let left = Number.POSITIVE_INFINITY;
    await watchDisk(t, folder, ({ path }) => {
      if (!path.endsWith("/lease") && isFailing(--left)) throw new Error(when);
      return undefined;
    });

    for (let [call, isOver] = [1, false]; !isOver; call += rounds(21, 1)) {
      const copy = join(folder, `copy-${call}`);
      cpSync(dataDir, copy, { recursive: true, filter: (path) => !/lock-[0-9a-f]+$/.test(path) });
      left = call;
      await restoreBackup(chunks(file), { dataDir: copy, now: 0, log: () => {} }).catch(() => {});
      isOver = left > 0;
      left = Number.POSITIVE_INFINITY;
      await finishSwap(copy, () => {});
      const found = JSON.stringify(await recordsIn(copy));
      const [old, later] = [oldRecords, nowRecords].map((records) => JSON.stringify(records));
      states.push(found === old ? "new" : found === later ? "old" : "neither");
      if (states.at(-1) === "new")
        assert.deepEqual(backedUpFiles(join(copy, "before-restore-1970-01-01T000000Z")), now, `call ${call}`);
      assert.deepEqual(namesWith(copy, "restore."), []);
      await (await openAt(copy)).close();
      assert.equal((await verifyAudit(copy)).broken, undefined, `call ${call}`);
    }

    const [old, later] = ["old", "new"].map((state) => states.filter((found) => found === state).length);
    t.diagnostic(`${states.length} failures, after ${old} of them the old state`);
    assert.ok(Number(old) > rounds(0, 30) && Number(later) > rounds(0, 30), states.join());
    assert.equal(Number(old) + Number(later), states.length, states.join());
    if (when === "the power fails") assert.equal(states.indexOf("new"), old, states.join());
  });
}

test("a backup that is incomplete or missing replaces nothing, and a newer database is not backed up", async (t) => {
  const { folder, dataDir, file, now } = await prepareTwoStates(t);
  const newer = join(folder, "newer");
  await command(newer, "restore", file);
  await editDatabase(join(newer, "platen.sqlite"), (db) => db.exec("PRAGMA user_version = 9999"));
  const cut = join(folder, "cut.tar");
  writeFileSync(cut, readFileSync(file).subarray(0, 30_000));

  const refusedBackup = await command(newer, "backup", join(folder, "newer.tar"));
  const refused = await command(dataDir, "restore", cut);
  const missing = await command(dataDir, "restore", join(folder, "none.tar"));

  assert.match(refusedBackup.stderr, /was written by a newer Platen/);
  assert.match(refused.stderr, /it ends too early: a copy of it broke off/);
  assert.match(missing.stderr, /ENOENT/);
  assert.deepEqual([refusedBackup.status, refused.status, missing.status], [1, 1, 1]);
  assert.deepEqual(backedUpFiles(dataDir), now);
  assert.deepEqual(keptFolders(dataDir), []);
});

test("the next start finishes an interrupted restore, and until then a backup is refused", async (t) => {
  const { folder, dataDir, file, old } = await prepareTwoStates(t);
  await unpackBackup(chunks(file), await makeStaging(dataDir));
  const kept = join(dataDir, "before-restore-1970-01-01T000000Z");
  renameSync(join(dataDir, "restore.new"), join(dataDir, "restore.ready-1970-01-01T000000Z"));
  mkdirSync(kept);
  renameSync(join(dataDir, "platen.sqlite"), join(kept, "platen.sqlite"));

  const refused = await command(dataDir, "backup", join(folder, "half.tar"));
  const service = await startApp(t, { dataDir, clock: Date.now });
  await service.stop();

  assert.match(refused.stderr, /a restore of .* is not finished: start Platen/);
  assert.deepEqual(service.lines, [
    "a restore that was interrupted is finished: what was there, also later entries of the audit log, is in before-restore-1970-01-01T000000Z",
  ]);
  assert.deepEqual(backedUpFiles(dataDir), old);
});

test("a second restore in the same second keeps the first one’s folder", async (t) => {
  const { dataDir, file } = await prepareTwoStates(t);
  for (let i = 0; i < 2; i++) {
    await unpackBackup(chunks(file), await makeStaging(dataDir));
    await swapIn(dataDir, 0);
  }

  const times = keptFolders(dataDir).map((name) => name.slice("before-restore-".length));
  assert.deepEqual(times, ["1970-01-01T000000Z", "1970-01-01T000001Z"]);
});
