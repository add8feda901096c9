import assert from "node:assert/strict";
import { test } from "node:test";
import type { Driver } from "../../src/domain/drivers/driver.ts";
import { narrowDrivers } from "../../src/domain/printers/search.ts";
import { ModelSearch } from "../../src/services/drivers/model-search.ts";
import { makeDriver, makeInf } from "../support/records.ts";

const none = {
  state: "ready",
  findings: [],
  printer_count: 0,
  clients: new Set<number>(),
  newer: undefined,
} as const;

/** A search over drivers, with their rows and the number of reports read. */
function searchOf(drivers: readonly Driver[]) {
  let reads = 0;
  const find = (id: number) => {
    reads++;
    return drivers.find((driver) => driver.id === id);
  };
  const rows = drivers.map((driver) => ({ ...driver, ...none }));
  return { search: new ModelSearch({ drivers: { find } }), rows, reads: () => reads };
}

test("a driver that is deleted during a search is found after it is restored", async () => {
  const driver = makeDriver({ name: "Kalamos", inf: { descriptions: ["Papyrus 100", "Papyrus 777"] } });
  let isRestored = false;
  const search = new ModelSearch({ drivers: { find: () => (isRestored ? driver : undefined) } });

  const gone = await search.find([{ ...driver, ...none }], "777");
  isRestored = true;
  const back = await search.find([{ ...driver, ...none }], "777");

  assert.deepEqual([...gone], []);
  assert.deepEqual([...back], [[driver.id, "Papyrus 777"]]);
});

test("each driver's names are read once", async () => {
  const driver = makeDriver({ inf: { descriptions: ["Papyrus 100", "Papyrus 777"] } });
  const { search, rows, reads } = searchOf([driver]);

  for (const q of ["777", "nothing", "100"]) await search.find(rows, q);

  assert.equal(reads(), 1);
});

test("some words of a search may match the driver and the others one of its models", async () => {
  const models = ["Papyrus 100", "Vellum A3 color", "Vellum B4 color", "Vellum C5"];
  const { search, rows } = searchOf([makeDriver({ name: "Kalamos", inf: { descriptions: models } })]);
  const queries: Record<string, string | undefined> = {
    "kalamos c5": "Vellum C5",
    "vellum b4 KALAMOS": "Vellum B4 color",
    "vellum color b4": "Vellum B4 color",
    "c5 vellum": "Vellum C5",
    "kalamos nothing": undefined,
    "kalamos b4 c5": undefined,
    kalamos: undefined,
  };

  const found: [string, string | undefined, number][] = [];
  for (const q of Object.keys(queries)) {
    const models = await search.find(rows, q);
    const listed = narrowDrivers(rows, { q, client: undefined, state: undefined }, models);
    found.push([q, models.get(1), listed.length]);
  }

  const isListed = (q: string) => queries[q] !== undefined || q === "kalamos";
  assert.deepEqual(
    found,
    Object.keys(queries).map((q) => [q, queries[q], isListed(q) ? 1 : 0]),
  );
});

test("a search ignores models in INFs of other device classes", async () => {
  const driver = makeDriver();
  const scanner = makeInf({
    path: "scan.inf",
    class: "Image",
    isPrinter: false,
    descriptions: ["Papyrus 777"],
  });
  const second = makeInf({ path: "second.inf", descriptions: ["Papyrus 888"] });
  const report = { ...driver.report, infs: [...driver.report.infs, scanner, second] };
  const { search, rows } = searchOf([{ ...driver, report }]);

  const scanners = await search.find(rows, "777");
  const printers = await search.find(rows, "888");

  assert.deepEqual([...scanners], []);
  assert.deepEqual([...printers], [[1, "Papyrus 888"]]);
});
