import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { formVersion, mergeForm } from "../../src/domain/form-versions.ts";
import { navigation, startApp } from "../support/app.ts";
import { statusesOf, textOf } from "../support/deploy/answers.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

/** The digests of the values that a page's form was opened with. */
function openedIn(text: string): string {
  return /name="opened" value="([^"]+)"/.exec(text)?.[1] ?? "";
}

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

/** A service with a printer whose form a user has opened. `save` posts the form in a browser, `meanwhile` as another user. */
async function withOpenPrinter(t: TestContext, fields: Record<string, string> = {}) {
  const service = await startApp(t);
  const id = await service.addPrinter(fields);
  const path = `/printers/${id}`;
  const page = await textOf(service.fetch(`${path}/edit`));
  const save = (sent: Record<string, string>) => service.post(path, sent, navigation);
  const meanwhile = (sent: Record<string, string>) => service.post(path, sent);
  const saved = () => service.app.store.printers.get(id).printer;
  return { ...service, id, path, values: formIn(page), opened: openedIn(page), save, meanwhile, saved };
}

/** The same for a client. */
async function withOpenClient(t: TestContext) {
  const service = await startApp(t);
  await service.post("/clients", { name: "Alpha", notes: "first" });
  const opened = openedIn(await textOf(service.fetch("/clients/1")));
  const save = (sent: Record<string, string>) =>
    service.post("/clients/1", { name: "Alpha", ...sent }, navigation);
  return { ...service, opened, save, notes: () => service.app.store.clients.get(1).notes };
}

test("fields of a printer that another user changed too are overwritten only after a confirmation", async (t) => {
  const { opened, save, meanwhile, saved, path, values } = await withOpenPrinter(t, { location: "Hall" });
  const theirs = { name: "Office", address: "10.0.0.10", location: "Floor 2", comment: "theirs" };
  await meanwhile({ ...theirs, protocol: "lpr", lpr_queue: "lp" });
  const ours = { address: "10.0.0.11", port_name: "IP_10.0.0.11", location: "Cellar" };
  const ownForm = { ...values, ...ours, driver_id: "", driver_desc: "", snmp: "on" };

  const refused = await save({ ...ownForm, opened });
  const text = await refused.text();
  const between = saved();
  const forced = await save({ ...ownForm, opened: openedIn(text) });

  assert.deepEqual(statusesOf([refused, forced]), [409, 303]);
  assert.deepEqual([between.address, between.location], ["10.0.0.10", "Floor 2"]);
  assert.match(text, /Another user changed the same fields since you opened this/);
  assert.deepEqual(conflictsIn(text), ["Address", "Port", "Location"]);
  assert.match(text, /Saved meanwhile: <bdi>10\.0\.0\.10<\/bdi>[\s\S]*Saved meanwhile: <bdi>Floor 2<\/bdi>/);
  assert.match(text, /Platen kept another user’s changes in: Protocol, LPR queue, Comment\./);
  assert.match(text, /<option value="lpr" selected>/);
  assert.match(text, /value="Cellar"/, "what was typed is kept");
  assert.match(text, /Save my version/);
  assert.match(text, new RegExp(`<a href="${path}/edit">Discard my changes`));
  assert.equal(saved().location, "Cellar");
});

test("a form without a version saves without this check, and an unchanged form is never refused", async (t) => {
  const own = { replaces: "Old\r\nOlder", snmp: "on" };
  const { opened, save, meanwhile, saved, post } = await withOpenPrinter(t, own);
  const form = { name: "Office", address: "10.0.0.9", port_name: "IP_10.0.0.9", driver_id: "1", ...own };
  await post("/clients", { name: "Alpha" });

  const unchanged = [await save({ ...form, opened }), await save({ ...form, opened })];
  const printer = [await meanwhile({ name: "One" }), await meanwhile({ name: "Two" })];
  const client = await post("/clients/1", { name: "Beta" });

  assert.deepEqual(statusesOf(unchanged), [303, 303]);
  assert.deepEqual(statusesOf([...printer, client]), [200, 200, 200]);
  assert.equal(saved().name, "Two");
});

test("of two simultaneous saves of a client, one is kept and the other is refused and lists the differences", async (t) => {
  const { opened, save, notes } = await withOpenClient(t);

  const answers = await Promise.all(["one", "two"].map((text) => save({ notes: text, opened })));
  const text = (await Promise.all(answers.map(textOf))).join();
  const theirs = notes();
  const mine = theirs === "one" ? "two" : "one";
  const forced = await save({ notes: mine, opened: openedIn(text) });

  assert.deepEqual(statusesOf(answers).sort(), [303, 409]);
  assert.match(text, /<a href="#f-notes">Notes<\/a>/);
  assert.match(text, new RegExp(`Saved meanwhile: <bdi class="lines">${theirs}</bdi>`));
  assert.deepEqual([forced.status, notes()], [303, mine]);
});

test("a driver’s model that another user changed too is not overwritten, neither at once nor after the confirmation page", async (t) => {
  const { fetch, post, app, addDriver, addPrinter } = await startApp(t);
  await addDriver(driverZip({ models: ["Papyrus A", "Papyrus B", "Papyrus C"] }));
  await addPrinter({ driver_id: "1" });
  const opened = openedIn(await textOf(fetch("/drivers/1")));
  const save = (fields: Record<string, string>) => post("/drivers/1", fields, navigation);
  const ownForm = { from_form: "1", inf_path: "papyrus.inf", driver_desc: "Papyrus A", name: "Ours", opened };
  const other = { ...ownForm, driver_desc: "Papyrus B" };
  const confirmed = confirmedIn(await textOf(save(other)));
  await post("/drivers/1", { inf_path: "papyrus.inf", driver_desc: "Papyrus C", comment: "theirs" });

  const refused = await save(ownForm);
  const text = await refused.text();
  const late = await save({ ...other, confirmed });
  const between = app.store.drivers.get(1);
  const mine = { ...other, opened: openedIn(text) };
  const forced = await save({ ...mine, confirmed: confirmedIn(await textOf(save(mine))) });

  assert.match(confirmed, /^\w{16}$/);
  assert.deepEqual(statusesOf([refused, late, forced]), [409, 409, 303]);
  assert.deepEqual(conflictsIn(text), ["Model"]);
  assert.match(text, /Saved meanwhile: <bdi>Papyrus C<\/bdi>/);
  assert.notEqual(between.name, "Ours");
  assert.equal(between.comment, "theirs");
  assert.equal(app.store.drivers.get(1).name, "Ours");
});

test("different fields of a driver that are saved at the same time are all kept", async (t) => {
  const { post, app, addDriver } = await startApp(t);
  await addDriver();
  const parts = [{ name: "Named" }, { comment: "Commented" }, { driver_desc_typed: "Papyrus 200" }];

  const answers = await Promise.all(parts.map((fields) => post("/drivers/1", fields)));

  const { name, comment, driver_desc } = app.store.drivers.get(1);
  assert.deepEqual(statusesOf(answers), [200, 200, 200]);
  assert.deepEqual([name, comment, driver_desc], ["Named", "Commented", "Papyrus 200"]);
});

test("a save keeps the fields that only another user changed, and its message names them", async (t) => {
  const { values, opened, save, meanwhile, saved, fetch, post, path } = await withOpenPrinter(t);
  await post("/clients", { name: "Contoso" });
  const ownForm = { ...values, name: "Mine", opened };
  await meanwhile({ ...values, location: "Floor 2", client_id: "1", duplex: "long_edge" });

  const answer = await save(ownForm);
  const told = await textOf(fetch(answer.headers.get("location") ?? ""));
  const again = await textOf(post(path, { ...ownForm, name: "Mine too" }));

  const { name, location, client_id } = saved();
  assert.equal(answer.status, 303);
  assert.deepEqual([name, location, client_id], ["Mine", "Floor 2", 1]);
  assert.match(told, /Saved: .*<br>Another user changed “Client” to “<bdi>Contoso<\/bdi>”\. Platen kept/s);
  assert.match(
    told,
    /<br>Another user changed “Location” to “<bdi>Floor 2<\/bdi>”\. Platen kept that value\./,
  );
  assert.match(told, /<br>Another user changed “Two-sided printing” to “<bdi>Two-sided, long edge<\/bdi>”\./);
  assert.match(again, /Another user changed the same fields/, "the name was saved by the first of the two");
});

test("a driver and its model count as one field, and so do an address and its port, and a protocol and its number", async (t) => {
  const { values, opened, save, meanwhile, saved, addDriver } = await withOpenPrinter(t);
  const other = await addDriver(driverZip({ models: ["X", "Y"], version: "7.0.0.0" }));
  const theirs = { driver_id: String(other), driver_desc: "Y", address: "10.0.0.8", port_name: "" };
  await meanwhile({ ...values, ...theirs, protocol: "lpr", lpr_queue: "auto" });
  const conflicts: unknown[] = [];

  for (const mine of [{ driver_desc: "Papyrus 100 PCL6" }, { port_name: "P" }, { port_number: "9101" }]) {
    const refused = await save({ ...values, opened, ...mine });
    conflicts.push([refused.status, ...conflictsIn(await refused.text())]);
  }

  assert.deepEqual(conflicts, [
    [409, "Driver", "Model"],
    [409, "Address", "Port"],
    [409, "Protocol", "Port number"],
  ]);
  const { driver_desc, protocol, port_number } = saved();
  assert.deepEqual([driver_desc, protocol, port_number], ["Y", "lpr", 9100]);
});

test("what is checked is the merged form, which comes back with the values of both users", async (t) => {
  const { values, opened, save, meanwhile, saved } = await withOpenPrinter(t, { lpr_queue: "lp" });
  await meanwhile({ ...values, protocol: "lpr" });
  const mine = { ...values, lpr_queue: "", opened };

  const refused = await save(mine);
  const text = await refused.text();
  const mended = await save({ ...mine, protocol: "lpr", lpr_queue: "auto", opened: openedIn(text) });

  assert.deepEqual(statusesOf([refused, mended]), [422, 303]);
  assert.match(text, /LPR needs the queue’s name/);
  assert.match(text, /Platen kept another user’s changes in: Protocol\./);
  assert.match(text, /<option value="lpr" selected>/);
  assert.deepEqual([saved().protocol, saved().lpr_queue], ["lpr", "auto"]);
});

test("a form opened before an upgrade, or with a made-up version, asks for every field that differs", async (t) => {
  const { save, post, notes } = await withOpenClient(t);

  for (const opened of ["0123456789abcdef", "", "name=x notes", "notes= name==", "=".repeat(2000)]) {
    const answer = await save({ notes: "mine", subnets: "10.0.0.0/8", opened });
    assert.equal(answer.status, 409, opened);
    assert.deepEqual(conflictsIn(await answer.text()), ["Notes", "Subnets"]);
  }
  const same = await post("/clients/1", { name: "Alpha", notes: "first", opened: "0123456789abcdef" });

  assert.equal(same.status, 200, "the saved values are the same");
  assert.equal(notes(), "first");
});

test("a form for a printer that was deleted meanwhile becomes the form for a new printer", async (t) => {
  const { opened, save, meanwhile, fetch, path, app } = await withOpenPrinter(t);
  await fetch(path, { method: "DELETE" });

  const answer = await save({ name: "Typed", address: "10.0.0.77", opened });
  const page = await answer.text();
  const plain = await meanwhile({ name: "Typed" });

  assert.deepEqual(statusesOf([answer, plain]), [404, 404]);
  const form =
    /<form id="printer-form"[^>]*action="\/printers"[\s\S]*value="Typed"[\s\S]*value="10\.0\.0\.77"/;
  assert.match(page, /Not saved\. This printer was deleted/);
  assert.match(page, form);
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
