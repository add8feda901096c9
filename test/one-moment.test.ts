import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { UserError } from "../src/domain/errors.ts";
import { parsePrinter } from "../src/domain/printer-fields.ts";
import { planAndWrite } from "../src/services/one-moment.ts";
import { openStore, type Store } from "../src/store/store.ts";
import { temporaryFolder } from "./support/app.ts";
import { cleanUp } from "./support/clean-up.ts";

/** A store with the printer "Before". */
async function storeOfOne(t: TestContext): Promise<Store> {
  const store = await openStore(await temporaryFolder(t), Date.now, () => {});
  cleanUp(t, () => store.close());
  await store.printers.add(parsePrinter({ name: "Before", address: "10.0.0.1" }));
  return store;
}

/** Gives the printer another name and model with each call, so often at most. @returns whether anything is written */
function writesOf(store: Store, most: number): (done?: () => void) => boolean {
  let count = 0;
  return (done = () => {}) => {
    if (count === most) return false;
    count++;
    const fields = { name: `After ${count}`, address: "10.0.0.1", driver_desc: `Model ${count}` };
    void store.printers.update(1, parsePrinter(fields)).then(done);
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
  write: (done?: () => void) => boolean = () => false,
): Generator<undefined, string[]> {
  const names = namesOf(store);
  let isWaiting = write(() => {
    isWaiting = false;
  });
  do {
    holdStep();
    yield;
  } while (isWaiting);
  names.push(...namesOf(store));
  attempts.push(names);
  return names;
}

test("what is read in steps is of one moment, whatever is written between two of them", async (t) => {
  const store = await storeOfOne(t);
  const attempts: string[][] = [];
  const before = store.version();

  const { value, version } = await store.atOneMoment(() => readTwice(store, attempts, writesOf(store, 1)));

  assert.deepEqual(attempts, [["Before", "Before"]]);
  assert.equal(value, attempts[0]);
  assert.equal(version, before);
  assert.deepEqual(namesOf(store), ["After 1"]);
});

test("several read each their own moment at once, and what they hold is given back", async (t) => {
  const store = await storeOfOne(t);
  const attempts: string[][] = [];
  const write = writesOf(store, 3);

  const first = store.atOneMoment(() => readTwice(store, attempts, write));
  const second = store.atOneMoment(() => readTwice(store, attempts, write));
  const failing = store.atOneMoment(function* (): Generator<undefined, void> {
    yield;
    throw new Error("no");
  });

  await assert.rejects(failing, /no/);
  await Promise.all([first, second]);
  const { value } = await store.atOneMoment(() => readTwice(store, attempts, write));
  assert.deepEqual(attempts.slice(0, 2), [
    ["Before", "Before"],
    ["Before", "Before"],
  ]);
  assert.deepEqual(value, ["After 2", "After 2"]);
});

/** Gives the first printer a model that says what was planned. */
function give(store: Store, names: readonly string[]): Generator<undefined, void> {
  return store.manyPrinters.useDriver(null, new Map([[1, `for ${names.join()}`]]));
}

test("a change is written as it was planned after the last write of others", async (t) => {
  const store = await storeOfOne(t);
  const attempts: string[][] = [];
  const between = writesOf(store, 1);

  const plan = await planAndWrite(
    store,
    () => readTwice(store, attempts, between),
    (names) => () => give(store, names),
  );

  assert.deepEqual(attempts, [
    ["Before", "Before"],
    ["After 1", "After 1"],
  ]);
  assert.equal(plan, attempts[1]);
  assert.equal(store.printers.get(1).printer.driver_desc, "for After 1,After 1");
});

test("what is written between a plan and its write is kept, and the change is planned anew", async (t) => {
  const store = await storeOfOne(t);
  const attempts: string[][] = [];
  const write = writesOf(store, 2);

  await planAndWrite(
    store,
    () => readTwice(store, attempts),
    (names) => {
      write();
      return () => give(store, names);
    },
  );

  assert.deepEqual(
    attempts.map(([name]) => name),
    ["Before", "After 1", "After 2"],
  );
  assert.equal(store.printers.get(1).printer.name, "After 2");
  assert.equal(store.printers.get(1).printer.driver_desc, "for After 2,After 2");
});

test("a change that others are always faster than is planned where nobody else writes", async (t) => {
  const store = await storeOfOne(t);
  const attempts: string[][] = [];
  const write = writesOf(store, 100);
  const saves: string[] = [];
  store.onSaved(() => saves.push(store.printers.get(1).printer.driver_desc));

  await planAndWrite(
    store,
    () => readTwice(store, attempts),
    (names) => {
      write();
      return () => give(store, names);
    },
  );

  assert.deepEqual(
    attempts.map(([name]) => name),
    ["Before", "After 1", "After 2", "After 3"],
  );
  assert.ok(saves.includes("for After 3,After 3"), saves.join("; "));
});

test("a plan that changes nothing is not written", async (t) => {
  const store = await storeOfOne(t);
  const before = store.version();

  const names = await planAndWrite(
    store,
    () => readTwice(store, []),
    () => undefined,
  );

  assert.deepEqual(names, ["Before", "Before"]);
  assert.equal(store.version(), before);
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
    return planAndWrite(store, plan, () => () => {
      throw error;
    });
  });

  const outcomes = await Promise.allSettled(changes);

  assert.deepEqual(
    outcomes.map((outcome) => outcome.status === "rejected" && String(outcome.reason.message)),
    ["planning", "writing"],
  );
  assert.equal(plans, 2);
});
