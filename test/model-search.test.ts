import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../src/domain/errors.ts";
import { ModelSearch } from "../src/services/model-search.ts";
import { makeDriver } from "./support/records.ts";

const none = {
  state: "ready",
  findings: [],
  printer_count: 0,
  clients: new Set<number>(),
  newer: undefined,
} as const;

test("a driver that is deleted while it is looked for is found again once it is back", async () => {
  const driver = makeDriver({ inf: { descriptions: ["Papyrus 100", "Papyrus 777"] } });
  let isThere = false;
  const get = () => {
    if (!isThere) throw new UserError("not-found", "gone");
    return driver;
  };
  const search = new ModelSearch({ drivers: { get } });

  const gone = await search.among([{ ...driver, ...none }], "777");
  isThere = true;
  const back = await search.among([{ ...driver, ...none }], "777");

  assert.deepEqual([...gone], []);
  assert.deepEqual([...back], [[driver.id, "Papyrus 777"]]);
});

test("each driver's names are read once", async () => {
  const driver = makeDriver({ inf: { descriptions: ["Papyrus 100", "Papyrus 777"] } });
  let reads = 0;
  const get = () => {
    reads++;
    return driver;
  };
  const search = new ModelSearch({ drivers: { get } });

  for (const q of ["777", "nothing", "100"]) await search.among([{ ...driver, ...none }], q);

  assert.equal(reads, 1);
});
