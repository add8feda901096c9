import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { parseClient } from "../../src/domain/printers/client.ts";
import { verifyAudit } from "../../src/store/audit/verify.ts";
import { FullBackup } from "../../src/store/backup/full-backup.ts";
import { restoreBackup, unpackBackup } from "../../src/store/backup/full-restore.ts";
import { finishSwap, makeStaging, swapIn } from "../../src/store/backup/swap.ts";
import { bundle, startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { backedUpFiles, openAt, recordsIn, startFullShop } from "../support/backup/backup.ts";
import { chunksOf } from "../support/backup/hostile-backups.ts";
import { withoutProc } from "../support/children.ts";
import { command } from "../support/commands.ts";
import { editDatabase } from "../support/database.ts";
import { deepTest, rounds } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { watchDisk } from "../support/durability/disk-calls.ts";
import { makeOnce } from "../support/filled.ts";
import { until } from "../support/until.ts";

const makeShop = async (t: TestContext, folder: string) =>
  (await startFullShop(t, join(folder, "data"))).stop();

/** A folder with the data of a stopped service in `data`, and paths beside it. */
async function shopFolder(t: TestContext) {
  const { folder } = await makeOnce(t, makeShop);
  const [dataDir = "", file = "", other = ""] = ["data", "all.tar", "other"].map((name) =>
    join(folder, name),
  );
  const drivers = join(dataDir, "drivers");
  return { folder, dataDir, file, other, drivers, env: { PATH: process.env.PATH, DATA_DIR: dataDir } };
}

const pythonNames =
  "import tarfile,sys\nt=tarfile.open(sys.argv[1])\nfor m in t: print(m.name, m.size, oct(m.mode), m.isfile())";

test("a backup of a running service is restored completely into an empty folder", async (t) => {
  const { dataDir, file, other, folder } = await shopFolder(t);
  const shop = await startApp(t, { dataDir, clock: Date.now });
  await shop.app.store.audit.flush();
  const cut = '{"seq":1}\n{"seq":2}\n{"se';
  writeFileSync(join(dataDir, "audit", "notes.jsonl"), cut);

  const made = await command(dataDir, "backup", file);
  const restored = await command(other, "restore", file);
  const before = await recordsIn(dataDir);
  const after = await recordsIn(other);

  assert.deepEqual([made.status, restored.status], [0, 0]);
  assert.match(made.stderr, /^8 files, \d+ bytes in .*all\.tar\n$/);
  assert.match(
    restored.stderr,
    /^Restored the state of .*: 1 client, 1 driver, 1 printer\.\nAccounts, .* These have access:\n {2}no account and no token\nAll links have ended, .* Start Platen now\.\n$/,
  );
  assert.equal(readFileSync(join(other, "audit", "notes.jsonl"), "utf8"), '{"seq":1}\n{"seq":2}\n');
  assert.deepEqual(after, { ...before, "audit/notes.jsonl": after["audit/notes.jsonl"] });
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(statSync(join(other, "secret")).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder).sort(), ["all.tar", "data", "other"]);
});

test("tar and Python read a backup, and tar unpacks all of its files", async (t) => {
  const { dataDir, file, other } = await shopFolder(t);

  await command(dataDir, "backup", file);
  mkdirSync(other);
  const listed = execFileSync("tar", ["-tf", file], { encoding: "utf8" }).trim().split("\n");
  const quiet = spawnSync("tar", ["-xf", file, "-C", other], { encoding: "utf8" });
  const seen = execFileSync("python3", ["-c", pythonNames, file], { encoding: "utf8" }).trim().split("\n");
  const found = backedUpFiles(other);

  const names = seen.map((line) => line.split(" ")[0]);
  assert.equal(quiet.stderr, "");
  assert.deepEqual(names, listed);
  for (const line of seen) assert.match(line, / 0o600 True$/);
  assert.deepEqual(found, backedUpFiles(dataDir));
  assert.equal(statSync(file).size % 512, 0);
});

test("an existing file is replaced only with --force, and a failed backup leaves no file", async (t) => {
  const { folder, dataDir, file } = await shopFolder(t);
  writeFileSync(file, "somebody’s");

  const refused = await command(dataDir, "backup", file);
  const kept = readFileSync(file, "utf8");
  const forced = await command(dataDir, "backup", "--force", file);
  const nowhere = await command(join(folder, "none"), "backup", join(folder, "second.tar"));
  writeFileSync(join(dataDir, "platen.sqlite"), "no database");
  const damaged = await command(dataDir, "backup", join(folder, "third.tar"));
  await (await openAt(join(folder, "newer"))).close();
  await editDatabase(join(folder, "newer", "platen.sqlite"), (db) => db.exec("PRAGMA user_version = 9999"));
  const newer = await command(join(folder, "newer"), "backup", join(folder, "fourth.tar"));
  const wrong = await Promise.all(
    [[], ["a", "b"], ["--all"]].map((args) => command(dataDir, "backup", ...args)),
  );

  assert.deepEqual([refused.status, kept, forced.status], [1, "somebody’s", 0]);
  assert.match(refused.stderr, /is there already/);
  assert.match(nowhere.stderr, /platen\.sqlite is not there: DATA_DIR says where the data is/);
  assert.match(damaged.stderr, /cannot be read as a database[\s\S]*Started with --recover, Platen goes on/);
  assert.match(newer.stderr, /was written by a newer Platen/);
  assert.ok(wrong.every(({ status }) => status === 2));
  assert.deepEqual(readdirSync(folder).sort(), ["all.tar", "data", "newer"]);
});

deepTest("a full disk or a signal leaves no part of a backup", async (t) => {
  const { folder, dataDir, env } = await shopFolder(t);
  const shop = await startApp(t, { dataDir, clock: Date.now });
  await addNoise(shop, rounds(2, 8));
  await shop.stop();
  const target = join(folder, "out");
  mkdirSync(target);

  const limited = spawnSync(
    "bash",
    ["-c", `ulimit -f 512; exec "${process.execPath}" "${bundle}" backup "${target}/a.tar"`],
    { env, encoding: "utf8" },
  );
  const stopped = spawn(process.execPath, [bundle, "backup", join(target, "b.tar")], { env });
  await until(() => readdirSync(target).length > 0);
  stopped.kill("SIGTERM");
  const code = await new Promise((resolve) => stopped.on("exit", resolve));

  assert.deepEqual([limited.status, limited.stdout], [1, ""]);
  assert.match(limited.stderr, /no backup was made: EFBIG/);
  assert.ok(code === 1 || (code === 0 && readdirSync(target).length === 1), String(code));
  assert.ok(readdirSync(target).every((name) => !name.endsWith(".part")));
});

deepTest("a backup made during changes has all files that its database names", async (t) => {
  const [dataDir, folder] = [await temporaryFolder(t), await temporaryFolder(t)];
  const shop = await startApp(t, { dataDir, backups: 0, clock: Date.now });
  await addNoise(shop, 5);
  let deleted = 0;
  const backup = new FullBackup({ dataDir, version: "1", now: 0 });
  const chunks: Buffer[] = [];

  for await (const chunk of backup.chunks()) {
    chunks.push(Buffer.from(chunk));
    if (deleted === 3) continue;
    deleted++;
    const [last] = shop.app.store.drivers.list().slice(-1);
    await shop.fetch(`/drivers/${last?.id}`, { method: "DELETE" });
    for (const { id } of shop.app.undo.list()) await shop.post(`/deletions/${id}/delete`, {});
    await until(() => readdirSync(join(dataDir, "drivers")).length === 5 - deleted);
  }
  const file = join(folder, "all.tar");
  writeFileSync(file, Buffer.concat(chunks));
  const restored = await command(join(folder, "other"), "restore", file);

  assert.deepEqual(backup.manifest.missing, []);
  assert.equal(restored.status, 0, restored.stderr);
  assert.doesNotMatch(restored.stderr, /warning/);
});

test("missing and damaged files are reported, and the rest is backed up", async (t) => {
  const { dataDir, file, other, drivers } = await shopFolder(t);
  const shop = await startApp(t, { dataDir, clock: Date.now });
  await shop.addDriver(driverZip({ version: "8.0.0.0" }));
  await shop.stop();
  const [first = "", second = ""] = readdirSync(drivers);
  rmSync(join(drivers, first));
  writeFileSync(join(drivers, second), "rotten");

  const made = await command(dataDir, "backup", file);
  const restored = await command(other, "restore", file);

  assert.deepEqual([made.status, restored.status], [0, 0]);
  assert.ok(made.stderr.includes(`warning: drivers/${first} is missing in DATA_DIR`), made.stderr);
  assert.ok(made.stderr.includes(`warning: drivers/${second} is damaged in DATA_DIR`), made.stderr);
  assert.ok(restored.stderr.includes(`warning: drivers/${first} is not in this backup`), restored.stderr);
  assert.ok(
    restored.stderr.includes(`warning: drivers/${second} is damaged in this backup`),
    restored.stderr,
  );
  assert.deepEqual(await recordsIn(other), await recordsIn(dataDir));
});

deepTest(
  "a large backup is piped into a restore, and the memory of both does not grow with its size",
  {
    skip: withoutProc,
  },
  async (t) => {
    const { drivers, dataDir, other, env } = await shopFolder(t);
    const archive = join("drivers", readdirSync(drivers)[0] ?? "");
    truncateSync(join(dataDir, archive), 400 << 20);

    const backup = spawn(process.execPath, [bundle, "backup", "-"], { env });
    const restore = spawn(process.execPath, [bundle, "restore", "-"], { env: { ...env, DATA_DIR: other } });
    const ended = [backup, restore].map((child) => new Promise((resolve) => child.on("close", resolve)));
    const said = text(backup.stderr);
    backup.stdout.pipe(restore.stdin);
    let peak = 0;
    backup.stdout.on("data", () => {
      for (const { pid } of [backup, restore]) {
        const status = readFileSync(`/proc/${pid}/status`, "utf8");
        peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
      }
    });
    const codes = await Promise.all(ended);

    assert.deepEqual(codes, [0, 0]);
    assert.match(await said, /is damaged in DATA_DIR, and so in this backup\n7 files, \d+ bytes\n$/);
    assert.equal(statSync(join(other, archive)).size, 400 << 20);
    assert.deepEqual(await recordsIn(other), await recordsIn(dataDir));
    assert.ok(peak > 10 && peak < 160, `${peak} MB`);
  },
);

/** Adds drivers, each with a file of random bytes, which a ZIP cannot compress. */
async function addNoise({ addDriver }: TestApp, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const bytes = createHash("shake256", { outputLength: 600_000 }).update(String(i)).digest();
    await addDriver(driverZip({ version: `${i}.1.0.0`, extra: [{ name: `noise-${i}.bin`, bytes }] }));
  }
}

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
  rmSync(join(dataDir, "secret"));
  await (await openAt(dataDir)).close();
  return { old, oldRecords, now: backedUpFiles(dataDir), nowRecords: await recordsIn(dataDir) };
}

const namesWith = (dataDir: string, start: string) =>
  readdirSync(dataDir).filter((name) => name.startsWith(start));
const keptFolders = (dataDir: string) => namesWith(dataDir, "before-restore");
const chunks = (file: string) => chunksOf(readFileSync(file), 65_536);

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
      states.push(found === old ? "restored" : found === later ? "untouched" : "neither");
      if (states.at(-1) === "restored")
        assert.deepEqual(backedUpFiles(join(copy, "before-restore-1970-01-01T000000Z")), now, `call ${call}`);
      assert.deepEqual(namesWith(copy, "restore."), []);
      await (await openAt(copy)).close();
      assert.equal((await verifyAudit(copy)).broken, undefined, `call ${call}`);
    }

    const countOf = (state: string) => states.filter((found) => found === state).length;
    const [untouched, restored] = [countOf("untouched"), countOf("restored")];
    t.diagnostic(`${states.length} failures, after ${untouched} of them the state from before`);
    assert.ok(untouched > rounds(0, 30) && restored > rounds(0, 30), states.join());
    assert.equal(untouched + restored, states.length, states.join());
    if (when === "the power fails") assert.equal(states.indexOf("restored"), untouched, states.join());
  });
}

test("a restore puts everything back and keeps the replaced files in a dated folder; an incomplete or missing backup replaces nothing", async (t) => {
  const { folder, dataDir, file, old, now, oldRecords } = await prepareTwoStates(t);
  const cut = join(folder, "cut.tar");
  writeFileSync(cut, readFileSync(file).subarray(0, 30_000));

  const refused = await command(dataDir, "restore", cut);
  const missing = await command(dataDir, "restore", join(folder, "none.tar"));
  const before = { files: backedUpFiles(dataDir), kept: keptFolders(dataDir) };
  const { status, stderr } = await command(dataDir, "restore", file);
  const open = Object.keys(old).filter((name) => (statSync(join(dataDir, name)).mode & 0o77) !== 0);
  const records = await recordsIn(dataDir);
  const store = await openAt(dataDir);
  const client = await store.clients.add(parseClient({ name: "After" }));
  await store.close();

  assert.match(refused.stderr, /it ends too early: a copy of it broke off/);
  assert.match(missing.stderr, /ENOENT/);
  assert.deepEqual([refused.status, missing.status, status], [1, 1, 0], stderr);
  assert.deepEqual(before, { files: now, kept: [] });
  const [kept = ""] = keptFolders(dataDir);
  assert.match(kept, /^before-restore-\d{4}-\d\d-\d\dT\d{6}Z$/);
  const said = `are in its folder ${kept}: delete that folder when everything works\\. The audit log is also that of the backup; later entries are only in ${kept}/audit, .*\\n`;
  assert.match(stderr, new RegExp(said));
  assert.deepEqual(backedUpFiles(join(dataDir, kept)), now);
  assert.deepEqual(records, oldRecords);
  assert.deepEqual(open, [], "what everybody on the host may read");
  assert.ok(client > 1000, "others may have had the numbers in between");
  assert.deepEqual(namesWith(dataDir, "restore"), []);
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
