import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Database } from "../src/store/database/database.ts";
import { temporaryFolder } from "./support/app.ts";

/** A database whose saves wait for `goOn`, which may refuse them; and what it holds. */
async function openHeld(t: TestContext) {
  let waiting: { resolve: () => void; reject: (error: Error) => void } | undefined;
  let reached = () => {};
  const confirm = () =>
    new Promise<void>((resolve, reject) => {
      waiting = { resolve, reject };
      reached();
    });
  const path = join(await temporaryFolder(t), "platen.sqlite");
  await (await Database.open(path)).settle();
  const db = await Database.open(path, { confirm });
  const saving = () =>
    new Promise<void>((resolve) => {
      reached = resolve;
    });
  const goOn = (error?: Error) => (error === undefined ? waiting?.resolve() : waiting?.reject(error));
  return { db, saving, goOn };
}

const insert = (db: Database, name: string) =>
  db.all("INSERT INTO clients (name, name_key, notes, created_at) VALUES (?, ?, '', 0)", [name, name]);
const namesIn = (db: Database) => db.all("SELECT name FROM clients ORDER BY id").map(({ name }) => name);

test("what is being saved is read by nobody until it is saved, and then by everybody", async (t) => {
  const { db, saving, goOn } = await openHeld(t);
  const before = db.version;

  const isSaving = saving();
  const written = db.write(() => {
    insert(db, "New");
    return namesIn(db);
  });
  await isSaving;
  const during = { names: namesIn(db), version: db.version };
  goOn();
  const within = await written;

  assert.deepEqual(within, ["New"], "the write itself reads what it wrote");
  assert.deepEqual(during, { names: [], version: before });
  assert.deepEqual(namesIn(db), ["New"]);
  assert.notEqual(db.version, before);
});

test("what a failed save takes back was never there, and its number is never used again", async (t) => {
  const { db, saving, goOn } = await openHeld(t);
  const seen = new Set([db.version]);

  const isFailing = saving();
  const refused = db.write(() => insert(db, "Lost"));
  await isFailing;
  goOn(new Error("refused"));
  await assert.rejects(refused, /refused/);
  const afterFailure = { names: namesIn(db), isSame: seen.has(db.version) };
  let within = 0;
  const isSaving = saving();
  const kept = db.write(() => {
    within = db.version;
    insert(db, "Kept");
  });
  await isSaving;
  goOn();
  await kept;

  assert.deepEqual(afterFailure, { names: [], isSame: true });
  assert.ok(seen.has(within), "a write begins with what was read before it");
  assert.ok(!seen.has(db.version));
  assert.deepEqual(namesIn(db), ["Kept"]);
});

test("a write that yields lets others read what is saved, and is one transaction all the same", async (t) => {
  const db = await Database.open(join(await temporaryFolder(t), "platen.sqlite"));
  const read = new Set<number>();
  const timer = setInterval(() => read.add(namesIn(db).length), 1);

  const counted = await db.write(function* () {
    for (let i = 0; i < 2000; i++) {
      insert(db, `Client ${i}`);
      yield;
    }
    const end = performance.now() + 30;
    while (performance.now() < end) yield;
    return namesIn(db).length;
  });
  clearInterval(timer);
  const failed = db.write(function* () {
    for (let i = 0; i < 100; i++) {
      db.all("DELETE FROM clients WHERE name = ?", [`Client ${i}`]);
      yield;
    }
    throw new Error("no");
  });
  await assert.rejects(failed, /no/);

  assert.equal(counted, 2000);
  assert.deepEqual([...read], [0], "between its steps nobody saw any of it");
  assert.equal(namesIn(db).length, 2000);
});

test("a write that is refused is told so when the others of its batch are saved", async (t) => {
  const { db, saving, goOn } = await openHeld(t);

  const isSaving = saving();
  const first = db.write(() => insert(db, "Same"));
  const second = db.write(() => insert(db, "Same"));
  let isTold = false;
  void second.catch(() => {
    isTold = true;
  });
  await isSaving;
  const toldBefore = isTold;
  goOn();
  await first;

  await assert.rejects(second, /UNIQUE/);
  assert.equal(toldBefore, false);
  assert.deepEqual(namesIn(db), ["Same"]);
});

test("outside a write nothing can be changed", async (t) => {
  const db = await Database.open(join(await temporaryFolder(t), "platen.sqlite"));

  assert.throws(() => insert(db, "Sneaked"), /readonly/);
  await db.write(() => insert(db, "Asked for"));
  assert.throws(() => insert(db, "Sneaked"), /readonly/);

  assert.deepEqual(namesIn(db), ["Asked for"]);
});
