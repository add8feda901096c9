import assert from "node:assert/strict";
import { test } from "node:test";
import { navigation, startApp, type TestApp } from "./support/app.ts";
import { driverZip, printerInf } from "./support/driver-zip.ts";

const several = driverZip({ models: ["Papyrus A", "Papyrus B", "Papyrus C"] });
const script = { "hx-request": "true" };

/** A driver of two INFs: the first with A and B, the second with B and C. */
function twoInfs(): Buffer {
  const extra = [
    { name: "sub/second.inf", bytes: printerInf({ models: ["Papyrus B", "Papyrus C"], version: "9.9.9.9" }) },
    { name: "sub/papyrus.dll", bytes: "its own" },
    { name: "sub/papyrus.cat", bytes: "catalog" },
  ];
  return driverZip({ models: ["Papyrus A", "Papyrus B"], extra });
}

/** The form of a driver's page as a browser without scripts sends it. */
function save(
  { post }: TestApp,
  id: number,
  fields: Record<string, string>,
  headers = navigation as Record<string, string>,
) {
  return post(`/drivers/${id}`, { from_form: "1", ...fields }, headers);
}

function confirmedIn(page: string): string {
  return /name="confirmed" value="([0-9a-f]+)"/.exec(page)?.[1] ?? "";
}

test("what arrives without a choice deploys the first name, and says so with the way to choose", async (t) => {
  const { addDriver, addPrinter, app, fetch } = await startApp(t);
  const id = await addDriver(several);
  const printer = await addPrinter({ driver_id: String(id) });

  const { printersById, driversById } = await app.overview.read();
  const list = await (await fetch("/drivers")).text();

  for (const { state, findings } of [printersById.get(printer), driversById.get(id)].flatMap(
    (row) => row ?? [],
  )) {
    assert.equal(state, "attention");
    assert.match(findings[0]?.text ?? "", /^Deploys Papyrus A, the first of 3 names/);
  }
  assert.match(list, new RegExp(`href="/drivers/${id}#models-found">Choose the model`));
});

test("a browser's form of a printer asks for the model that nobody has chosen; a plain request is not asked", async (t) => {
  const { addDriver, post, app } = await startApp(t);
  const id = String(await addDriver(several));
  const printer = { name: "Office", address: "10.0.0.9", driver_id: id };

  const refused = await post("/printers", { ...printer, from_form: "1" }, navigation);
  const both = await post("/printers", { ...printer, name: "", from_form: "1" }, script);
  const plain = await post("/printers", printer);
  const chosen = await post(
    "/printers",
    { ...printer, name: "Two", driver_desc: "Papyrus B", from_form: "1" },
    navigation,
  );
  await save({ post } as TestApp, Number(id), { driver_desc: "Papyrus A" });
  const later = await post("/printers", { ...printer, name: "Three", from_form: "1" }, navigation);

  assert.deepEqual(
    [refused, both, plain, chosen, later].map(({ status }) => status),
    [422, 422, 200, 303, 303],
  );
  const page = await refused.text();
  assert.match(page, /Which model is it\? Choose one of 3 names\./);
  assert.match(page, /<option value="Papyrus C">/, "they are suggested without scripts too");
  assert.match(await both.text(), /name is needed[\s\S]*Which model is it/);
  assert.deepEqual(
    app.store.printers.list().map(({ printer }) => printer.driver_desc),
    ["", "", "Papyrus B"],
  );
});

test("a model counts as chosen when a person confirms the one that was preselected, and not by a comment alone", async (t) => {
  const service = await startApp(t);
  const id = await service.addDriver(several);
  const isChosen = () => service.app.store.drivers.get(id).model_chosen;

  const commented = await save(service, id, { comment: "for the ground floor" });
  const afterComment = isChosen();
  const confirmed = await save(service, id, { driver_desc: "Papyrus A" });

  assert.deepEqual([commented.status, confirmed.status], [303, 303]);
  assert.deepEqual([afterComment, isChosen()], [false, true]);
  assert.equal((await service.app.overview.read()).driversById.get(id)?.state, "ready");
});

test("nothing is preselected until somebody has chosen, and a name for all devices needs no choice", async (t) => {
  const { addDriver, fetch, app } = await startApp(t);
  const open = await addDriver(several);
  const universal = await addDriver(driverZip({ models: ["Papyrus 1", "Papyrus Universal PCL6"] }));

  const [openPage, universalPage] = await Promise.all(
    [open, universal].map(async (id) => (await fetch(`/drivers/${id}`)).text()),
  );

  assert.match(openPage ?? "", /deployed now, chosen by nobody/);
  assert.doesNotMatch(openPage ?? "", /name="driver_desc"[^>]*checked/);
  assert.match(universalPage ?? "", /value="Papyrus Universal PCL6"\s+checked/);
  assert.equal(app.store.drivers.get(universal).driver_desc, "Papyrus Universal PCL6");
  assert.equal((await app.overview.read()).driversById.get(universal)?.state, "ready");
});

test("another INF keeps a model that it has, and asks for one where it lacks it", async (t) => {
  const service = await startApp(t);
  const id = await service.addDriver(twoInfs());
  const { drivers } = service.app.store;
  await save(service, id, { driver_desc: "Papyrus A" });

  const asked = await save(service, id, { inf_path: "sub/second.inf", driver_desc: "Papyrus A" });
  const none = await save(service, id, { inf_path: "sub/second.inf" });
  const kept = drivers.get(id);
  await save(service, id, { driver_desc: "Papyrus B" });
  const moved = await save(service, id, { inf_path: "sub/second.inf", driver_desc: "Papyrus B" });

  assert.deepEqual([asked.status, none.status, moved.status], [422, 422, 303]);
  const page = await asked.text();
  assert.match(page, /Which model is it\? Choose one of 2 names\./);
  assert.match(page, /value="Papyrus C"/, "the models of the other INF are there to choose");
  assert.doesNotMatch(page, /value="Papyrus A"/);
  assert.deepEqual([kept.inf_path, kept.driver_desc], ["papyrus.inf", "Papyrus A"]);
  const { inf_path, driver_desc, model_chosen } = drivers.get(id);
  assert.deepEqual([inf_path, driver_desc, model_chosen], ["sub/second.inf", "Papyrus B", true]);
});

test("without scripts a button shows the models of another INF, with everything that was typed and nothing saved", async (t) => {
  const service = await startApp(t);
  const id = await service.addDriver(twoInfs());

  const shown = await save(service, id, {
    show: "models",
    inf_path: "sub/second.inf",
    name: "Typed",
    comment: "also typed",
    trust_publisher: "on",
    q: "c",
  });

  const page = await shown.text();
  assert.equal(shown.status, 200);
  for (const part of [/Nothing is saved yet/, /value="Papyrus C"/, /value="Typed"/, /also typed/])
    assert.match(page, part);
  assert.match(page, /name="trust_publisher"[^>]*checked/);
  assert.match(page, /value="sub\/second\.inf"\s+checked/);
  assert.equal(service.app.store.drivers.get(id).name, "");
});

test("a search finds models in every INF of the archive, and choosing one chooses its INF", async (t) => {
  const service = await startApp(t);
  const id = await service.addDriver(twoInfs());

  const found = await (await service.fetch(`/drivers/${id}/models?q=papyrus+c&inf_path=papyrus.inf`)).text();
  const pick = /name="pick" value="([^"]+)"/.exec(found)?.[1] ?? "";
  const fragment = await (
    await service.fetch(`/drivers/${id}/models?pick=${encodeURIComponent(pick)}`)
  ).text();
  const page = await (await save(service, id, { pick, name: "Typed" })).text();
  const garbage = await save(service, id, { pick: "99:x" });

  assert.match(found, /In other INFs of the archive: 1 name/);
  assert.match(found, /in <bdi>sub\/second\.inf<\/bdi>/);
  for (const text of [fragment, page]) {
    assert.match(text, /value="sub\/second\.inf"\s+checked/);
    assert.match(text, /value="Papyrus C"\s+checked/);
  }
  assert.match(page, /value="Typed"/);
  assert.equal(garbage.status, 200);
});

test("what a save does to printers is said before it is done, and done when it is confirmed", async (t) => {
  const service = await startApp(t);
  const id = await service.addDriver(twoInfs());
  await save(service, id, { driver_desc: "Papyrus B" });
  await service.post("/clients", { name: "Alpha" });
  const own = await service.addPrinter({ driver_id: String(id), name: "Own <1>", client_id: "1" });
  await service.addPrinter({ driver_id: String(id), name: "Chosen", driver_desc: "Papyrus A" });
  const change = { inf_path: "sub/second.inf", driver_desc: "Papyrus B", comment: "kept & sent again" };

  const asked = await save(service, id, change);
  const page = await asked.text();
  const before = service.app.store.drivers.get(id).inf_path;
  const done = await save(service, id, { ...change, confirmed: confirmedIn(page) });
  const twice = await save(service, id, { ...change, confirmed: confirmedIn(page) });

  assert.equal(asked.status, 200);
  assert.match(
    page,
    /2 printers will install again: <a[^>]*><bdi>Chosen<\/bdi><\/a>, <a[^>]*><bdi>Own &lt;1&gt;<\/bdi><\/a> \(<bdi>Alpha<\/bdi>\)/,
  );
  assert.match(
    page,
    /1 printer will be Blocked, since the INF has no model “<bdi>Papyrus A<\/bdi>”: <a[^>]*><bdi>Chosen/,
  );
  assert.match(page, /name="comment" value="kept &amp; sent again"/);
  assert.equal(before, "papyrus.inf");
  assert.deepEqual([done.status, done.headers.get("location")], [303, `/drivers/${id}?done=redeploy`]);
  assert.deepEqual([twice.status, twice.headers.get("location")], [303, `/drivers/${id}?done=saved`]);
  const { printersById } = await service.app.overview.read();
  assert.deepEqual([printersById.get(own)?.state, printersById.get(2)?.state], ["ready", "blocked"]);
});

test("a confirmation of other effects than there are now is asked again", async (t) => {
  const service = await startApp(t);
  const id = await service.addDriver(several);
  await service.addPrinter({ driver_id: String(id), name: "One" });
  const change = { driver_desc: "Papyrus C" };

  const first = await (await save(service, id, change)).text();
  await service.addPrinter({ driver_id: String(id), name: "Two" });
  const second = await (await save(service, id, { ...change, confirmed: confirmedIn(first) }, script)).text();
  const after = service.app.store.drivers.get(id).driver_desc;
  const back = await (await save(service, id, { ...change, show: "form", name: "Typed" }, script)).text();

  assert.match(first, /1 printer will install again/);
  assert.match(second, /Something changed meanwhile/);
  assert.match(second, /2 printers will install again/);
  assert.equal(after, "Papyrus A");
  assert.match(back, /value="Papyrus C"\s+checked/);
  assert.match(back, /value="Typed"/);
});

test("neither a name nor a comment is asked about, and a plain request never is", async (t) => {
  const service = await startApp(t);
  const id = await service.addDriver(several);
  await service.addPrinter({ driver_id: String(id) });

  const named = await save(service, id, { name: "Ground floor", comment: "c" });
  const plain = await service.post(`/drivers/${id}`, { driver_desc: "Papyrus C" });
  const saved = await save(service, id, { comment: "d" }, script);

  assert.deepEqual([named.status, plain.status], [303, 200]);
  assert.equal(service.app.store.drivers.get(id).driver_desc, "Papyrus C");
  assert.equal(saved.headers.get("hx-redirect"), `/drivers/${id}?done=saved`);
});

test("a typed model that the INF lacks is saved only by who agrees that Windows will refuse it", async (t) => {
  const service = await startApp(t);
  const id = await service.addDriver(several);
  const nameless = await service.addDriver(driverZip({ models: [], version: "2.0.0.0" }));
  const typed = { driver_desc_typed: "Papyrus Z" };

  const asked = await (await save(service, id, typed)).text();
  const before = service.app.store.drivers.get(id).driver_desc;
  await save(service, id, { ...typed, confirmed: confirmedIn(asked) });
  const free = await save(service, nameless, typed);

  assert.match(asked, /The INF has no model “<bdi>Papyrus Z<\/bdi>”: Windows will refuse it/);
  assert.deepEqual([before, service.app.store.drivers.get(id).driver_desc], ["Papyrus A", "Papyrus Z"]);
  assert.equal((await service.app.overview.read()).driversById.get(id)?.state, "blocked");
  assert.equal(free.status, 303);
  assert.equal(service.app.store.drivers.get(nameless).driver_desc, "Papyrus Z");
});
