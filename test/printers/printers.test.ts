import assert from "node:assert/strict";
import { test } from "node:test";
import { startApp } from "../support/app.ts";

test("a form creates a printer, which the list shows under its client", async (t) => {
  const { post, app } = await startApp(t);
  await post("/clients", { name: "Alpha" });

  const answer = await post("/printers", {
    ...{ name: "Büro 1", client_id: "1", address: "10.0.0.9" },
    ...{ set_default: "on", snmp: "on", replaces: "Old one\r\nOld two\r\n" },
  });

  const { port_name, set_default, shared, replaces } = app.store.printers.get(1).printer;
  assert.equal(answer.status, 200);
  assert.match(await answer.text(), /Alpha[\s\S]*href="\/printers\/1">Büro 1</);
  assert.deepEqual([port_name, set_default, shared], ["IP_10.0.0.9", true, false]);
  assert.deepEqual(replaces, ["Old one", "Old two"]);
});

test("the whole list offers to delete a row; lists elsewhere, which cannot be refreshed, do not", async (t) => {
  const { fetch, post, addPrinter } = await startApp(t);
  await post("/clients", { name: "Alpha" });
  await addPrinter({ client_id: "1" });

  const found: boolean[][] = [];
  for (const path of ["/printers", "/clients/1", "/drivers/1"]) {
    const text = await (await fetch(path)).text();
    found.push(['data-path="/printers/0/delete"', 'id="printer-list"'].map((part) => text.includes(part)));
  }

  assert.deepEqual(found, [
    [true, true],
    [false, false],
    [false, false],
  ]);
});

test("the list also shows a printer without client and driver", async (t) => {
  const { post, fetch } = await startApp(t);
  await post("/printers", { name: "Lonely", address: "10.0.0.1" });

  const text = await (await fetch("/printers")).text();

  assert.match(text, /No client/);
  assert.match(text, /href="\/printers\/1">Lonely</);
  assert.match(await (await fetch("/printers/1")).text(), /No driver assigned/);
});

test("a rejected form keeps its values, and has each problem beside its field, which refers to it and to its hint", async (t) => {
  const { post, app } = await startApp(t);
  const wrong = { name: "A,B", address: "300.1.1.1", location: "Hall <3>", client_id: "7", driver_id: "x" };

  const answer = await post("/printers", wrong);

  const text = await answer.text();
  const described = [...text.matchAll(/aria-describedby="([^"]*)"/g)].map(([, ids = ""]) => ids.split(" "));
  assert.equal(answer.status, 422);
  assert.match(text, /id="printer-list"/);
  assert.match(text, /cannot contain “,”/);
  assert.match(text, /neither an IP address nor a host name/);
  assert.match(text, /Client 7 does not exist/, "all that is wrong at once");
  assert.match(text, /value="A,B"/);
  assert.match(text, /value="Hall &lt;3&gt;"/);
  assert.deepEqual(
    described.flat().filter((id) => !text.includes(`id="${id}"`)),
    [],
  );
  assert.ok(
    described.some((ids) => ids.length === 2),
    "a field with a hint and a message",
  );
  assert.equal(app.store.printers.list().length, 0);
});

test("a printer is edited, copied and deleted", async (t) => {
  const { post, fetch, addPrinter, app } = await startApp(t);
  const path = `/printers/${await addPrinter({ location: "Hall" })}`;

  const copied = await (await fetch("/printers?copy=1")).text();
  const edited = await post(path, { name: "Renamed", address: "10.0.0.8" });
  const deleted = await fetch(path, { method: "DELETE" });
  const again = await fetch(path, { method: "DELETE" });

  assert.match(copied, /value="Hall"/);
  assert.doesNotMatch(copied, /name="address" type="text"\s+value="10/);
  assert.deepEqual([edited.status, deleted.status, again.status], [200, 200, 404]);
  assert.match(await deleted.text(), /id="printer-list"/);
  assert.equal(app.store.printers.find(1), undefined);
});

test("the printer page shows both commands with copy buttons, and both packages", async (t) => {
  const { fetch, addPrinter } = await startApp(t);
  await addPrinter();

  const text = await (await fetch("/printers/1")).text();

  const command = "powershell.exe -NoProfile -NonInteractive -ExecutionPolicy Bypass -File .\\";
  for (const part of [
    `<code id="install_cmd">${command}install.ps1</code>`,
    `<code id="uninstall_cmd">${command}uninstall.ps1</code>`,
    ...['data-copy="install_cmd"', 'data-copy="uninstall_cmd"'],
    ...['href="/printers/1/packages/rmm"', 'href="/printers/1/packages/mdm"'],
    ...['action="/printers/1/icon"', 'id="icon-status"'],
  ])
    assert.ok(text.includes(part), part);
  assert.doesNotMatch(text, /regenerate/i);
});

test("a rejected form shows a checkbox as it was read", async (t) => {
  const { post, app } = await startApp(t);
  const words = { off: ["", "0", "no", "No", "false", "off", " OFF "], on: ["on", "1", "yes", "true", "x"] };
  const { printers } = app.store;

  for (const value of [...words.off, ...words.on]) {
    const refused = await (await post("/printers", { name: "", snmp: value })).text();
    await post("/printers", { name: `Printer ${value}`, address: "10.0.0.1", snmp: value });

    const isTicked = /name="snmp" type="checkbox" value="on" checked/.test(refused);
    const isSaved = printers.list().some(({ printer: { id } }) => printers.get(id).printer.snmp);
    assert.deepEqual([isTicked, isSaved], Array(2).fill(words.on.includes(value)), value);
  }
});

test("a client’s name must be unique regardless of case: a duplicate is refused with 409", async (t) => {
  const { post, app } = await startApp(t);

  const first = await post("/clients", { name: "  Müller GmbH " });
  const second = await post("/clients", { name: "MÜLLER gmbh", notes: "kept" });

  const text = await second.text();
  assert.deepEqual([first.status, second.status], [200, 409]);
  assert.match(text, /Client “Müller GmbH” already exists/);
  assert.match(text, /kept/);
  assert.deepEqual(
    app.store.clients.list().map(({ name }) => name),
    ["Müller GmbH"],
  );
});

test("deleting a client or driver in use is refused and names its printers", async (t) => {
  const { post, fetch, addPrinter, app } = await startApp(t);
  await post("/clients", { name: "Alpha" });
  await addPrinter({ name: "Hall printer", client_id: "1" });

  const answers = [
    await fetch("/clients/1", { method: "DELETE" }),
    await fetch("/drivers/1", { method: "DELETE" }),
  ];

  for (const answer of answers) {
    assert.equal(answer.status, 409);
    assert.match(await answer.text(), /Hall printer/);
  }
  assert.deepEqual([app.store.clients.count(), app.store.drivers.list().length], [1, 1]);
});
