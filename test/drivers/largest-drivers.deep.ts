// Work on the largest records that Platen accepts. Each case took over a second before its work was bounded.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDriver } from "../../src/domain/drivers/driver-fields.ts";
import { findModels, isUniversal, modelFinder, preselectedModel } from "../../src/domain/drivers/models.ts";
import { parseNarrowing } from "../../src/domain/printers/search.ts";
import { choiceOf, infAndModel } from "../../src/html/drivers/driver-models.ts";
import { printerList } from "../../src/html/printers/printers.ts";
import { makeDriver, makeInf, makePrinter } from "../support/records.ts";
import { leastTime } from "../support/times.ts";

/** How long the event loop may be blocked. Each case below takes a fraction of it. */
const limitMs = 250;

/** The largest possible report: a thousand INFs, fifty thousand names. */
const infs = Array.from({ length: 1000 }, (_, i) =>
  makeInf({
    path: `folder${i}/papyrus${i}.inf`,
    descriptions: Array.from({ length: 50 }, (_, j) => `Papyrus ${i} ${j} PCL6`),
  }),
);
const report = { ...makeDriver().report, infs, printerInf: "folder0/papyrus0.inf" };
const many = makeDriver({ report, inf_path: "folder0/papyrus0.inf", driver_desc: "Papyrus 0 0 PCL6" });

test("the time of a search over the largest archive is bounded for any query", async () => {
  const queries = [
    "papyrus",
    "p ".repeat(7000),
    Array.from({ length: 90 }, (_, i) => `p${i}`).join(" "),
    "\u0130".repeat(9000),
  ];

  const times: number[] = [];
  for (const query of queries) times.push(await leastTime(() => findModels(infs, query, 20)));

  for (const ms of times) assert.ok(ms < limitMs, `${times}`);
  assert.equal(findModels(infs, "papyrus", 20).count, 50_000);
});

test("the form of the largest archive is quick and small", async () => {
  const choice = choiceOf(many, infs[999], undefined, "papyrus 7 pcl6");

  const page = infAndModel(choice).toString();
  const ms = await leastTime(() => infAndModel(choice).toString());

  assert.ok(ms < limitMs && page.length < 100_000, `${ms} ms, ${page.length} characters`);
  assert.match(page, /value="folder999\/papyrus999\.inf"\s+checked/);
});

test("choosing among ten thousand names of one INF is quick", async () => {
  const descriptions = Array.from({ length: 10_000 }, (_, i) => `Generic ${"x".repeat(200)} ${i}`);
  const manufacturers = Array.from({ length: 5000 }, (_, i) => `maker${i}`);
  const driver = makeDriver({ inf: { descriptions } });
  const input = { from_form: "1", driver_desc: descriptions[9999], inf_path: "papyrus.inf" };
  const finder = modelFinder({ descriptions });

  const times = [
    await leastTime(() => parseDriver(input, driver)),
    await leastTime(() => preselectedModel({ descriptions, manufacturers })),
    await leastTime(() => modelFinder({ descriptions })),
    await leastTime(() => descriptions.map(finder)),
    await leastTime(() => isUniversal("a1 ".repeat(90_000))),
  ];

  for (const ms of times) assert.ok(ms < limitMs, `${times}`);
});

test("a list of very many printers of one client takes linear time", async () => {
  const printer = makePrinter();
  const stated = { state: "ready", findings: [], changed: false } as const;
  const client = { id: 1, name: "Client" };
  const row = { printer, client, driver: undefined, arm64Driver: undefined, ...stated };
  const choices = { clients: [], drivers: [] };
  const narrowing = parseNarrowing({});
  const listOf = (length: number) => {
    const rows = Array.from({ length }, () => ({ ...row }));
    return { rows, narrowing, total: length, choices, formats: [] };
  };
  const [first, few, many] = [listOf(2000), listOf(2000), listOf(20_000)];
  printerList(first).toString();

  const fewMs = await leastTime(() => printerList(few).toString());
  const manyMs = await leastTime(() => printerList(many).toString());

  assert.ok(manyMs < Math.max(400, 30 * fewMs), `${fewMs} and ${manyMs} ms`);
});
