import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { parsePrinter } from "../../src/domain/printers/printer-fields.ts";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { textOf } from "../support/deploy/answers.ts";
import { rounds } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { startFilled } from "../support/filled.ts";
import { bulkFieldsOf, fourPrinters, sendBulk, startFour } from "../support/printers/four-printers.ts";
import { until } from "../support/until.ts";

/** A service with the four printers, whose driver 2 has no chosen model. */
const startUnchosen = (t: TestContext) => startFilled(t, fillUnchosen);
const fillUnchosen = (service: TestApp) => fourPrinters(service, false);

const toDriver2 = (ids: string) => ({ ids, action: "driver", driver_id: "2" });

/** The driver and model of each printer. */
const modelsOf = (service: TestApp) =>
  bulkFieldsOf(service).map(({ driver, model }) => `${driver} ${model}`.trim());

test("a bulk change of driver keeps each printer’s model if the driver has it, or sets one for all", async (t) => {
  const service = await startFour(t);
  const before = service.app.store.printers.get(3).printer;
  const body = new URLSearchParams({ action: "driver", driver_id: "2", confirmed: "1" });
  for (const id of ["1", "2", "3"]) body.append("ids", id);

  const refused = await sendBulk(service, { ...toDriver2("1,2,3,4"), driver_desc: "Only old" });
  const untouched = modelsOf(service);
  const text = await textOf(service.fetch("/printers/bulk", { method: "POST", body }));
  const kept = modelsOf(service);
  const after = service.app.store.printers.get(3).printer;
  await sendBulk(service, { ...toDriver2("1,2,3,4"), driver_desc: "Both" });
  const all = modelsOf(service);
  const none = await textOf(sendBulk(service, { ids: "1,2", action: "driver", driver_id: "" }));

  assert.equal(refused.status, 422);
  assert.match(await refused.text(), /The driver does not contain the model “Only old”/);
  assert.deepEqual(untouched, ["1", "1 Both", "1 Only old", "1"]);
  assert.match(text, /3 printers now use <a href="\/drivers\/2">/);
  assert.deepEqual(kept, ["2 Both", "2 Both", "2", "1"]);
  assert.deepEqual(after, { ...before, driver_id: 2, driver_desc: "" }, "nothing else of it is changed");
  assert.deepEqual(all, Array(4).fill("2 Both"));
  assert.match(none, /2 printers now have no driver\./);
  assert.deepEqual(modelsOf(service), ["undefined", "undefined", "2 Both", "2 Both"]);
});

test("a bulk change asks for a model and changes nothing if the driver has no chosen model and lacks a printer’s", async (t) => {
  const service = await startUnchosen(t);
  const before = bulkFieldsOf(service);

  const refused = await sendBulk(service, toDriver2("1,2,3"));
  const page = await textOf(sendBulk(service, toDriver2("1,2,3"), navigation));
  const untouched = bulkFieldsOf(service);
  const done = await sendBulk(service, { ...toDriver2("1,2,3"), driver_desc: "New", only_unmatched: "on" });

  assert.equal(refused.status, 422);
  assert.match(await refused.text(), /“[^”]*” does not contain the model of “C”\. Choose a model\./);
  assert.match(page, /<details name="bulk" +open><summary class="button">Driver/);
  assert.match(page, /<option value="2" selected>/);
  assert.match(page, /id="bulk-model-problem">“[^”]*” does not contain the model/);
  assert.deepEqual(untouched, before);
  assert.match(await done.text(), /3 printers now use .*\. Download and deploy them again\./);
  assert.deepEqual(modelsOf(service), ["2 Both", "2 Both", "2 New", "1"]);
});

test("a model for unmatched printers does not change a printer whose model the driver has", async (t) => {
  const service = await startUnchosen(t);
  await service.post("/printers", { name: "E", driver_id: "2", address: "10.0.0.1" });
  const { driver_desc } = service.app.store.drivers.get(2);
  const other = ["New", "Both"].find((model) => model !== driver_desc) ?? "";

  const done = await sendBulk(service, { ...toDriver2("5"), driver_desc: other, only_unmatched: "on" });

  assert.match(await done.text(), /1 printer now uses .*\. Download and deploy it again\./);
  assert.equal(service.app.store.printers.get(5).printer.driver_desc, driver_desc);
});

test("bulk changes match models as moves do, and printers that have the driver already stay the same", async (t) => {
  const service = await startApp(t);
  const { post, addDriver, app } = service;
  await addDriver(driverZip({ models: ["Papyrus 100", "Papyrus 200 v1.0"] }));
  await addDriver(driverZip({ models: ["Vellum 1", "PAPYRUS 100", "Papyrus 200 v2.0"], version: "2.0.0.0" }));
  const address = "10.0.0.1";
  await post("/printers", { name: "A", driver_id: "1", address });
  await post("/printers", { name: "B", driver_id: "1", driver_desc: "Papyrus 200 v1.0", address });
  await post("/printers", { name: "C", driver_id: "2", address });
  const before = app.store.printers.get(3).printer;

  const text = await textOf(sendBulk(service, toDriver2("1,2,3")));

  assert.deepEqual(modelsOf(service), ["2 PAPYRUS 100", "2 Papyrus 200 v2.0", "2"]);
  assert.match(text, /2 printers now use /);
  assert.deepEqual(app.store.printers.get(3).printer, before);
});

test("a bulk change sees earlier requests' changes, and overwrites none of them", async (t) => {
  const service = await startApp(t);
  const { printers, change } = service.app.store;
  const models = Array.from({ length: rounds(20, 600) }, (_, i) => `Papyrus ${i} PCL6`);
  for (const version of ["1.0.0.0", "2.0.0.0"]) await service.addDriver(driverZip({ models, version }));
  const made = models.map((driver_desc, i) =>
    printers.add(parsePrinter({ name: `P${i}`, address: "10.0.0.1", driver_id: "1", driver_desc })),
  );
  const ids = await Promise.all(made);
  await service.app.overview.read();
  const chosen = { driver_id: "2", driver_desc: "Papyrus 7 PCL6" };
  const settings = parsePrinter({ name: "Renamed", address: "10.9.9.9", ...chosen });
  t.mock.method(service.app.store, "change", (work: Parameters<typeof change>[0]) => {
    void printers.update(ids[0] ?? 0, settings);
    const done = change(work);
    void printers.update(ids[1] ?? 0, settings);
    return done;
  });

  const answer = await sendBulk(service, toDriver2(ids.join()));
  await until(() => printers.get(ids[1] ?? 0).printer.name === "Renamed");

  const after = ids.map((id) => printers.get(id).printer);
  const found = after.slice(0, 3).map(({ name, driver_desc }) => `${name} ${driver_desc}`);
  assert.equal(answer.status, 200);
  assert.deepEqual(found, ["Renamed Papyrus 7 PCL6", "Renamed Papyrus 7 PCL6", "P2 Papyrus 2 PCL6"]);
  assert.ok(after.every(({ driver_id }) => driver_id === 2));
});
