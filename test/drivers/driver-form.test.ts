import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { navigation, startApp } from "../support/app.ts";
import { undoLast } from "../support/backup/deletions.ts";
import { driverZip, printerInf } from "../support/drivers/driver-zip.ts";

const severalModels = driverZip({ models: ["Papyrus A", "Papyrus B", "Papyrus C"] });
const htmxHeaders = { "hx-request": "true" };

/** A driver with two INFs: the first with models A and B, the second with B and C. */
const overlappingInfs = driverZip({
  models: ["Papyrus A", "Papyrus B"],
  extra: [
    { name: "sub/second.inf", bytes: printerInf({ models: ["Papyrus B", "Papyrus C"], version: "9.9.9.9" }) },
    { name: "sub/papyrus.dll", bytes: "its own" },
    { name: "sub/papyrus.cat", bytes: "catalog" },
  ],
});

/** Starts the service with a driver. `save` sends its form, by default as a browser without scripts. */
async function startWithDriver(t: TestContext, zip?: Buffer) {
  const service = await startApp(t);
  await service.addDriver(zip);
  const save = (fields: Record<string, string>, headers: Record<string, string> = navigation) =>
    service.post("/drivers/1", { from_form: "1", ...fields }, headers);
  const text = async (path: string) => (await service.fetch(path)).text();
  const record = () => service.app.store.drivers.get(1);
  const stateNow = async (id = 1) => (await service.app.overview.driver(id)).driver.state;
  return { ...service, save, text, record, stateNow };
}

const toSecond = { inf_path: "sub/second.inf", driver_desc: "Papyrus B" };
const office = { name: "Office", address: "10.0.0.9", driver_id: "1" };

function confirmedIn(page: string): string {
  return /name="confirmed" value="([0-9a-f]+)"/.exec(page)?.[1] ?? "";
}

/** The values of the buttons with the nearest names for a field, sorted. */
function offeredIn(page: string, field: string): string[] {
  const buttons = page.matchAll(new RegExp(`<button name="${field}" value="([^"]*)" data-fill>`, "g"));
  return [...buttons].map(([, name = ""]) => name).sort();
}

test("a driver is ready while its printers choose their models; else it, its list and the printer say where to choose", async (t) => {
  const { addDriver, addPrinter, app, post, stateNow, text } = await startWithDriver(t, severalModels);
  const states = [await stateNow()];
  const chosen = { driver_id: "1", name: "Two", driver_desc: "Papyrus B" };

  await addPrinter(chosen);
  states.push(await stateNow());
  const printer = await addPrinter({ driver_id: "1" });
  states.push(await stateNow());
  const { row } = await app.overview.printer(printer);
  const { driver } = await app.overview.driver(1);
  const pages = [await text(`/printers/${printer}`), await text("/printers?state=unchosen-model")];
  const list = await text("/drivers");
  await post(`/printers/${printer}`, { ...office, ...chosen });
  states.push(await stateNow());
  const forBoth = { models: ["Papyrus D", "Papyrus E"], decoration: "NTamd64,NTarm64", version: "2.0.0.0" };
  await addPrinter({ ...chosen, name: "Three", arm64_driver_id: `${await addDriver(driverZip(forBoth))}` });
  const arm64 = (await app.overview.driver(2)).driver;

  assert.deepEqual(states, ["ready", "ready", "attention", "ready"]);
  const finding = "No model is chosen. Packages install the first of 3 models: Papyrus A.";
  for (const { state, findings } of [row, driver])
    assert.deepEqual([state, findings[0]?.text], ["attention", finding]);
  assert.match(list, /href="\/drivers\/1\?tab=model#models-found">Choose the model/);
  for (const page of pages)
    assert.match(page, new RegExp(`href="/printers/${printer}/edit#f-driver_desc">Choose the model`));
  const kinds = arm64.findings.map(({ kind }) => kind);
  assert.deepEqual(kinds, ["unchosen-model"], "the driver for ARM64 is used with its own model");
});

test("a browser's form of a printer needs a model while the driver has none chosen; a plain request does not", async (t) => {
  const { app, post, save } = await startWithDriver(t, severalModels);
  const form = { ...office, from_form: "1" };

  const refused = await post("/printers", form, navigation);
  const both = await post("/printers", { ...form, name: "" }, htmxHeaders);
  const plain = await post("/printers", office);
  const chosen = await post("/printers", { ...form, name: "Two", driver_desc: "Papyrus B" }, navigation);
  await save({ driver_desc: "Papyrus A" });
  const later = await post("/printers", { ...form, name: "Three" }, navigation);

  const statuses = [refused, both, plain, chosen, later].map(({ status }) => status);
  assert.deepEqual(statuses, [422, 422, 200, 303, 303]);
  const page = await refused.text();
  assert.match(page, /Choose one of 3 models\./);
  assert.match(page, /<option value="Papyrus C">/, "the models are suggested without scripts too");
  assert.match(await both.text(), /name is required[\s\S]*Choose one of 3 models/);
  const models = app.store.printers.list().map(({ printer }) => printer.driver_desc);
  assert.deepEqual(models, ["", "", "Papyrus B"]);
});

test("no model is preselected unless a name is for all devices, and a preselected one is chosen by a person, not by a saved comment", async (t) => {
  const { addDriver, app, record, save, stateNow, text } = await startWithDriver(t, severalModels);
  const universal = await addDriver(driverZip({ models: ["Papyrus 1", "Papyrus Universal PCL6"] }));

  const [openPage, universalPage] = [await text("/drivers/1"), await text(`/drivers/${universal}`)];
  const commented = await save({ comment: "for the ground floor" });
  const afterComment = record().model_chosen;
  const confirmed = await save({ driver_desc: "Papyrus A" });

  assert.match(openPage, /used because no model is chosen/);
  assert.doesNotMatch(openPage, /name="driver_desc"[^>]*checked/);
  assert.match(universalPage, /value="Papyrus Universal PCL6"\s+checked/);
  assert.equal(app.store.drivers.get(universal).driver_desc, "Papyrus Universal PCL6");
  assert.deepEqual([commented.status, confirmed.status], [303, 303]);
  assert.deepEqual([afterComment, record().model_chosen], [false, true]);
  assert.deepEqual([await stateNow(), await stateNow(universal)], ["ready", "ready"]);
});

test("a change of the INF keeps the model if the new INF has it and otherwise asks for one", async (t) => {
  const { record, save } = await startWithDriver(t, overlappingInfs);
  await save({ driver_desc: "Papyrus A" });

  const lacking = await save({ ...toSecond, driver_desc: "Papyrus A" });
  const none = await save({ inf_path: "sub/second.inf" });
  const kept = record();
  await save({ driver_desc: "Papyrus B" });
  const moved = await save(toSecond);

  assert.deepEqual([lacking.status, none.status, moved.status], [422, 422, 303]);
  const page = await lacking.text();
  assert.match(page, /Choose one of 2 models\./);
  assert.match(page, /value="Papyrus C"/, "the models of the other INF are there to choose");
  assert.doesNotMatch(page, /value="Papyrus A"/);
  assert.deepEqual([kept.inf_path, kept.driver_desc], ["papyrus.inf", "Papyrus A"]);
  const { inf_path, driver_desc, model_chosen } = record();
  assert.deepEqual([inf_path, driver_desc, model_chosen], ["sub/second.inf", "Papyrus B", true]);
});

test("a plain request saves an INF and a model, and another INF changes the model to its preferred one", async (t) => {
  const second = printerInf({ models: ["Second A v2.0", "Second A"], version: "9.9.9.9" });
  const extra = [{ name: "sub/second.inf", bytes: second }];
  const { post, record } = await startWithDriver(t, driverZip({ models: ["First A", "First B"], extra }));
  const fields = { driver_desc: "First B", name: "Named", comment: "c", trust_publisher: "on" };

  await post("/drivers/1", fields);
  const first = record();
  await post("/drivers/1", { inf_path: "sub/second.inf" });
  const other = record();
  const wrong = await post("/drivers/1", { inf_path: "nothing.inf" });

  assert.deepEqual([first.driver_desc, first.name, first.trust_publisher], ["First B", "Named", true]);
  assert.deepEqual([other.inf_path, other.driver_desc], ["sub/second.inf", "Second A"]);
  assert.equal(wrong.status, 422);
});

test("without scripts a button shows the models of another INF, and a search those of every INF; nothing typed is lost or saved", async (t) => {
  const { record, save, text } = await startWithDriver(t, overlappingInfs);
  const typed = { name: "Typed", comment: "also typed", trust_publisher: "on", q: "c" };

  const shown = await save({ show: "models", inf_path: "sub/second.inf", ...typed });
  const found = await text("/drivers/1/models?q=papyrus+c&inf_path=papyrus.inf");
  const pick = /name="pick" value="([^"]+)"/.exec(found)?.[1] ?? "";
  const fragment = await text(`/drivers/1/models?pick=${encodeURIComponent(pick)}`);
  const picked = await (await save({ pick, name: "Typed" })).text();
  const garbage = await save({ pick: "99:x" });

  const page = await shown.text();
  assert.deepEqual([shown.status, garbage.status], [200, 200]);
  for (const part of [/Nothing is saved yet/, /value="Papyrus C"/, /also typed/]) assert.match(page, part);
  assert.match(page, /name="trust_publisher"[^>]*checked/);
  assert.match(found, /In other INFs of this ZIP: 1 model/);
  assert.match(found, /in <bdi>sub\/second\.inf<\/bdi>/);
  for (const answer of [page, fragment, picked]) assert.match(answer, /value="sub\/second\.inf"\s+checked/);
  for (const answer of [fragment, picked]) assert.match(answer, /value="Papyrus C"\s+checked/);
  for (const answer of [page, picked]) assert.match(answer, /value="Typed"/);
  assert.equal(record().name, "Papyrus A/B 1.2");
});

test("a save that affects printers shows its effects first and happens after the confirmation", async (t) => {
  const { addPrinter, app, post, record, save, text } = await startWithDriver(t, overlappingInfs);
  await save({ driver_desc: "Papyrus B" });
  await post("/clients", { name: "Alpha" });
  await addPrinter({ driver_id: "1", name: "Own <1>", client_id: "1" });
  await addPrinter({ driver_id: "1", name: "Chosen", driver_desc: "Papyrus A" });
  const change = { ...toSecond, comment: "kept & sent again" };

  const unconfirmed = await save(change);
  const page = await unconfirmed.text();
  const before = record().inf_path;
  const done = await save({ ...change, confirmed: confirmedIn(page) });
  const message = await text(done.headers.get("location") ?? "");
  const twice = await save({ ...change, confirmed: confirmedIn(page) });

  assert.equal(unconfirmed.status, 200);
  assert.match(page, /deployed again: <a[^>]*><bdi>Own &lt;1&gt;<\/bdi><\/a> \(<bdi>Alpha<\/bdi>\)\./);
  assert.match(page, /1 printer will be blocked\. The INF does not contain .*Papyrus A.*<bdi>Chosen/);
  assert.match(page, /name="comment" value="kept &amp; sent again"/);
  assert.equal(before, "papyrus.inf");
  assert.equal(done.status, 303);
  assert.match(done.headers.get("location") ?? "", /^\/drivers\/1\?done=redeploy&change=[\w-]{12}$/);
  assert.deepEqual([twice.status, twice.headers.get("location")], [303, "/drivers/1?done=saved"]);
  const printers = await app.overview.findMany([1, 2]);
  assert.deepEqual([printers.get(1)?.state, printers.get(2)?.state], ["ready", "blocked"]);
  assert.match(message, /class="notice warn"[^>]*>\s*<p>Saved: [\s\S]*1 printer cannot be deployed with/);
});

test("a confirmation of outdated effects is requested again; names, comments and plain requests need none", async (t) => {
  const { addPrinter, post, record, save } = await startWithDriver(t, severalModels);
  await addPrinter({ driver_id: "1", name: "One" });
  const change = { driver_desc: "Papyrus C" };

  const first = await (await save(change)).text();
  await addPrinter({ driver_id: "1", name: "Two" });
  const second = await (await save({ ...change, confirmed: confirmedIn(first) }, htmxHeaders)).text();
  const after = record().driver_desc;
  const back = await (await save({ ...change, show: "form", name: "Typed" }, htmxHeaders)).text();
  const named = await save({ name: "Ground floor", comment: "c" });
  const plain = await post("/drivers/1", change);
  const saved = await save({ comment: "d" }, htmxHeaders);

  assert.match(first, /1 printer must be deployed again/);
  assert.match(first, /have the model “<bdi>Papyrus C<\/bdi>” instead of “<bdi>Papyrus A<\/bdi>”: .*One</);
  assert.match(second, /The data changed meanwhile/);
  assert.match(second, /2 printers must be deployed again/);
  assert.equal(after, "Papyrus A");
  assert.match(back, /value="Papyrus C"\s+checked/);
  assert.match(back, /value="Typed"/);
  assert.deepEqual([named.status, plain.status, record().driver_desc], [303, 200, "Papyrus C"]);
  assert.match(saved.headers.get("hx-redirect") ?? "", /^\/drivers\/1\?done=saved&change=[\w-]{12}$/);
});

test("a printer's form answers a model that the driver lacks, or has lost, with buttons, and a button sends the form", async (t) => {
  const { app, fetch, post, text } = await startWithDriver(t, overlappingInfs);
  const send = async (driver_desc: string) =>
    (await post("/printers", { ...office, from_form: "1", driver_desc }, navigation)).text();

  const [refused, unlike] = [await send("papyrus z"), await send("Vellum 7")];
  const body = new URLSearchParams("name=Office&driver_id=1&driver_desc=papyrus+z&driver_desc=Papyrus+A");
  const pressed = await fetch("/printers", { method: "POST", body, headers: navigation });
  const edit = await text("/printers/1/edit");
  await post("/drivers/1", toSecond);
  const [page, later] = [await text("/printers/1"), await text("/printers/1/edit")];

  assert.deepEqual(offeredIn(refused, "driver_desc"), ["Papyrus A", "Papyrus B"]);
  assert.match(refused, /name="driver_desc"[^>]*\n?[^>]*value="papyrus z"/, "what was typed is kept");
  assert.equal(pressed.status, 303);
  assert.equal(app.store.printers.get(1).printer.driver_desc, "Papyrus A", "the button's value counts");
  for (const form of [unlike, edit]) assert.deepEqual(offeredIn(form, "driver_desc"), []);
  assert.match(page, /href="\/printers\/1\/edit#f-driver_desc">Choose another model/);
  assert.deepEqual(offeredIn(later, "driver_desc"), ["Papyrus B", "Papyrus C"]);
});

test("a move, a bulk change and a driver's form offer the nearest names, and a typed model that the INF lacks needs a confirmation", async (t) => {
  const service = await startWithDriver(t, severalModels);
  const { addDriver, addPrinter, post, record, save, stateNow, text } = service;
  await addDriver(driverZip({ models: ["Papyrus A1", "Papyrus X"], version: "0.1" }));
  const nameless = await addDriver(driverZip({ models: [], version: "2.0.0.0" }));
  await addPrinter({ driver_id: "2", driver_desc: "Papyrus A1" });
  const change = { ids: "1", action: "driver", driver_id: "1", driver_desc: "Papyrus BB" };
  const typed = { driver_desc_typed: "Papyrus Z" };

  const [move, list] = [await text("/drivers/2/move?to=1"), await text("/drivers")];
  const bulk = await (await post("/printers/bulk", change)).text();
  const unconfirmed = await (await save(typed)).text();
  const before = record().driver_desc;
  await save({ ...typed, confirmed: confirmedIn(unconfirmed) });
  const after = [record().driver_desc, await stateNow()];
  const free = await post(`/drivers/${nameless}`, { from_form: "1", ...typed }, navigation);
  const script = await text(`/drivers/${nameless}/scripts/detect`);
  const chosen = await save({ driver_desc_typed: "Papyrus C" });

  const abc = ["Papyrus A", "Papyrus B", "Papyrus C"];
  assert.deepEqual(offeredIn(move, "model_0"), abc);
  assert.match(bulk, /The driver does not contain the model “Papyrus BB”\. Similar models: “Papyrus B”, /);
  assert.deepEqual(offeredIn(unconfirmed, "driver_desc_typed"), abc);
  assert.match(unconfirmed, /does not contain the model “<bdi>Papyrus Z<\/bdi>”\. Windows will refuse it/);
  assert.deepEqual([before, ...after], ["Papyrus A", "Papyrus Z", "blocked"]);
  assert.match(list, /This driver has no model/);
  assert.match(script, /DriverNames = @\('Papyrus Z'\)/);
  assert.deepEqual([free.status, chosen.status, await stateNow(nameless)], [303, 303, "blocked"]);
});

test("“Install exactly this version” shows its effect first, reaches scripts and packages, and can be undone", async (t) => {
  const service = await startWithDriver(t);
  const { addPrinter, app, fetch, save, text } = service;
  await addPrinter({ driver_id: "1" });
  const seen = async () => {
    const { headers } = await fetch("/printers/1/packages/rmm", { method: "HEAD" });
    const script = await text("/printers/1/scripts/install");
    const parts = [/Revision = '(\w+)'/, /ExactVersion = (\S+)/].map((part) => part.exec(script)?.[1]);
    return [...parts, headers.get("etag")];
  };
  const isChanged = async () => (await app.overview.printer(1)).row.changed;

  const before = await seen();
  const deployed = await isChanged();
  const form = await text("/drivers/1");
  const asked = await (await save({ exact_version: "on" })).text();
  const unsaved = await seen();
  await save({ exact_version: "on", confirmed: confirmedIn(asked) });
  const changed = await isChanged();
  const after = await seen();
  const [ticked, log] = [await text("/drivers/1"), await text("/audit")];
  await undoLast(service);

  assert.match(form, /Other queues of the driver change drivers for a moment/);
  assert.match(asked, /1 printer must be deployed again/);
  assert.deepEqual(unsaved, before);
  assert.deepEqual([before[1], after[1], deployed, changed], ["$false", "$true", false, true]);
  for (const i of [0, 2]) assert.notEqual(after[i], before[i]);
  assert.match(ticked, /name="exact_version"[^>]* checked/);
  assert.match(log, /Install exactly this version/);
  assert.deepEqual(await seen(), before);
});

test("an exact version survives a deletion that is undone and a restart", async (t) => {
  const service = await startWithDriver(t);
  await service.post("/drivers/1", { exact_version: "on" });

  await service.fetch("/drivers/1", { method: "DELETE" });
  await undoLast(service);
  const back = service.record().exact_version;
  await service.stop();
  const { app } = await startApp(t, { dataDir: service.dataDir });

  assert.deepEqual([back, app.store.drivers.get(1).exact_version], [true, true]);
});
