import assert from "node:assert/strict";
import { test } from "node:test";
import { navigation, startApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { bulkFieldsOf, fourPrinters } from "../support/printers/four-printers.ts";

test("a bulk change of driver keeps each printer’s model if the driver has it", async (t) => {
  const service = await startApp(t);
  await fourPrinters(service);
  const before = service.app.store.printers.get(3).printer;

  const body = new URLSearchParams({ action: "driver", driver_id: "2", confirmed: "1" });
  for (const id of ["1", "2", "3"]) body.append("ids", id);
  const text = await (await service.fetch("/printers/bulk", { method: "POST", body })).text();
  const after = service.app.store.printers.get(3).printer;

  assert.match(text, /3 printers now use <a href="\/drivers\/2">/);
  assert.deepEqual(
    bulkFieldsOf(service).map(({ driver, model }) => [driver, model]),
    [
      [2, "Both"],
      [2, "Both"],
      [2, ""],
      [1, ""],
    ],
  );
  assert.deepEqual(after, { ...before, driver_id: 2, driver_desc: "" }, "nothing else of it is changed");
});

test("a bulk change of driver can set one model for all printers", async (t) => {
  const service = await startApp(t);
  await fourPrinters(service);
  const fields = { ids: "1,2,3,4", action: "driver", driver_id: "2", confirmed: "1" };

  const refused = await service.post("/printers/bulk", { ...fields, driver_desc: "Only old" });
  const untouched = bulkFieldsOf(service);
  const done = await service.post("/printers/bulk", { ...fields, driver_desc: "Both" });

  assert.equal(refused.status, 422);
  assert.match(await refused.text(), /The driver does not contain the model “Only old”/);
  assert.ok(untouched.every(({ driver }) => driver === 1));
  assert.equal(done.status, 200);
  assert.ok(bulkFieldsOf(service).every(({ driver, model }) => driver === 2 && model === "Both"));
});

test("a bulk change asks for a model and changes nothing if the driver has no chosen model and lacks a printer’s", async (t) => {
  const service = await startApp(t);
  await fourPrinters(service, false);
  const before = bulkFieldsOf(service);
  const fields = { ids: "1,2,3", action: "driver", driver_id: "2", confirmed: "1" };

  const refused = await service.post("/printers/bulk", fields);
  const page = await (await service.post("/printers/bulk", fields, navigation)).text();
  const untouched = bulkFieldsOf(service);
  const done = await service.post("/printers/bulk", { ...fields, driver_desc: "New", only_unmatched: "on" });

  assert.equal(refused.status, 422);
  assert.match(await refused.text(), /“[^”]*” does not contain the model of “C”\. Choose a model\./);
  assert.match(page, /<details name="bulk" +open><summary class="button">Driver/);
  assert.match(page, /<option value="2" selected>/);
  assert.match(page, /id="bulk-model-problem">“[^”]*” does not contain the model/);
  assert.deepEqual(untouched, before);
  assert.match(await done.text(), /3 printers now use .*deploy them again/);
  assert.deepEqual(
    bulkFieldsOf(service).map(({ driver, model }) => [driver, model]),
    [
      [2, "Both"],
      [2, "Both"],
      [2, "New"],
      [1, ""],
    ],
  );
});

test("a model for unmatched printers does not change a printer whose model the driver has", async (t) => {
  const service = await startApp(t);
  await fourPrinters(service, false);
  await service.post("/printers", { name: "E", driver_id: "2", address: "10.0.0.1" });
  const { driver_desc } = service.app.store.drivers.get(2);
  const other = ["New", "Both"].find((model) => model !== driver_desc) ?? "";

  const done = await service.post("/printers/bulk", {
    ...{
      ids: "5",
      action: "driver",
      driver_id: "2",
      driver_desc: other,
      only_unmatched: "on",
      confirmed: "1",
    },
  });

  assert.match(await done.text(), /1 printer now uses /);
  assert.equal(service.app.store.printers.get(5).printer.driver_desc, driver_desc);
});

test("bulk changes match models as moves do, and printers that have the driver already stay the same", async (t) => {
  const service = await startApp(t);
  const { post, addDriver, app } = service;
  await addDriver(driverZip({ models: ["Papyrus 100", "Papyrus 200 v1.0"] }));
  await addDriver(driverZip({ models: ["Vellum 1", "PAPYRUS 100", "Papyrus 200 v2.0"], version: "2.0.0.0" }));
  const printers = [
    ["A", "1", ""],
    ["B", "1", "Papyrus 200 v1.0"],
    ["C", "2", ""],
  ];
  for (const [name = "", driver_id = "", driver_desc = ""] of printers)
    await post("/printers", { name, driver_id, driver_desc, address: "10.0.0.1" });
  const before = app.store.printers.get(3).printer;

  const text = await (
    await post("/printers/bulk", { ids: "1,2,3", action: "driver", driver_id: "2", confirmed: "1" })
  ).text();

  assert.deepEqual(
    bulkFieldsOf(service).map(({ driver, model }) => [driver, model]),
    [
      [2, "PAPYRUS 100"],
      [2, "Papyrus 200 v2.0"],
      [2, ""],
    ],
  );
  assert.match(text, /2 printers now use /);
  assert.deepEqual(app.store.printers.get(3).printer, before);
});
