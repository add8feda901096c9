import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDriver } from "../../../src/domain/drivers/driver-fields.ts";
import {
  findModels,
  isUniversal,
  modelFinder,
  preselectedModel,
} from "../../../src/domain/drivers/models.ts";
import { choiceOf, infAndModel } from "../../../src/html/drivers/driver-infs.ts";
import { infRemarks } from "../../../src/html/drivers/driver-remarks.ts";
import { planMove } from "../../../src/services/printers/move-printers.ts";
import { startApp } from "../../support/app.ts";
import { deepTest } from "../../support/depth.ts";
import { driverZip, printerInf } from "../../support/drivers/driver-zip.ts";
import { makeDriver, makeInf, makePrinter } from "../../support/records.ts";
import { leastTime } from "../../support/times.ts";

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

deepTest("the time of a search over the largest archive is bounded for any query", async () => {
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

deepTest("the form of the largest archive is quick and small", async () => {
  const choice = choiceOf(many, infs[999], undefined, "papyrus 7 pcl6");

  const page = infAndModel(choice).toString();
  const ms = await leastTime(() => infAndModel(choice).toString());

  assert.ok(ms < limitMs, `${ms} ms`);
  assert.ok(page.length < 100_000, `${page.length} characters`);
  assert.match(page, /value="folder999\/papyrus999\.inf"\s+checked/);
});

deepTest("choosing among ten thousand names of one INF is quick", async () => {
  const descriptions = Array.from({ length: 10_000 }, (_, i) => `Generic ${"x".repeat(200)} ${i}`);
  const driver = makeDriver({ inf: { descriptions } });
  const input = { from_form: "1", driver_desc: descriptions[9999], inf_path: "papyrus.inf" };
  const finder = modelFinder({ descriptions });

  const times = [
    await leastTime(() => parseDriver(input, driver)),
    await leastTime(() => preselectedModel({ descriptions, manufacturers: [] })),
    await leastTime(() => modelFinder({ descriptions })),
    await leastTime(() => descriptions.map(finder)),
    await leastTime(() => isUniversal("a1 ".repeat(90_000))),
  ];

  for (const ms of times) assert.ok(ms < limitMs, `${times}`);
});

deepTest("planning a move of very many printers with very many models is quick", async (t) => {
  const { app } = await startApp(t);
  const descriptions = Array.from({ length: 5000 }, (_, i) => `Papyrus ${i}`);
  const { store } = app;
  const add = (sha: string) =>
    store.drivers.add(makeDriver({ sha256: sha.repeat(64), inf: { descriptions } }));
  const [from, to] = [await add("a"), await add("b")];
  const { printers } = store;
  const { printer } = printers.get(
    await printers.add({ ...makePrinter({ driver_desc: "Papyrus 1" }), driver_id: from.driver.id }),
  );
  const copies = Array.from({ length: 1500 }, (_, i) => ({
    ...printer,
    id: i + 1,
    driver_desc: `Papyrus ${i}`,
  }));
  const many = {
    ...store,
    printers: Object.assign(Object.create(printers), {
      idsOfDriver: () => copies.map(({ id }) => id),
      modelsOf: (ids: readonly number[]) => copies.filter(({ id }) => ids.includes(id)),
    }),
  };

  const { pairs } = await planMove(many, from.driver.id, to.driver.id);
  const ms = await leastTime(() => planMove(many, from.driver.id, to.driver.id));

  assert.ok(ms < limitMs, `${ms} ms`);
  assert.equal(pairs.length, 1500);
});

test("hostile names of INFs and models are escaped on every page", async (t) => {
  const { addDriver, fetch, upload } = await startApp(t);
  const evil = '"><script>alert(1)</script>\u202e';
  const id = await addDriver(
    driverZip({
      models: ["Papyrus <img src=x>", `Papyrus ' onfocus='x`],
      provider: "<b>Acme</b>",
      extra: [{ name: "x' &amp; i.inf", bytes: printerInf({ models: ["In <other>"], provider: "</bdi>" }) }],
    }),
  );
  const pages = [
    `/drivers/${id}`,
    "/drivers",
    `/drivers/${id}?q=${encodeURIComponent(evil)}`,
    `/drivers/${id}/models?q=in&inf_path=${encodeURIComponent(evil)}`,
    `/drivers/${id}/models?suggest=1&q=${encodeURIComponent("papyrus")}`,
    `/drivers/${id}/models?pick=${encodeURIComponent(`0:${evil}`)}`,
    `/drivers/${id}/models?pick=-1:x`,
    `/drivers/${id}/models?pick=__proto__:x`,
    `/drivers/${id}?uploaded=new&moved=${encodeURIComponent(evil)}`,
  ];

  const texts = await Promise.all(pages.map(async (path) => (await fetch(path)).text()));
  const notice = await (
    await upload("/drivers/upload", driverZip({ provider: "<b>Acme</b>", models: ["<x>", "<y>"] }))
  ).text();

  for (const text of [...texts, notice]) {
    assert.doesNotMatch(text, /<script>alert|<img src=x|<i>\.inf|<b>Acme|In <other>|<x>|<y>| onfocus='/);
    assert.doesNotMatch(text, /error in Platen/i);
  }
});

test("warnings of hostile archives stay short", async (t) => {
  const { upload, app } = await startApp(t);
  const long = "x".repeat(180);
  const extra = Array.from({ length: 60 }, (_, i) => ({
    name: `${long}/${i}.inf`,
    bytes: printerInf({ provider: `${i}${long}`, files: [] }),
  }));

  await upload("/drivers/upload", driverZip({ extra }));

  const [warning = ""] = app.store.drivers.get(1).report.warnings;
  assert.match(warning, /several vendors/);
  assert.ok(warning.length < 2500, `${warning.length} characters`);
  assert.ok(infRemarks(app.store.drivers.get(1)).toString().length < 20_000);
});
