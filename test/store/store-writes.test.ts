import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseClient } from "../../src/domain/printers/client.ts";
import { Database } from "../../src/store/database/database.ts";
import { openStore } from "../../src/store/store.ts";
import { temporaryFolder } from "../support/app.ts";
import { cleanUp } from "../support/clean-up.ts";
import { watchDisk } from "../support/durability/disk-calls.ts";

const insert = (db: Database, name: string) =>
  db.all("INSERT INTO clients (name, name_key, notes, created_at) VALUES (?, ?, '', 0)", [name, name]);
const namesIn = (db: Database) => db.all("SELECT name FROM clients ORDER BY id").map(({ name }) => name);

/** A database whose saves wait until `goOn` completes or fails them. `saves` has all of them. */
async function openWithHeldSaves(t: TestContext) {
  const folder = await temporaryFolder(t);
  const path = join(folder, "platen.sqlite");
  const db = await Database.open(path);
  cleanUp(t, () => db.close());
  const saves: { done: (value: undefined) => void; fail: (error: Error) => void }[] = [];
  let reached = () => {};
  await watchDisk(t, folder, ({ name, path: renamed }) => {
    if (name !== "rename" || renamed !== `${path}.new`) return undefined;
    return new Promise<undefined>((done, fail) => {
      saves.push({ done, fail });
      reached();
    });
  });
  const saving = () =>
    new Promise<void>((resolve) => {
      reached = resolve;
    });
  const goOn = (error?: Error) => {
    const save = saves.at(-1);
    if (error === undefined) save?.done(undefined);
    else save?.fail(error);
  };
  const saved = async () => {
    const copy = await Database.openCopy(path, new Uint8Array(readFileSync(path)));
    const names = namesIn(copy);
    copy.close();
    return names;
  };
  return { db, saving, goOn, saved, saves };
}

const noSpace = () => Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC" });

/** Whether a promise is settled after 20 ms. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  promise.then(settle, settle);
  await new Promise((resolve) => setTimeout(resolve, 20));
  return settled;
}

test("a write changes the memory at once, and is acknowledged when it is on disk", async (t) => {
  const { db, saving, goOn, saved } = await openWithHeldSaves(t);
  const before = db.version;

  const isSaving = saving();
  const written = db.write(() => {
    insert(db, "New");
    return namesIn(db);
  });
  const atOnce = { names: namesIn(db), isOther: db.version !== before };
  await isSaving;
  const during = { isSettled: await isSettled(written), saved: await saved() };
  goOn();
  const within = await written;

  assert.deepEqual(within, ["New"]);
  assert.deepEqual(atOnce, { names: ["New"], isOther: true });
  assert.deepEqual(during, { isSettled: false, saved: [] });
  assert.deepEqual(await saved(), ["New"]);
});

test("writes that arrive while a save is under way share the next one", async (t) => {
  const { db, saving, goOn, saved, saves } = await openWithHeldSaves(t);

  let isSaving = saving();
  const first = db.write(() => insert(db, "1"));
  await isSaving;
  isSaving = saving();
  const others = Promise.all(["2", "3", "4"].map((name) => db.write(() => insert(db, name))));
  goOn();
  await first;
  const afterFirst = await saved();
  await isSaving;
  goOn();
  await others;

  assert.deepEqual(afterFirst, ["1"], "nothing of a write after it is in a save");
  assert.deepEqual(await saved(), ["1", "2", "3", "4"]);
  assert.equal(saves.length, 2);
});

test("a failed save reverts everything that is not on disk, and its version is never used again", async (t) => {
  const { db, saving, goOn, saved } = await openWithHeldSaves(t);
  const seen = new Set([db.version]);

  let isSaving = saving();
  const lost = db.write(() => insert(db, "Lost"));
  seen.add(db.version);
  await isSaving;
  const lostToo = db.write(() => insert(db, "Built on it"));
  seen.add(db.version);
  goOn(new Error("refused"));
  await assert.rejects(lost, /refused/);
  await assert.rejects(lostToo, /refused/);
  const after = { names: namesIn(db), isSeen: seen.has(db.version), saved: await saved() };
  isSaving = saving();
  const kept = db.write(() => insert(db, "Kept"));
  await isSaving;
  goOn();
  await kept;

  assert.deepEqual(after, { names: [], isSeen: false, saved: [] });
  assert.deepEqual(await saved(), ["Kept"]);
});

test("on a full disk a write that frees space is repeated without the refused writes", async (t) => {
  const { db, saving, goOn, saved } = await openWithHeldSaves(t);
  let isSaving = saving();
  const begun = db.write(() => insert(db, "Old"));
  await isSaving;
  goOn();
  await begun;

  isSaving = saving();
  const added = db.write(() => insert(db, "New"));
  const deleted = db.freeingWrite(() => {
    db.all("DELETE FROM clients WHERE name = 'Old'");
    return namesIn(db);
  });
  await isSaving;
  isSaving = saving();
  goOn(noSpace());
  await assert.rejects(added, /ENOSPC/);
  await isSaving;
  const beforeSave = await isSettled(deleted);
  goOn();

  assert.equal(beforeSave, false);
  assert.deepEqual(await deleted, []);
  assert.deepEqual(namesIn(db), []);
  assert.deepEqual(await saved(), []);
});

test("a write refused because of an unsaved write is answered when that write is saved", async (t) => {
  const { db, saving, goOn } = await openWithHeldSaves(t);

  const isSaving = saving();
  const first = db.write(() => insert(db, "Same"));
  const second = db.write(() => {
    insert(db, "Other");
    insert(db, "Same");
  });
  await isSaving;
  const wasSettledBefore = await isSettled(second);
  goOn();
  await first;

  await assert.rejects(second, /UNIQUE/);
  assert.equal(wasSettledBefore, false);
  assert.deepEqual(namesIn(db), ["Same"], "all of a write is done or nothing");
});

test("a refused write alone causes no save", async (t) => {
  const { db, saves } = await openWithHeldSaves(t);
  const before = db.version;

  const refused = db.write(() => {
    insert(db, "Half");
    throw new Error("no");
  });

  await assert.rejects(refused, /no/);
  assert.deepEqual([namesIn(db), db.version, saves.length], [[], before, 0]);
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
  const [epoch, { savedAt }] = [store.linkGenerations.epoch(), store.current()];

  now += 60_000;
  await store.linkGenerations.revokeAll();

  assert.notEqual(store.linkGenerations.epoch(), epoch);
  assert.equal(savedAt, now - 60_000);
  assert.equal(store.current().savedAt, savedAt);
});

test("nothing can be changed outside a write", async (t) => {
  const db = await Database.open(join(await temporaryFolder(t), "platen.sqlite"));

  assert.throws(() => insert(db, "Sneaked"), /readonly/);
  await db.write(() => insert(db, "Asked for"));
  assert.throws(() => insert(db, "Sneaked"), /readonly/);

  assert.deepEqual(namesIn(db), ["Asked for"]);
});
