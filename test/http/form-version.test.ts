import assert from "node:assert/strict";
import { test } from "node:test";
import { navigation, startApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

/** The version of the record that a page's form sends back. */
function openedIn(text: string): string {
  return /name="opened" value="([0-9a-f]{16})"/.exec(text)?.[1] ?? "";
}

test("a printer that another user saved meanwhile is overwritten only after a confirmation", async (t) => {
  const { fetch, post, addPrinter, app } = await startApp(t);
  const id = await addPrinter({ name: "Office", address: "10.0.0.9", location: "Hall" });
  const opened = openedIn(await (await fetch(`/printers/${id}/edit`)).text());
  await post(`/printers/${id}`, {
    name: "Office",
    address: "10.0.0.10",
    location: "Hall",
    protocol: "lpr",
    lpr_queue: "lp",
  });
  const ownForm = {
    ...{ name: "Office", address: "10.0.0.9", port_name: "IP_10.0.0.9", location: "Cellar", snmp: "on" },
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
  assert.deepEqual([between.address, between.location], ["10.0.0.10", "Hall"]);
  assert.match(text, /This has been saved elsewhere/);
  assert.deepEqual(
    [...text.matchAll(/<li><a href="#f-\w+">([^<]*)<\/a><\/li>/g)].map((match) => match[1]),
    [
      "Driver",
      "Address",
      "Port",
      "Protocol",
      "LPR queue",
      "Check the printer’s status by SNMP",
      "Location",
    ].filter((label) => label !== "Driver"),
  );
  assert.match(text, /Saved meanwhile: <bdi>LPR<\/bdi>/);
  assert.match(text, /Saved meanwhile: <bdi>10\.0\.0\.10<\/bdi>/);
  assert.match(text, /Saved meanwhile: not ticked/);
  assert.match(text, /value="Cellar"/, "what was typed is kept");
  assert.match(text, /Save mine anyway/);
  assert.match(text, new RegExp(`<a href="/printers/${id}/edit">Discard mine`));
  assert.equal(forced.status, 303);
  assert.equal(app.store.printers.get(id).printer.location, "Cellar");
});

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

test("a driver that another user saved meanwhile is not overwritten, neither at once nor after the confirmation page", async (t) => {
  const { fetch, post, app, addDriver, addPrinter } = await startApp(t);
  const id = await addDriver(driverZip({ models: ["Papyrus A", "Papyrus B"] }));
  await addPrinter({ driver_id: String(id) });
  const opened = openedIn(await (await fetch(`/drivers/${id}`)).text());
  const ownForm = { from_form: "1", inf_path: "papyrus.inf", driver_desc: "Papyrus A", name: "Ours", opened };
  const question = await (
    await post(`/drivers/${id}`, { ...ownForm, driver_desc: "Papyrus B" }, navigation)
  ).text();
  const confirmed = /name="confirmed" value="(\w+)"/.exec(question)?.[1] ?? "";
  await post(`/drivers/${id}`, { inf_path: "papyrus.inf", driver_desc: "Papyrus B", comment: "theirs" });

  const refused = await post(`/drivers/${id}`, ownForm, navigation);
  const text = await refused.text();
  const late = await post(`/drivers/${id}`, { ...ownForm, driver_desc: "Papyrus B", confirmed }, navigation);
  const between = app.store.drivers.get(id);
  const forced = await post(
    `/drivers/${id}`,
    { ...ownForm, driver_desc: "Papyrus B", opened: openedIn(text) },
    navigation,
  );

  assert.match(confirmed, /^\w{16}$/);
  assert.deepEqual([refused.status, late.status, forced.status], [409, 409, 303]);
  assert.deepEqual(
    [...text.matchAll(/<li><a href="#f-\w+">([^<]*)<\/a><\/li>/g)].map((match) => match[1]),
    ["Model", "Name", "Comment"],
  );
  assert.match(text, /Saved meanwhile: <bdi>Papyrus B<\/bdi>/);
  assert.deepEqual([between.name, between.comment], ["", "theirs"]);
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

test("a form for a printer that was deleted meanwhile becomes the form for a new printer", async (t) => {
  const { post, fetch, addPrinter, app } = await startApp(t);
  const id = await addPrinter();
  const opened = openedIn(await (await fetch(`/printers/${id}/edit`)).text());
  await fetch(`/printers/${id}`, { method: "DELETE" });

  const answer = await post(`/printers/${id}`, { name: "Typed", address: "10.0.0.77", opened }, navigation);
  const page = await answer.text();
  const plain = await post(`/printers/${id}`, { name: "Typed" });

  assert.deepEqual([answer.status, plain.status], [404, 404]);
  assert.match(page, /Not saved: this printer was deleted/);
  assert.match(page, /<form id="printer-form"[^>]*action="\/printers"/);
  assert.match(page, /value="Typed"/);
  assert.match(page, /value="10\.0\.0\.77"/);
  assert.equal(app.store.printers.list().length, 0);
});
