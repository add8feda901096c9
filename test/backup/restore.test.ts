import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { verifyAudit } from "../../src/store/audit/verify.ts";
import { restoreBackup } from "../../src/store/backup/full-restore.ts";
import { finishSwap, makeStaging, swapIn } from "../../src/store/backup/swap.ts";
import { unpackBackup } from "../../src/store/backup/unpacking.ts";
import { openStore } from "../../src/store/store.ts";
import { bundle, startApp } from "../support/app.ts";
import { lastingIn, platen, recordsIn, startFullShop } from "../support/backup/backup.ts";
import { command } from "../support/commands.ts";
import { editDatabase } from "../support/database.ts";
import { rounds } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { watchDisk } from "../support/durability/disk-calls.ts";
import { madeOnce } from "../support/filled.ts";
import { until } from "../support/until.ts";

interface Two {
  readonly folder: string;
  readonly dataDir: string;
  readonly file: string;
  /** What the backup holds, and what DATA_DIR has become since. */
  readonly old: Record<string, string>;
  readonly now: Record<string, string>;
  /** The same as `recordsIn` has it. */
  readonly oldRecords: Record<string, string>;
  readonly nowRecords: Record<string, string>;
}

/** A backup, and a DATA_DIR that has changed since: another driver, another client, no icon, another secret. */
async function twoStates(t: TestContext): Promise<Two> {
  const { folder, value } = await madeOnce(t, makeTwoStates);
  return { ...value, folder, dataDir: join(folder, "data"), file: join(folder, "all.tar") };
}

async function makeTwoStates(
  t: TestContext,
  folder: string,
): Promise<Omit<Two, "folder" | "dataDir" | "file">> {
  const [dataDir, file] = [join(folder, "data"), join(folder, "all.tar")];
  const shop = await startFullShop(t, dataDir);
  await shop.stop();
  await command(dataDir, "backup", file);
  const old = lastingIn(dataDir);
  const oldRecords = await recordsIn(dataDir);
  const later = await startApp(t, { dataDir, clock: Date.now });
  await later.addDriver(driverZip({ version: "9.0.0.0" }));
  await later.post("/clients", { name: "Later" });
  await later.stop();
  writeFileSync(join(dataDir, "secret"), Buffer.alloc(32, 1));
  const now = lastingIn(dataDir);
  return { old, now, oldRecords, nowRecords: await recordsIn(dataDir) };
}

/** What there is but for the audit log. */
function besidesLog({ "platen.sqlite": database = "[]", ...files }: Record<string, string>): string {
  const tables = (JSON.parse(database) as [string][]).filter(([name]) => name !== "audit_places");
  return JSON.stringify([tables, Object.entries(files).filter(([name]) => !name.startsWith("audit/"))]);
}

const keptFolders = (dataDir: string) =>
  readdirSync(dataDir).filter((name) => name.startsWith("before-restore"));

test("a restore puts everything back, and keeps what was in a dated folder", async (t) => {
  const { dataDir, file, old, now, oldRecords } = await twoStates(t);

  const { status, stderr } = platen(dataDir, "restore", file);
  const open = Object.keys(old).filter((name) => (statSync(join(dataDir, name)).mode & 0o77) !== 0);

  assert.deepEqual(open, [], "what everybody on the host may read");
  assert.equal(status, 0, stderr);
  const [kept = ""] = keptFolders(dataDir);
  assert.match(kept, /^before-restore-\d{4}-\d\d-\d\dT\d{6}Z$/);
  assert.match(
    stderr,
    new RegExp(
      `is kept in its folder ${kept}: delete that when all is well\\. The audit log is that of the backup’s time, too: later entries stand in ${kept}/audit alone, .*\\n`,
    ),
  );
  assert.deepEqual(lastingIn(join(dataDir, kept)), now);
  assert.deepEqual(await recordsIn(dataDir), oldRecords);
  const store = await openStore(dataDir, Date.now, () => {});
  const client = await store.clients.add({ name: "After", notes: "", subnets: [] });
  await store.close();
  assert.ok(client > 1000, "others may have had the numbers in between");
  assert.deepEqual(
    readdirSync(dataDir).filter((name) => name.startsWith("restore")),
    [],
  );
});

test("a running service refuses a restore, and is not disturbed", async (t) => {
  const { dataDir, file, now } = await twoStates(t);
  const service = await startApp(t, { dataDir, clock: Date.now });

  const { status, stderr } = await command(dataDir, "restore", file);
  const answer = await service.post("/clients", { name: "Still here" });

  assert.equal(status, 1);
  assert.match(stderr, /nothing was restored.*Another Platen is running on .*Stop it first/);
  assert.equal(answer.status, 200);
  assert.deepEqual(Object.keys(lastingIn(dataDir)), Object.keys(now));
});

/** Which calls of the disk fail, by how many there are still until the first that does. */
const failures: Readonly<Record<string, (left: number) => boolean>> = {
  "the power fails": (left) => left <= 0,
  "the disk fails once": (left) => left === 0,
};
for (const [when, isFailing] of Object.entries(failures)) {
  test(`whenever ${when}, what is there is all of the old state or all of the new one`, async (t) => {
    const { folder, dataDir, file, now, oldRecords, nowRecords } = await twoStates(t);
    const states: string[] = [];
    let left = Number.POSITIVE_INFINITY;
    await watchDisk(t, folder, ({ path }) => {
      if (!path.endsWith("/lease") && isFailing(--left)) throw new Error(when);
      return undefined;
    });

    for (let [call, isOver] = [1, false]; !isOver; call += rounds(6, 1)) {
      const copy = join(folder, `copy-${call}`);
      cpSync(dataDir, copy, { recursive: true, filter: (path) => !/lock-[0-9a-f]+$/.test(path) });
      left = call;
      await restoreBackup(chunksOf(file), { dataDir: copy, now: 0, log: () => {} }).catch(() => {});
      isOver = left > 0;
      left = Number.POSITIVE_INFINITY;
      await finishSwap(copy, () => {});
      const found = JSON.stringify(await recordsIn(copy));
      const [old, later] = [oldRecords, nowRecords].map((records) => JSON.stringify(records));
      states.push(found === old ? "new" : found === later ? "old" : "neither");
      if (states.at(-1) === "new")
        assert.deepEqual(lastingIn(join(copy, "before-restore-1970-01-01T000000Z")), now, `call ${call}`);
      assert.deepEqual(
        readdirSync(copy).filter((name) => name.startsWith("restore.")),
        [],
      );
      await (await openStore(copy, Date.now, () => {})).close();
    }

    const [old, later] = ["old", "new"].map((state) => states.filter((found) => found === state).length);
    t.diagnostic(`${states.length} failures, after ${old} of them the old state`);
    assert.ok(Number(old) > rounds(3, 30) && Number(later) > rounds(3, 30), states.join());
    assert.equal(Number(old) + Number(later), states.length, states.join());
    if (when === "the power fails") assert.equal(states.indexOf("new"), old, states.join());
  });
}

/** When a restore is killed: as soon as its files are there, and in the deep tier also after some time. */
const killMoments: readonly ((dataDir: string, child: ChildProcess) => Promise<unknown>)[] = [
  ...["restore.new", "restore.ready"].map(
    (begin) => (dataDir: string, child: ChildProcess) =>
      until(() => readdirSync(dataDir).some((name) => name.startsWith(begin)) || child.exitCode !== null),
  ),
  ...Array.from({ length: rounds(0, 12) }, (_, i) => () => setTimeout(80 + 40 * i)),
];

test("a restore that is killed at any moment leaves a folder that starts, with all of one state", async (t) => {
  const { folder, dataDir, file, oldRecords, nowRecords } = await twoStates(t);
  const env = (copy: string) => ({ PATH: process.env.PATH, DATA_DIR: copy });

  for (const [i, moment] of killMoments.entries()) {
    const copy = join(folder, `killed-${i}`);
    cpSync(dataDir, copy, { recursive: true });
    const child = spawn(process.execPath, [bundle, "restore", file], { env: env(copy), stdio: "ignore" });
    const exited = once(child, "exit");
    await moment(copy, child);
    child.kill("SIGKILL");
    await exited;
    await (await openStore(copy, Date.now, () => {})).close();
    const found = besidesLog(await recordsIn(copy));
    const { broken } = await verifyAudit(copy);

    // The log of what was restored has a line about that.
    assert.equal(broken, undefined, `kill ${i}`);
    assert.ok([oldRecords, nowRecords].map(besidesLog).includes(found), `kill ${i}: ${found}`);
  }
});

test("a backup whose database is damaged, or newer, or is not all there, replaces nothing", async (t) => {
  const { folder, dataDir, file, now } = await twoStates(t);
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
  assert.deepEqual(lastingIn(dataDir), now);
  assert.deepEqual(keptFolders(dataDir), []);
});

test("what an interrupted restore left is finished by the next start, and no backup is made before", async (t) => {
  const { folder, dataDir, file, old } = await twoStates(t);
  await unpackBackup(chunksOf(file), await makeStaging(dataDir));
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
  assert.deepEqual(lastingIn(dataDir), old);
});

test("a second restore in the same second keeps the first one’s folder", async (t) => {
  const { folder, dataDir, file } = await twoStates(t);
  for (const name of ["a", "b"]) {
    await unpackBackup(chunksOf(file), await makeStaging(dataDir));
    rmSync(join(folder, name), { recursive: true, force: true });
    await swapIn(dataDir, 0);
  }

  assert.deepEqual(keptFolders(dataDir), [
    "before-restore-1970-01-01T000000Z",
    "before-restore-1970-01-01T000001Z",
  ]);
});

async function* chunksOf(file: string): AsyncGenerator<Buffer> {
  const bytes = readFileSync(file);
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}
