import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { parseClient } from "../../src/domain/printers/client.ts";
import { Database } from "../../src/store/database/database.ts";
import { SavedFile } from "../../src/store/database/saved-file.ts";
import { openStore } from "../../src/store/store.ts";
import { temporaryFolder } from "../support/app.ts";
import { cleanUp } from "../support/clean-up.ts";
import { watchDisk } from "../support/durability/disk-calls.ts";
import { until } from "../support/until.ts";

const insert = (db: Database, name: string) =>
  db.all("INSERT INTO clients (name, name_key, notes, created_at) VALUES (?, ?, '', 0)", [name, name]);
const namesIn = (db: Database) => db.all("SELECT name FROM clients ORDER BY id").map(({ name }) => name);

/** A database whose saves wait. */
async function openWithHeldSaves(t: TestContext) {
  const folder = await temporaryFolder(t);
  const path = join(folder, "platen.sqlite");
  const db = await Database.open(path);
  cleanUp(t, () => db.close());
  const saves: { done: (value: undefined) => void; fail: (error: Error) => void }[] = [];
  await watchDisk(t, folder, ({ name, path: renamed }) => {
    if (name !== "rename" || renamed !== `${path}.new`) return undefined;
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

test("a write changes the memory at once, and is acknowledged when it is on disk", async (t) => {
  const { db, saving, goOn, saved } = await openWithHeldSaves(t);
  const before = db.version;

  const written = db.write(() => {
    insert(db, "New");
    return namesIn(db);
  });
  const atOnce = { names: namesIn(db), isOther: db.version !== before };
  await saving(1);
  const during = { isSettled: await isSettled(written), saved: await saved() };
  goOn();
  const within = await written;

  assert.deepEqual(within, ["New"]);
  assert.deepEqual(atOnce, { names: ["New"], isOther: true });
  assert.deepEqual(during, { isSettled: false, saved: [] });
  assert.deepEqual(await saved(), ["New"]);
});

test("writes that arrive while a save is under way share the next one", async (t) => {
  const { add, saving, goOn, saved, count } = await openWithHeldSaves(t);

  const first = add("1");
  await saving(1);
  const others = Promise.all(["2", "3", "4"].map(add));
  goOn();
  await first;
  const afterFirst = await saved();
  await saving(2);
  goOn();
  await others;

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

test("on a full disk a write that frees space is repeated without the refused writes", async (t) => {
  const { db, add, saving, goOn, saved } = await openWithHeldSaves(t);
  const begun = add("Old");
  await saving(1);
  goOn();
  await begun;

  const added = add("New");
  const deleted = db.freeingWrite(() => {
    db.all("DELETE FROM clients WHERE name = 'Old'");
    return namesIn(db);
  });
  await saving(2);
  goOn(Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC" }));
  await assert.rejects(added, /ENOSPC/);
  await saving(3);
  const beforeSave = await isSettled(deleted);
  goOn();

  assert.equal(beforeSave, false);
  assert.deepEqual([await deleted, namesIn(db), await saved()], [[], [], []]);
});

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

test("a refused write alone causes no save", async (t) => {
  const { db, count } = await openWithHeldSaves(t);
  const before = db.version;

  const refused = db.write(() => {
    insert(db, "Half");
    throw new Error("no");
  });

  await assert.rejects(refused, /no/);
  assert.deepEqual([namesIn(db), db.version, count()], [[], before, 0]);
});

test("nothing can be changed outside a write", async (t) => {
  const db = await Database.open(join(await temporaryFolder(t), "platen.sqlite"));

  assert.throws(() => insert(db, "Sneaked"), /readonly/);
  await db.write(() => insert(db, "Asked for"));
  assert.throws(() => insert(db, "Sneaked"), /readonly/);

  assert.deepEqual(namesIn(db), ["Asked for"]);
});

test("revoking all links does not change the time of the last write", async (t) => {
  let now = Date.UTC(2026, 10, 21);
  const folder = await temporaryFolder(t);
  const clock = () => now;
  const store = await openStore(folder, clock, () => {});
  cleanUp(t, () => store.close());
  await store.clients.add(parseClient({ name: "Contoso" }));
  const [epoch, { savedAt }] = [store.linkGenerations.epoch(), store.current()];

  now += 60_000;
  await store.linkGenerations.revokeAll();

  assert.notEqual(store.linkGenerations.epoch(), epoch);
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
