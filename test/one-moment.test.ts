import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { UserError } from "../src/domain/errors.ts";
import { parsePrinter } from "../src/domain/printer-fields.ts";
import { atOneMoment, planAndWrite } from "../src/services/one-moment.ts";
import { openStore, type Store } from "../src/store/store.ts";
import { temporaryFolder } from "./support/app.ts";

/** A store with the printer "Before". */
async function storeOfOne(t: TestContext): Promise<Store> {
  let opened: Store | undefined;
  // Before its folder goes: what nobody waits for is still being saved.
  t.after(() => opened?.close());
  const store = await openStore(await temporaryFolder(t), Date.now, () => {});
  opened = store;
  await store.printers.add(parsePrinter({ name: "Before", address: "10.0.0.1" }));
  return store;
}

/** Gives the printer another name and model with each call, so often at most. @returns whether anything is written */
function writesOf(store: Store, most: number): () => boolean {
  let count = 0;
  return () => {
    if (count === most) return false;
    count++;
    const fields = { name: `After ${count}`, address: "10.0.0.1", driver_desc: `Model ${count}` };
    void store.printers.update(1, parsePrinter(fields));
    return true;
  };
}

/** Takes so long that others have their turn after the step. */
function holdStep(): void {
  const end = performance.now() + 15;
  while (performance.now() < end);
}

const namesOf = (store: Store) => store.printers.list().map(({ printer }) => printer.name);

/** Reads the names twice, and lets others write between the two steps. */
function* readTwice(
  store: Store,
  attempts: string[][],
  write: () => boolean = () => false,
): Generator<undefined, string[]> {
  const names = namesOf(store);
  const before = store.version();
  const isWritten = write();
  do {
    holdStep();
    yield;
  } while (isWritten && store.version() === before);
  names.push(...namesOf(store));
  attempts.push(names);
  return names;
}

const isBusy = (error: unknown) => error instanceof UserError && error.code === "busy";

test("what is read in steps is read anew where something was written between two of them", async (t) => {
  const store = await storeOfOne(t);
  const attempts: string[][] = [];
  const write = writesOf(store, 2);

  const { value, version } = await atOneMoment(store, () => readTwice(store, attempts, write));

  assert.deepEqual(attempts, [
    ["Before", "After 1"],
    ["After 1", "After 2"],
    ["After 2", "After 2"],
  ]);
  assert.equal(value, attempts[2]);
  assert.equal(version, store.version());
});

test("who reads while something is written all the time is told so after ten attempts", async (t) => {
  const store = await storeOfOne(t);
  const attempts: string[][] = [];
  const write = writesOf(store, 100);

  const reading = atOneMoment(store, () => readTwice(store, attempts, write));

  await assert.rejects(reading, isBusy);
  assert.equal(attempts.length, 10);
});

test("a change is written as it was planned after the last write of others", async (t) => {
  const store = await storeOfOne(t);
  const attempts: string[][] = [];
  const between = writesOf(store, 1);
  const written: string[][] = [];

  const plan = await planAndWrite(
    store,
    () => readTwice(store, attempts, between),
    (version, names) => {
      written.push(names);
      return store.manyPrinters.useDriver(version, null, new Map([[1, `for ${names.join()}`]]));
    },
  );

  assert.deepEqual(written, [["After 1", "After 1"]]);
  assert.equal(plan, written[0]);
  assert.equal(attempts.length, 2);
  assert.equal(store.printers.get(1).printer.driver_desc, "for After 1,After 1");
});

test("what is written between a plan and its write is kept, and the change is planned anew", async (t) => {
  const store = await storeOfOne(t);
  const attempts: string[][] = [];
  const write = writesOf(store, 3);

  await planAndWrite(
    store,
    () => readTwice(store, attempts),
    (version, names) => {
      write();
      return store.manyPrinters.useDriver(version, null, new Map([[1, `for ${names[0]}`]]));
    },
  );

  assert.deepEqual(
    attempts.map(([name]) => name),
    ["Before", "After 1", "After 2", "After 3"],
  );
  assert.equal(store.printers.get(1).printer.name, "After 3");
  assert.equal(store.printers.get(1).printer.driver_desc, "for After 3");
});

test("a change that others are always faster than is given up after ten plans", async (t) => {
  const store = await storeOfOne(t);
  const attempts: string[][] = [];
  const write = writesOf(store, 100);

  const changing = planAndWrite(
    store,
    () => readTwice(store, attempts),
    (version) => {
      write();
      return store.manyPrinters.useDriver(version, null, new Map([[1, "never"]]));
    },
  );

  await assert.rejects(changing, isBusy);
  assert.equal(attempts.length, 10);
  assert.equal(store.printers.get(1).printer.driver_desc, "Model 10");
});

test("what is wrong with a plan or its write is said at once", async (t) => {
  const store = await storeOfOne(t);
  let plans = 0;
  const changes = (["planning", "writing"] as const).map((when) => {
    const error = new UserError(when === "planning" ? "conflict" : "invalid", when);
    function* plan(): Generator<undefined, void> {
      plans++;
      yield;
      if (when === "planning") throw error;
    }
    return planAndWrite(store, plan, () => Promise.reject(error));
  });

  const outcomes = await Promise.allSettled(changes);

  assert.deepEqual(
    outcomes.map((outcome) => outcome.status === "rejected" && String(outcome.reason.message)),
    ["planning", "writing"],
  );
  assert.equal(plans, 2);
});
