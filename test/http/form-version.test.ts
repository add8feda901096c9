import assert from "node:assert/strict";
import { test } from "node:test";
import { formVersion, mergeForm } from "../../src/domain/form-versions.ts";
import { navigation, startApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

/** The digests of the values that a page's form was opened with. */
function openedIn(text: string): string {
  return /name="opened" value="([^"]+)"/.exec(text)?.[1] ?? "";
}

test("fields of a printer that another user changed too are overwritten only after a confirmation", async (t) => {
  const { fetch, post, addPrinter, app } = await startApp(t);
  const id = await addPrinter({ name: "Office", address: "10.0.0.9", location: "Hall" });
  const opened = openedIn(await (await fetch(`/printers/${id}/edit`)).text());
  await post(`/printers/${id}`, {
    name: "Office",
    address: "10.0.0.10",
    location: "Floor 2",
    comment: "theirs",
    protocol: "lpr",
    lpr_queue: "lp",
  });
  const ownForm = {
    ...{ name: "Office", address: "10.0.0.11", port_name: "IP_10.0.0.11", location: "Cellar", snmp: "on" },
    ...{
      protocol: "raw",
      port_number: "9100",
      ipp_path: "/ipp/print",
      snmp_community: "public",
      snmp_index: "1",
    },
  };

  const refused = await post(`/printers/${id}`, { ...ownForm, opened }, navigation);
  const text = await refused.text();
  const between = app.store.printers.get(id).printer;
  const forced = await post(`/printers/${id}`, { ...ownForm, opened: openedIn(text) }, navigation);

  assert.equal(refused.status, 409);
  assert.deepEqual([between.address, between.location], ["10.0.0.10", "Floor 2"]);
  assert.match(text, /Another user changed the same fields since you opened this/);
  assert.deepEqual(conflictsIn(text), ["Address", "Port", "Location"]);
  assert.match(text, /Saved meanwhile: <bdi>10\.0\.0\.10<\/bdi>/);
  assert.match(text, /Saved meanwhile: <bdi>Floor 2<\/bdi>/);
  assert.match(text, /Platen kept another user’s changes in: Protocol, LPR queue, Comment\./);
  assert.match(text, /<option value="lpr" selected>/);
  assert.match(text, /value="Cellar"/, "what was typed is kept");
  assert.match(text, /Save my version/);
  assert.match(text, new RegExp(`<a href="/printers/${id}/edit">Discard my changes`));
  assert.equal(forced.status, 303);
  assert.equal(app.store.printers.get(id).printer.location, "Cellar");
});

test("a protocol and a port number that two users chose at the same time are not mixed", async (t) => {
  const { fetch, post, addPrinter, app } = await startApp(t);
  const id = await addPrinter({ name: "Office", address: "10.0.0.9" });
  const page = await (await fetch(`/printers/${id}/edit`)).text();
  const own = { ...formIn(page), port_number: "9101", opened: openedIn(page) };
  await post(`/printers/${id}`, { name: "Office", address: "10.0.0.9", protocol: "lpr", lpr_queue: "auto" });

  const refused = await post(`/printers/${id}`, own, navigation);

  const { protocol, port_number } = app.store.printers.get(id).printer;
  assert.equal(refused.status, 409);
  assert.deepEqual([protocol, port_number], ["lpr", 9100]);
});

/** The values of a printer's edit form, without those of ticked boxes. */
function formIn(text: string): Record<string, string> {
  const form = text.slice(text.indexOf('<form id="printer-form"'));
  const inputs = [...form.matchAll(/<input id="f-\w+" name="(\w+)" type="text"\s+value="([^"]*)"/g)];
  const selects = [...form.matchAll(/<select id="f-\w+" name="(\w+)".*?<option value="([^"]*)" selected/gs)];
  return Object.fromEntries([...inputs, ...selects].map(([, name = "", value = ""]) => [name, value]));
}

/** The digest of the effects that a confirmation page shows. */
function confirmedIn(text: string): string {
  return /name="confirmed" value="(\w+)"/.exec(text)?.[1] ?? "";
}

/** The labels of the fields that both users changed. */
function conflictsIn(text: string): (string | undefined)[] {
  return [...text.matchAll(/<li><a href="#f-\w+">([^<]*)<\/a><\/li>/g)].map((match) => match[1]);
}

test("a form without a version saves without this check", async (t) => {
  const { post, addPrinter, app } = await startApp(t);
  const id = await addPrinter();
  await post("/clients", { name: "Alpha" });

  const printer = await post(`/printers/${id}`, { name: "One" });
  const secondSave = await post(`/printers/${id}`, { name: "Two" });
  const client = await post("/clients/1", { name: "Beta" });

  assert.deepEqual([printer.status, secondSave.status, client.status], [200, 200, 200]);
  assert.equal(app.store.printers.get(id).printer.name, "Two");
});

test("saving an unchanged form twice is never refused", async (t) => {
  const { fetch, post, addPrinter } = await startApp(t);
  const id = await addPrinter({ replaces: "Old\r\nOlder", snmp: "on" });
  const form = {
    name: "Office",
    address: "10.0.0.9",
    port_name: "IP_10.0.0.9",
    driver_id: "1",
    replaces: "Old\r\nOlder",
    snmp: "on",
  };
  const opened = openedIn(await (await fetch(`/printers/${id}/edit`)).text());

  const answers = [
    await post(`/printers/${id}`, { ...form, opened }, navigation),
    await post(`/printers/${id}`, { ...form, opened }, navigation),
  ];

  assert.deepEqual(
    answers.map(({ status }) => status),
    [303, 303],
  );
});

test("a client that another user saved meanwhile is not overwritten, and the form lists the differences", async (t) => {
  const { fetch, post, app } = await startApp(t);
  await post("/clients", { name: "Alpha", notes: "first" });
  const opened = openedIn(await (await fetch("/clients/1")).text());
  await post("/clients/1", { name: "Alpha", notes: "theirs" });

  const refused = await post("/clients/1", { name: "Alpha", notes: "mine", opened }, navigation);
  const text = await refused.text();
  const forced = await post(
    "/clients/1",
    { name: "Alpha", notes: "mine", opened: openedIn(text) },
    navigation,
  );

  assert.equal(refused.status, 409);
  assert.match(text, /<a href="#f-notes">Notes<\/a>/);
  assert.match(text, /Saved meanwhile: <bdi class="lines">theirs<\/bdi>/);
  assert.equal(forced.status, 303);
  assert.equal(app.store.clients.get(1).notes, "mine");
});

test("of two simultaneous saves of the same version, one is kept and the other is refused", async (t) => {
  const { fetch, post, app } = await startApp(t);
  await post("/clients", { name: "Alpha" });
  const opened = openedIn(await (await fetch("/clients/1")).text());

  const answers = await Promise.all(
    ["one", "two"].map((notes) => post("/clients/1", { name: "Alpha", notes, opened }, navigation)),
  );

  assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 409]);
  assert.match(app.store.clients.get(1).notes, /^(?:one|two)$/);
});

test("a driver’s model that another user changed too is not overwritten, neither at once nor after the confirmation page", async (t) => {
  const { fetch, post, app, addDriver, addPrinter } = await startApp(t);
  const id = await addDriver(driverZip({ models: ["Papyrus A", "Papyrus B", "Papyrus C"] }));
  await addPrinter({ driver_id: String(id) });
  const opened = openedIn(await (await fetch(`/drivers/${id}`)).text());
  const ownForm = { from_form: "1", inf_path: "papyrus.inf", driver_desc: "Papyrus A", name: "Ours", opened };
  const question = await (
    await post(`/drivers/${id}`, { ...ownForm, driver_desc: "Papyrus B" }, navigation)
  ).text();
  const confirmed = confirmedIn(question);
  await post(`/drivers/${id}`, { inf_path: "papyrus.inf", driver_desc: "Papyrus C", comment: "theirs" });

  const refused = await post(`/drivers/${id}`, ownForm, navigation);
  const text = await refused.text();
  const late = await post(`/drivers/${id}`, { ...ownForm, driver_desc: "Papyrus B", confirmed }, navigation);
  const between = app.store.drivers.get(id);
  const mine = { ...ownForm, driver_desc: "Papyrus B", opened: openedIn(text) };
  const asked = await (await post(`/drivers/${id}`, mine, navigation)).text();
  const forced = await post(`/drivers/${id}`, { ...mine, confirmed: confirmedIn(asked) }, navigation);

  assert.match(confirmed, /^\w{16}$/);
  assert.deepEqual([refused.status, late.status, forced.status], [409, 409, 303]);
  assert.deepEqual(conflictsIn(text), ["Model"]);
  assert.match(text, /Saved meanwhile: <bdi>Papyrus C<\/bdi>/);
  assert.notEqual(between.name, "Ours");
  assert.equal(between.comment, "theirs");
  assert.equal(app.store.drivers.get(id).name, "Ours");
});

test("different fields of a driver that are saved at the same time are all kept", async (t) => {
  const { post, app, addDriver, addPrinter } = await startApp(t);
  const id = await addDriver();
  for (let i = 0; i < 3; i++) await addPrinter({ driver_id: String(id), name: `P${i}` });
  const parts = { name: "Named", comment: "Commented", driver_desc_typed: "Papyrus 200" };

  const answers = await Promise.all(
    Object.entries(parts).map(([name, value]) => post(`/drivers/${id}`, { [name]: value })),
  );

  const { name, comment, driver_desc } = app.store.drivers.get(id);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  );
  assert.deepEqual([name, comment, driver_desc], ["Named", "Commented", "Papyrus 200"]);
});

test("a save keeps the fields that only another user changed, and its message names them", async (t) => {
  const { fetch, post, addPrinter, app } = await startApp(t);
  await post("/clients", { name: "Contoso" });
  const id = await addPrinter({ location: "Hall" });
  const page = await (await fetch(`/printers/${id}/edit`)).text();
  const ownForm = { ...formIn(page), name: "Mine", opened: openedIn(page) };
  const { opened: _, ...asOpened } = ownForm;
  const theirs = { ...asOpened, name: "Office", location: "Floor 2", client_id: "1", duplex: "long_edge" };
  await post(`/printers/${id}`, theirs);

  const saved = await post(`/printers/${id}`, ownForm, navigation);
  const told = await (await fetch(saved.headers.get("location") ?? "")).text();
  const again = await (await post(`/printers/${id}`, { ...ownForm, name: "Mine too" })).text();

  const { printer } = app.store.printers.get(id);
  assert.equal(saved.status, 303);
  assert.deepEqual([printer.name, printer.location, printer.client_id], ["Mine", "Floor 2", 1]);
  assert.match(
    told,
    /Saved: .*<br>Another user changed “Client” to “<bdi>Contoso<\/bdi>”\. Platen kept that value\./s,
  );
  assert.match(told, /<br>Another user changed “Location” to “<bdi>Floor 2<\/bdi>”\./);
  assert.match(told, /<br>Another user changed “Two-sided printing” to “<bdi>Two-sided, long edge<\/bdi>”\./);
  assert.match(again, /Another user changed the same fields/, "the name was saved by the first of the two");
});

test("a driver and its model count as one field, and so do an address and the port made from it", async (t) => {
  const { fetch, post, addPrinter, addDriver, app } = await startApp(t);
  const id = await addPrinter();
  const other = await addDriver(driverZip({ models: ["X", "Y"], version: "7.0.0.0" }));
  const page = await (await fetch(`/printers/${id}/edit`)).text();
  const opened = { ...formIn(page), opened: openedIn(page) };
  const { opened: _, ...plain } = opened;
  await post(`/printers/${id}`, {
    ...plain,
    driver_id: String(other),
    driver_desc: "Y",
    address: "10.0.0.8",
    port_name: "",
  });

  const model = await post(`/printers/${id}`, { ...opened, driver_desc: "Papyrus 100 PCL6" }, navigation);
  const port = await post(`/printers/${id}`, { ...opened, port_name: "P" }, navigation);

  assert.deepEqual([model.status, port.status], [409, 409]);
  assert.deepEqual(conflictsIn(await model.text()), ["Driver", "Model"]);
  assert.deepEqual(conflictsIn(await port.text()), ["Address", "Port"]);
  assert.equal(app.store.printers.get(id).printer.driver_desc, "Y");
});

test("what is checked is the merged form, which comes back with the values of both users", async (t) => {
  const { fetch, post, addPrinter, app } = await startApp(t);
  const id = await addPrinter({ lpr_queue: "lp" });
  const page = await (await fetch(`/printers/${id}/edit`)).text();
  const values = formIn(page);
  await post(`/printers/${id}`, { ...values, protocol: "lpr" });

  const mine = { ...values, lpr_queue: "", opened: openedIn(page) };
  const refused = await post(`/printers/${id}`, mine, navigation);
  const text = await refused.text();
  const mended = { ...mine, protocol: "lpr", lpr_queue: "auto", opened: openedIn(text) };
  const saved = await post(`/printers/${id}`, mended, navigation);

  const { printer } = app.store.printers.get(id);
  assert.equal(refused.status, 422);
  assert.match(text, /LPR needs the queue’s name/);
  assert.match(text, /Platen kept another user’s changes in: Protocol\./);
  assert.match(text, /<option value="lpr" selected>/);
  assert.equal(saved.status, 303);
  assert.deepEqual([printer.protocol, printer.lpr_queue], ["lpr", "auto"]);
});

test("a form opened before an upgrade, or with a made-up version, asks for every field that differs", async (t) => {
  const { post, app } = await startApp(t);
  await post("/clients", { name: "Alpha", notes: "first" });

  const answers = await Promise.all(
    ["0123456789abcdef", "", "name=x notes", "notes= name==", "=".repeat(2000)].map((opened) =>
      post("/clients/1", { name: "Alpha", notes: "mine", subnets: "10.0.0.0/8", opened }, navigation),
    ),
  );
  const same = await post("/clients/1", { name: "Alpha", notes: "first", opened: "0123456789abcdef" });

  assert.deepEqual(
    answers.map(({ status }) => status),
    [409, 409, 409, 409, 409],
  );
  for (const answer of answers) assert.deepEqual(conflictsIn(await answer.text()), ["Notes", "Subnets"]);
  assert.equal(same.status, 200, "the saved values are the same");
  assert.equal(app.store.clients.get(1).notes, "first");
});

test("a form for a printer that was deleted meanwhile becomes the form for a new printer", async (t) => {
  const { post, fetch, addPrinter, app } = await startApp(t);
  const id = await addPrinter();
  const opened = openedIn(await (await fetch(`/printers/${id}/edit`)).text());
  await fetch(`/printers/${id}`, { method: "DELETE" });

  const answer = await post(`/printers/${id}`, { name: "Typed", address: "10.0.0.77", opened }, navigation);
  const page = await answer.text();
  const plain = await post(`/printers/${id}`, { name: "Typed" });

  assert.deepEqual([answer.status, plain.status], [404, 404]);
  assert.match(page, /Not saved\. This printer was deleted/);
  assert.match(page, /<form id="printer-form"[^>]*action="\/printers"/);
  assert.match(page, /value="Typed"/);
  assert.match(page, /value="10\.0\.0\.77"/);
  assert.equal(app.store.printers.list().length, 0);
});

test("of a forged “opened”, only as much as a form can send is read", () => {
  const saved = { name: "Theirs" };
  const sent = { name: "Mine", opened: formVersion(saved) };

  const honest = mergeForm(sent, saved);
  const forged = mergeForm({ ...sent, opened: `${" ".repeat(1_000_000)}${sent.opened}` }, saved);

  assert.deepEqual(honest.conflicts, {});
  assert.deepEqual(forged.conflicts, saved, "what is not read is unknown");
});
