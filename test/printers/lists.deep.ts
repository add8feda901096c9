import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { openStore } from "../../src/store/store.ts";
import { temporaryFolder } from "../support/app.ts";
import { makeDriver, makeInf } from "../support/records.ts";
import { leastTime } from "../support/times.ts";

const quiet = () => {};

async function storeOf(folder: string, drivers: number, infs: number) {
  const store = await openStore(folder, () => 0, quiet);
  const others = Array.from({ length: infs }, (_, i) => makeInf({ path: `${i}.inf` }));
  const report = { ...makeDriver().report, infs: [makeInf(), ...others] };
  const added = Array.from({ length: drivers }, (_, i) =>
    store.drivers.add(makeDriver({ sha256: i.toString(16).padStart(64, "0"), report })),
  );
  await Promise.all(added);
  return store;
}

test("large driver reports do not slow lists", async (t) => {
  const folder = await temporaryFolder(t);
  const small = await storeOf(join(folder, "small"), 10, 0);
  const large = await storeOf(join(folder, "large"), 10, 3000);

  const smallMs = await leastTime(() => small.drivers.list());
  const largeMs = await leastTime(() => large.drivers.list());

  // Reading the reports took 120 ms, and the time grew with the number of INFs.
  assert.ok(largeMs < Math.max(20, 10 * smallMs), `${smallMs.toFixed(1)} and ${largeMs.toFixed(1)} ms`);
  assert.deepEqual(large.drivers.list()[0], small.drivers.list()[0]);
  await small.close();
  await large.close();
});
