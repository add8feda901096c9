import assert from "node:assert/strict";
import { test } from "node:test";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import {
  htmxHeaders,
  overlappingInfs,
  saveDriverForm,
  severalModels,
} from "../support/drivers/driver-form.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

test("a driver is ready while its printers choose their models, and a printer without one links to its field", async (t) => {
  const { addDriver, addPrinter, app, fetch, post } = await startApp(t);
  const id = await addDriver(severalModels);
  const stateNow = async () => (await app.overview.driver(id)).driver.state;
  const states = [await stateNow()];
  const chosen = { driver_id: String(id), name: "Two", driver_desc: "Papyrus B" };

  await addPrinter(chosen);
  states.push(await stateNow());
  const printer = await addPrinter({ driver_id: String(id) });
  states.push(await stateNow());
  const page = await (await fetch(`/printers/${printer}`)).text();
  const list = await (await fetch("/printers?state=unchosen-model")).text();
  await post(`/printers/${printer}`, { ...chosen, name: "Office", address: "10.0.0.9" });
  states.push(await stateNow());
  await addPrinter({ ...chosen, name: "Three", arm64_driver_id: String(await addDriver(forBoth)) });
  const arm64 = (await app.overview.driver(2)).driver;

  assert.deepEqual(states, ["ready", "ready", "attention", "ready"]);
  assert.match(page, new RegExp(`href="/printers/${printer}/edit#f-driver_desc">Choose the model`));
  assert.match(list, new RegExp(`href="/printers/${printer}/edit#f-driver_desc">Choose the model`));
  assert.deepEqual(
    arm64.findings.map(({ kind }) => kind),
    ["unchosen-model"],
    "the driver for ARM64 is used with its own model",
  );
});

test("a driver whose own model printers deploy says which, and how to choose", async (t) => {
  const { addDriver, addPrinter, app, fetch } = await startApp(t);
  const id = await addDriver(severalModels);
  const printer = await addPrinter({ driver_id: String(id) });

  const { row } = await app.overview.printer(printer);
  const { driver } = await app.overview.driver(id);
  const list = await (await fetch("/drivers")).text();

  for (const { state, findings } of [row, driver]) {
    assert.equal(state, "attention");
    assert.match(
      findings[0]?.text ?? "",
      /^No model is chosen\. Packages install the first of 3 models: Papyrus A\.$/,
    );
  }
  assert.match(list, new RegExp(`href="/drivers/${id}\\?tab=model#models-found">Choose the model`));
});

/** A driver with several models for x64 and ARM64. */
const forBoth = driverZip({
  models: ["Papyrus D", "Papyrus E"],
  decoration: "NTamd64,NTarm64",
  version: "2.0.0.0",
});

test("a browser's form of a printer needs a model while the driver has none chosen; a plain request does not", async (t) => {
  const { addDriver, post, app } = await startApp(t);
  const id = String(await addDriver(severalModels));
  const printer = { name: "Office", address: "10.0.0.9", driver_id: id };

  const refused = await post("/printers", { ...printer, from_form: "1" }, navigation);
  const both = await post("/printers", { ...printer, name: "", from_form: "1" }, htmxHeaders);
  const plain = await post("/printers", printer);
  const chosen = await post(
    "/printers",
    { ...printer, name: "Two", driver_desc: "Papyrus B", from_form: "1" },
    navigation,
  );
  await saveDriverForm({ post } as TestApp, Number(id), { driver_desc: "Papyrus A" });
  const later = await post("/printers", { ...printer, name: "Three", from_form: "1" }, navigation);

  assert.deepEqual(
    [refused, both, plain, chosen, later].map(({ status }) => status),
    [422, 422, 200, 303, 303],
  );
  const page = await refused.text();
  assert.match(page, /Choose one of 3 models\./);
  assert.match(page, /<option value="Papyrus C">/, "the models are suggested without scripts too");
  assert.match(await both.text(), /name is required[\s\S]*Choose one of 3 models/);
  assert.deepEqual(
    app.store.printers.list().map(({ printer }) => printer.driver_desc),
    ["", "", "Papyrus B"],
  );
});

test("a preselected model counts as chosen after a person confirms it, not after a saved comment", async (t) => {
  const service = await startApp(t);
  const id = await service.addDriver(severalModels);
  const isChosen = () => service.app.store.drivers.get(id).model_chosen;

  const commented = await saveDriverForm(service, id, { comment: "for the ground floor" });
  const afterComment = isChosen();
  const confirmed = await saveDriverForm(service, id, { driver_desc: "Papyrus A" });

  assert.deepEqual([commented.status, confirmed.status], [303, 303]);
  assert.deepEqual([afterComment, isChosen()], [false, true]);
  assert.equal((await service.app.overview.driver(id)).driver.state, "ready");
});

test("no model is preselected until a person chooses one, unless a name is for all devices", async (t) => {
  const { addDriver, fetch, app } = await startApp(t);
  const open = await addDriver(severalModels);
  const universal = await addDriver(driverZip({ models: ["Papyrus 1", "Papyrus Universal PCL6"] }));

  const [openPage, universalPage] = await Promise.all(
    [open, universal].map(async (id) => (await fetch(`/drivers/${id}`)).text()),
  );

  assert.match(openPage ?? "", /used because no model is chosen/);
  assert.doesNotMatch(openPage ?? "", /name="driver_desc"[^>]*checked/);
  assert.match(universalPage ?? "", /value="Papyrus Universal PCL6"\s+checked/);
  assert.equal(app.store.drivers.get(universal).driver_desc, "Papyrus Universal PCL6");
  assert.equal((await app.overview.driver(universal)).driver.state, "ready");
});

test("a change of the INF keeps the model if the new INF has it and otherwise asks for one", async (t) => {
  const service = await startApp(t);
  const id = await service.addDriver(overlappingInfs());
  const { drivers } = service.app.store;
  await saveDriverForm(service, id, { driver_desc: "Papyrus A" });

  const lacking = await saveDriverForm(service, id, { inf_path: "sub/second.inf", driver_desc: "Papyrus A" });
  const none = await saveDriverForm(service, id, { inf_path: "sub/second.inf" });
  const kept = drivers.get(id);
  await saveDriverForm(service, id, { driver_desc: "Papyrus B" });
  const moved = await saveDriverForm(service, id, { inf_path: "sub/second.inf", driver_desc: "Papyrus B" });

  assert.deepEqual([lacking.status, none.status, moved.status], [422, 422, 303]);
  const page = await lacking.text();
  assert.match(page, /Choose one of 2 models\./);
  assert.match(page, /value="Papyrus C"/, "the models of the other INF are there to choose");
  assert.doesNotMatch(page, /value="Papyrus A"/);
  assert.deepEqual([kept.inf_path, kept.driver_desc], ["papyrus.inf", "Papyrus A"]);
  const { inf_path, driver_desc, model_chosen } = drivers.get(id);
  assert.deepEqual([inf_path, driver_desc, model_chosen], ["sub/second.inf", "Papyrus B", true]);
});

test("a button shows the models of another INF without scripts, keeps typed values and saves nothing", async (t) => {
  const service = await startApp(t);
  const id = await service.addDriver(overlappingInfs());

  const response = await saveDriverForm(service, id, {
    show: "models",
    inf_path: "sub/second.inf",
    name: "Typed",
    comment: "also typed",
    trust_publisher: "on",
    q: "c",
  });

  const page = await response.text();
  assert.equal(response.status, 200);
  for (const part of [/Nothing is saved yet/, /value="Papyrus C"/, /value="Typed"/, /also typed/])
    assert.match(page, part);
  assert.match(page, /name="trust_publisher"[^>]*checked/);
  assert.match(page, /value="sub\/second\.inf"\s+checked/);
  assert.equal(service.app.store.drivers.get(id).name, "Papyrus A/B 1.2");
});

test("a search finds models in every INF of the archive, and choosing one chooses its INF", async (t) => {
  const service = await startApp(t);
  const id = await service.addDriver(overlappingInfs());

  const found = await (await service.fetch(`/drivers/${id}/models?q=papyrus+c&inf_path=papyrus.inf`)).text();
  const pick = /name="pick" value="([^"]+)"/.exec(found)?.[1] ?? "";
  const fragment = await (
    await service.fetch(`/drivers/${id}/models?pick=${encodeURIComponent(pick)}`)
  ).text();
  const page = await (await saveDriverForm(service, id, { pick, name: "Typed" })).text();
  const garbage = await saveDriverForm(service, id, { pick: "99:x" });

  assert.match(found, /In other INFs of this ZIP: 1 model/);
  assert.match(found, /in <bdi>sub\/second\.inf<\/bdi>/);
  for (const text of [fragment, page]) {
    assert.match(text, /value="sub\/second\.inf"\s+checked/);
    assert.match(text, /value="Papyrus C"\s+checked/);
  }
  assert.match(page, /value="Typed"/);
  assert.equal(garbage.status, 200);
});

test("a change of the INF lists all models of the new INF", async (t) => {
  const { addDriver, fetch } = await startApp(t);
  const id = await addDriver(overlappingInfs());

  const answer = await fetch(`/drivers/${id}/models?inf_path=sub%2Fsecond.inf&driver_desc=Papyrus+A`);
  const list = await answer.text();

  assert.match(list, /2 models in <bdi>sub\/second\.inf<\/bdi>/);
  assert.deepEqual(
    [...list.matchAll(/type="radio" name="driver_desc"[^>]* value="([^"]*)"/g)].map(([, name]) => name),
    ["Papyrus B", "Papyrus C"],
  );
});
