import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { parseClient } from "../../src/domain/printers/client.ts";
import { Database } from "../../src/store/database/database.ts";
import { lockFolder } from "../../src/store/database/lock.ts";
import { SavedFile } from "../../src/store/database/saved-file.ts";
import { pagesOf } from "../../src/store/database/seal.ts";
import { openStore } from "../../src/store/store.ts";
import { bundle, client, temporaryFolder } from "../support/app.ts";
import { openAt } from "../support/backup/backup.ts";
import { cleanUp } from "../support/clean-up.ts";
import { deepTest } from "../support/depth.ts";
import { watchDisk } from "../support/durability/disk-calls.ts";
import { serve } from "../support/service.ts";
import { until } from "../support/until.ts";

const insert = (db: Database, name: string) =>
  db.all("INSERT INTO clients (name, name_key, notes, created_at) VALUES (?, ?, '', 0)", [name, name]);
const namesIn = (db: Database) => db.all("SELECT name FROM clients ORDER BY id").map(({ name }) => name);

/** A database whose saves wait. Its file was written before. */
async function openWithHeldSaves(t: TestContext) {
  const folder = await temporaryFolder(t);
  const path = join(folder, "platen.sqlite");
  (await Database.open(path)).close();
  const db = await Database.open(path);
  cleanUp(t, () => db.close());
  const saves: { done: (value: undefined) => void; fail: (error: Error) => void }[] = [];
  await watchDisk(t, folder, ({ name, path: renamed }) => {
    if (name !== "rename" || !renamed.endsWith(".new")) return undefined;
    return new Promise<undefined>((done, fail) => saves.push({ done, fail }));
  });
  return {
    db,
    add: (name: string) => db.write(() => insert(db, name)),
    /** The number of saves so far. */
    count: () => saves.length,
    saving: (count: number) => until(() => saves.length === count),
    /** Completes or fails the last save. */
    goOn: (error?: Error) => (error ? saves.at(-1)?.fail(error) : saves.at(-1)?.done(undefined)),
    saved: async () => {
      const copy = await Database.openCopy(path, new Uint8Array(readFileSync(path)));
      const names = namesIn(copy);
      copy.close();
      return names;
    },
  };
}

/** Whether a promise is settled after 20 ms. */
function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const settled = promise.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, setTimeout(20, false)]);
}

test("a write changes the memory at once, is acknowledged when it is on disk, and later writes share the next save", async (t) => {
  const { db, add, saving, goOn, saved, count } = await openWithHeldSaves(t);
  const before = db.version;

  const written = db.write(() => {
    insert(db, "1");
    return namesIn(db);
  });
  const atOnce = { names: namesIn(db), isOther: db.version !== before };
  await saving(1);
  const others = Promise.all(["2", "3", "4"].map(add));
  const during = { isSettled: await isSettled(written), saved: await saved() };
  goOn();
  const within = await written;
  const afterFirst = await saved();
  await saving(2);
  goOn();
  await others;

  assert.deepEqual(within, ["1"]);
  assert.deepEqual(atOnce, { names: ["1"], isOther: true });
  assert.deepEqual(during, { isSettled: false, saved: [] });
  assert.deepEqual(afterFirst, ["1"], "nothing of a write after it is in a save");
  assert.deepEqual(await saved(), ["1", "2", "3", "4"]);
  assert.equal(count(), 2);
});

test("a failed save reverts everything that is not on disk, and its version is never used again", async (t) => {
  const { db, add, saving, goOn, saved } = await openWithHeldSaves(t);
  const seen = new Set([db.version]);

  const lost = add("Lost");
  seen.add(db.version);
  await saving(1);
  const lostToo = add("Built on it");
  seen.add(db.version);
  goOn(new Error("refused"));
  await assert.rejects(lost, /refused/);
  await assert.rejects(lostToo, /refused/);
  const after = { names: namesIn(db), isSeen: seen.has(db.version), saved: await saved() };
  const kept = add("Kept");
  await saving(2);
  goOn();
  await kept;

  assert.deepEqual(after, { names: [], isSeen: false, saved: [] });
  assert.deepEqual(await saved(), ["Kept"]);
});

for (const code of ["ENOSPC", "EDQUOT", "EFBIG"]) {
  test(`on a full disk (${code}) a write that frees space is repeated without the refused writes`, async (t) => {
    const { db, add, saving, goOn, saved } = await openWithHeldSaves(t);
    const begun = add("Old");
    await saving(1);
    goOn();
    await begun;

    const added = add("New");
    const tries: boolean[] = [];
    const deleted = db.freeingWrite((isFinal) => {
      tries.push(isFinal);
      db.all("DELETE FROM clients WHERE name = 'Old'");
      return namesIn(db);
    });
    await saving(2);
    goOn(Object.assign(new Error(code), { code }));
    await assert.rejects(added, { code });
    await saving(3);
    const beforeSave = await isSettled(deleted);
    // Neither there nor without its reserve has the disk room for it.
    for (const save of [4, 5]) {
      goOn(Object.assign(new Error(code), { code }));
      await saving(save);
    }
    goOn();

    assert.equal(beforeSave, false);
    assert.deepEqual(tries, [false, false, true], "the last without keeping what is deleted");
    assert.deepEqual([await deleted, namesIn(db), await saved()], [[], [], []]);
  });
}

test("a write refused because of an unsaved write is answered when that write is saved", async (t) => {
  const { db, add, saving, goOn } = await openWithHeldSaves(t);

  const first = add("Same");
  const second = db.write(() => {
    insert(db, "Other");
    insert(db, "Same");
  });
  await saving(1);
  const wasSettledBefore = await isSettled(second);
  goOn();
  await first;

  await assert.rejects(second, /UNIQUE/);
  assert.equal(wasSettledBefore, false);
  assert.deepEqual(namesIn(db), ["Same"], "all of a write is done or nothing");
});

test("a refused write alone causes no save, nothing can be changed outside a write, and foreign keys are enforced", async (t) => {
  const { db, add, saving, goOn, count } = await openWithHeldSaves(t);
  const before = db.version;

  const refused = db.write(() => {
    insert(db, "Half");
    throw new Error("no");
  });
  await assert.rejects(refused, /no/);
  assert.deepEqual([namesIn(db), db.version, count()], [[], before, 0]);
  assert.throws(() => insert(db, "Sneaked"), /readonly/);
  const added = add("Asked for");
  await saving(1);
  goOn();
  await added;
  const values = "(created_at, updated_at, client_id, name, settings) VALUES (0, 0, 99, 'x', '{}')";
  const orphaned = db.write(() => db.all(`INSERT INTO printers ${values}`));

  await assert.rejects(orphaned, /FOREIGN KEY/);
  assert.throws(() => insert(db, "Sneaked"), /readonly/);
  assert.deepEqual(namesIn(db), ["Asked for"]);
});

test("revoking all links does not change the time of the last write", async (t) => {
  let now = Date.UTC(2026, 10, 21);
  const store = await openStore(
    await temporaryFolder(t),
    () => now,
    () => {},
  );
  cleanUp(t, () => store.close());
  await store.clients.add(parseClient({ name: "Contoso" }));
  const [epoch, { savedAt }] = [store.links.epoch(), store.current()];

  now += 60_000;
  await store.links.endAll();

  assert.notEqual(store.links.epoch(), epoch);
  assert.deepEqual([savedAt, store.current().savedAt], [now - 60_000, now - 60_000]);
});

test("restoring the file after a refused save is retried until the file is closed", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const folder = await temporaryFolder(t);
  const broken = Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
  let isBroken = false;
  await watchDisk(t, folder, ({ name, path }) => {
    if (isBroken && (path === folder ? name === "file.sync" : name === "rename")) throw broken;
    // From now on the new file is in place, but syncing the folder fails.
    return name === "rename" ? () => (isBroken = true) : undefined;
  });
  const attempts: ((error: Error) => void)[] = [];
  const resave = () => new Promise<void>((_, reject) => attempts.push(reject));
  const failLast = async () => {
    attempts.at(-1)?.(broken);
    await new Promise((resolve) => setImmediate(resolve));
  };
  const file = new SavedFile(join(folder, "database"), Buffer.from("saved"), resave);
  await assert.rejects(file.save(Buffer.from("refused"), "ordinary"), /EIO/);

  t.mock.timers.tick(1000);
  await failLast();
  t.mock.timers.tick(1000);
  const whileOpen = attempts.length;
  file.close();
  await failLast();
  t.mock.timers.tick(10_000);

  assert.deepEqual([whileOpen, attempts.length], [2, 2]);
});

deepTest(
  "at most one of several processes that start at once gets the folder, and a lock left by a crash never stops a start",
  async (t) => {
    const folder = await temporaryFolder(t);
    mkdirSync(join(folder, "data"));

    const services = await Promise.all([1, 2, 3].map(() => serve(t, folder)));
    const winners = services.filter(({ url }) => url !== "");
    const refused = services.filter(({ url }) => url === "");
    const codes = await Promise.all(refused.map(({ exited }) => exited));
    const holder = winners[0] ?? (await serve(t, folder));
    holder.process.kill("SIGKILL");
    await holder.exited;
    const later = await serve(t, folder);

    assert.ok(winners.length <= 1, services.map(({ output }) => output()).join("\n"));
    assert.ok(codes.every((code) => code === 1));
    for (const { output } of refused) assert.match(output(), /Another Platen is running on .*data/);
    assert.equal(readdirSync(join(folder, "data")).filter((name) => name.startsWith("lock-")).length, 1);
    assert.equal((await client(later.url).fetch("/health")).status, 200);
  },
);

test("a process that is too busy to answer keeps its lock, and a folder that cannot be read is not locked", async (t) => {
  const folder = await temporaryFolder(t);
  const program = `require("node:net").createServer().listen("lock-ffffffffffffffff", () => {
    console.log("listening");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  })`;
  const busy = spawn(process.execPath, ["-e", program], { cwd: folder });
  cleanUp(t, () => busy.kill("SIGKILL"));
  await once(busy.stdout, "data");
  const lock = (path: string) => lockFolder(path, () => {});

  await assert.rejects(lock(folder), /Another Platen is running/);
  await assert.rejects(lock(join(folder, "none")), /ENOENT/);
});

test("a folder whose path is too long for a socket is locked too, and gets one secret for its owner only", async (t) => {
  const dataDir = join(await temporaryFolder(t), "d".repeat(100), "e".repeat(60));

  const first = await openAt(dataDir);
  await assert.rejects(openAt(dataDir), /Another Platen is running/);
  await first.close();
  const second = await openAt(dataDir);
  await second.close();

  assert.deepEqual(first.secret, second.secret);
  assert.equal(first.secret.length, 32);
  if (process.platform !== "win32") assert.equal(statSync(join(dataDir, "secret")).mode & 0o777, 0o600);
});

test("a start on a folder of another user says which user needs it", {
  skip: process.getuid?.() !== 0 && "needs root to become somebody else",
}, async (t) => {
  const folder = await temporaryFolder(t);
  const env = { DATA_DIR: join(folder, "data"), PORT: "0" };
  const child = spawn(process.execPath, [bundle], { cwd: folder, uid: 65534, gid: 65534, env });
  let text = "";
  child.stderr.setEncoding("utf8").on("data", (chunk) => {
    text += chunk;
  });

  const code = await new Promise((resolve) => child.on("exit", resolve));

  assert.equal(code, 1);
  assert.match(
    text,
    /cannot be written \(EACCES\)\. Platen runs as user 65534, group 65534: give the folder to it \(chown -R 65534:65534\)/,
  );
});

/** Runs statements with Python's SQLite. @returns the rows of each statement, one line each */
function python(path: string, ...statements: string[]): string {
  const program =
    "import sqlite3,sys\ndb=sqlite3.connect(sys.argv[1],isolation_level=None)\nfor s in sys.argv[2:]: print(db.execute(s).fetchall())";
  return execFileSync("python3", ["-c", program, path, ...statements], { encoding: "utf8" });
}

deepTest(
  "other programs read a sealed database, and their changes, older copies and files without a seal are accepted",
  async (t) => {
    const dataDir = await temporaryFolder(t);
    const path = join(dataDir, "platen.sqlite");
    const notesAfter = async (name: string) => {
      const store = await openAt(dataDir);
      const notes = store.clients.list().map((one) => one.notes);
      await store.clients.add(parseClient({ name, notes: "later" }));
      await store.close();
      return notes;
    };
    await notesAfter("Contoso");
    const file = readFileSync(path);
    const change = "UPDATE clients SET notes = 'changed'";
    const changes: readonly (readonly [string[], string])[] = [
      [[], "later"],
      [[change, "VACUUM"], "changed"],
      [[`${change} || hex(zeroblob(100000))`, change], "changed"],
    ];

    const checked = python(path, "PRAGMA integrity_check", "SELECT notes FROM clients");
    assert.equal(checked, "[('ok',)]\n[('later',)]\n");
    assert.ok(readFileSync(path).equals(file));
    for (const [statements, notes] of changes) {
      writeFileSync(path, file);
      if (statements.length > 0) python(path, ...statements);
      assert.deepEqual(await notesAfter("Fabrikam"), [notes], statements.join("; "));
    }
    writeFileSync(path, pagesOf(file));
    assert.deepEqual(await notesAfter("Fabrikam"), ["later"]);
    assert.notEqual(readFileSync(path).length % 512, 0, "it is sealed again");
  },
);
