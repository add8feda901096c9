import assert from "node:assert/strict";
import { test } from "node:test";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { overlappingInfs, saveDriverForm, severalModels } from "../support/drivers/driver-form.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

const abc = ["Papyrus A", "Papyrus B", "Papyrus C"];

/** The values of the buttons with the nearest names for a field, sorted. */
function offeredIn(page: string, field: string): string[] {
  const buttons = page.matchAll(new RegExp(`<button name="${field}" value="([^"]*)" data-fill>`, "g"));
  return [...buttons].map(([, name = ""]) => name).sort();
}

async function sendPrinter({ post }: TestApp, path: string, fields: Record<string, string>): Promise<string> {
  const form = { from_form: "1", name: "Office", address: "10.0.0.9", driver_id: "1", ...fields };
  return (await post(path, form, navigation)).text();
}

test("a printer's form answers a model that the driver lacks with buttons, and a button sends the form", async (t) => {
  const service = await startApp(t);
  await service.addDriver(severalModels);

  const refused = await sendPrinter(service, "/printers", { driver_desc: "papyrus z" });
  const unlike = await sendPrinter(service, "/printers", { driver_desc: "Vellum 7" });
  const body = new URLSearchParams(`name=Office&driver_id=1&driver_desc=papyrus+z&driver_desc=Papyrus+B`);
  const pressed = await service.fetch("/printers", { method: "POST", body, headers: navigation });
  const edit = await (await service.fetch("/printers/1/edit")).text();

  assert.deepEqual(offeredIn(refused, "driver_desc"), abc);
  assert.match(refused, /name="driver_desc"[^>]*\n?[^>]*value="papyrus z"/, "what was typed is kept");
  assert.deepEqual(offeredIn(unlike, "driver_desc"), []);
  assert.equal(pressed.status, 303);
  assert.equal(
    service.app.store.printers.get(1).printer.driver_desc,
    "Papyrus B",
    "the button's value counts",
  );
  assert.deepEqual(offeredIn(edit, "driver_desc"), []);
});

test("the form of a printer whose driver has lost its model offers the nearest names at once", async (t) => {
  const service = await startApp(t);
  await service.addDriver(overlappingInfs());
  await service.addPrinter({ driver_id: "1", driver_desc: "Papyrus A" });
  await service.post("/drivers/1", { inf_path: "sub/second.inf", driver_desc: "Papyrus B" });

  const page = await (await service.fetch("/printers/1")).text();
  const edit = await (await service.fetch("/printers/1/edit")).text();

  assert.match(page, /href="\/printers\/1\/edit#f-driver_desc">Choose another model/);
  assert.deepEqual(offeredIn(edit, "driver_desc"), ["Papyrus B", "Papyrus C"]);
});

test("a move, a bulk change and a driver's form offer the nearest names too", async (t) => {
  const service = await startApp(t);
  await service.addDriver(driverZip({ models: ["Papyrus A1", "Papyrus X"] }));
  await service.addDriver(driverZip({ models: abc, version: "2.0.0.0" }));
  await service.addPrinter({ driver_id: "1", driver_desc: "Papyrus A1" });

  const move = await (await service.fetch("/drivers/1/move?to=2")).text();
  const bulk = await service.post("/printers/bulk", {
    ids: "1",
    action: "driver",
    driver_id: "2",
    driver_desc: "Papyrus BB",
  });
  const confirm = await (await saveDriverForm(service, 2, { driver_desc_typed: "Papyrus CC" })).text();
  const chosen = await saveDriverForm(service, 2, { driver_desc_typed: "Papyrus C" });

  assert.deepEqual(offeredIn(move, "model_0"), abc);
  assert.match(
    await bulk.text(),
    /The driver does not contain the model “Papyrus BB”\. Similar models: “Papyrus B”, /,
  );
  assert.deepEqual(offeredIn(confirm, "driver_desc_typed"), abc);
  assert.equal(chosen.status, 303);
});
