import assert from "node:assert/strict";
import { test } from "node:test";
import { startApp } from "../support/app.ts";

test("a form creates a printer, which the list shows under its client", async (t) => {
  const { post, app } = await startApp(t);
  await post("/clients", { name: "Alpha" });

  const answer = await post("/printers", {
    name: "Büro 1",
    client_id: "1",
    address: "10.0.0.9",
    set_default: "on",
    snmp: "on",
    replaces: "Old one\r\nOld two\r\n",
  });

  const text = await answer.text();
  const printer = app.store.printers.get(1).printer;
  assert.equal(answer.status, 200);
  assert.match(text, /Alpha[\s\S]*href="\/printers\/1">Büro 1</);
  assert.equal(printer.port_name, "IP_10.0.0.9");
  assert.equal(printer.set_default, true);
  assert.equal(printer.shared, false);
  assert.deepEqual(printer.replaces, ["Old one", "Old two"]);
});

test("the whole list offers to delete a row; lists elsewhere, which cannot be refreshed, do not", async (t) => {
  const { fetch, post, addPrinter } = await startApp(t);
  await post("/clients", { name: "Alpha" });
  await addPrinter({ client_id: "1" });

  const pages = await Promise.all(
    ["/printers", "/clients/1", "/drivers/1"].map(async (path) => (await fetch(path)).text()),
  );

  assert.deepEqual(
    pages.map((text) => [
      text.includes('data-path="/printers/0/delete"'),
      text.includes('id="printer-list"'),
    ]),
    [
      [true, true],
      [false, false],
      [false, false],
    ],
  );
});

test("the list also shows a printer without client and driver", async (t) => {
  const { post, fetch } = await startApp(t);
  await post("/printers", { name: "Lonely", address: "10.0.0.1" });

  const text = await (await fetch("/printers")).text();

  assert.match(text, /No client/);
  assert.match(text, /href="\/printers\/1">Lonely</);
  assert.match(await (await fetch("/printers/1")).text(), /No driver assigned/);
});

test("a rejected form has a message beside the field and keeps its values", async (t) => {
  const { post, app } = await startApp(t);

  const answer = await post("/printers", {
    name: "A,B",
    address: "300.1.1.1",
    location: "Hall <3>",
    client_id: "7",
  });

  const text = await answer.text();
  assert.equal(answer.status, 422);
  assert.match(text, /id="printer-list"/);
  assert.match(text, /cannot contain “,”/);
  assert.match(text, /neither an IP address nor a host name/);
  assert.match(text, /Client 7 does not exist/, "all that is wrong at once");
  assert.match(text, /value="A,B"/);
  assert.match(text, /value="Hall &lt;3&gt;"/);
  assert.equal(app.store.printers.list().length, 0);
});

test("fields of a rejected form refer to their hints and messages with aria-describedby", async (t) => {
  const { post } = await startApp(t);

  const answer = await post("/printers", { name: "A,B", address: "300.1.1.1" });

  const text = await answer.text();
  const described = [...text.matchAll(/aria-describedby="([^"]*)"/g)].map(([, ids = ""]) => ids.split(" "));
  assert.deepEqual(
    described.flat().filter((id) => !text.includes(`id="${id}"`)),
    [],
  );
  assert.ok(
    described.some((ids) => ids.length === 2),
    "a field with a hint and a message",
  );
});

test("an unknown client or driver is refused with 422", async (t) => {
  const { post, app } = await startApp(t);

  const client = await post("/printers", { name: "A", address: "10.0.0.1", client_id: "99" });
  const driver = await post("/printers", { name: "A", address: "10.0.0.1", driver_id: "x" });

  assert.deepEqual([client.status, driver.status], [422, 422]);
  assert.match(await client.text(), /Client 99 does not exist/);
  assert.equal(app.store.printers.list().length, 0);
});

test("a printer is edited, copied and deleted", async (t) => {
  const { post, fetch, addPrinter, app } = await startApp(t);
  const id = await addPrinter({ location: "Hall" });

  const copied = await (await fetch(`/printers?copy=${id}`)).text();
  const edited = await post(`/printers/${id}`, { name: "Renamed", address: "10.0.0.8" });
  const deleted = await fetch(`/printers/${id}`, { method: "DELETE" });

  assert.match(copied, /value="Hall"/);
  assert.doesNotMatch(copied, /name="address" type="text"\s+value="10/);
  assert.equal(edited.status, 200);
  assert.equal(deleted.status, 200);
  assert.match(await deleted.text(), /id="printer-list"/);
  assert.equal(app.store.printers.find(id), undefined);
  assert.equal((await fetch(`/printers/${id}`, { method: "DELETE" })).status, 404);
});

test("the printer page shows both commands with copy buttons, and both packages", async (t) => {
  const { fetch, addPrinter } = await startApp(t);
  const id = await addPrinter();

  const text = await (await fetch(`/printers/${id}`)).text();

  const command = "powershell.exe -NoProfile -NonInteractive -ExecutionPolicy Bypass -File .\\";
  assert.ok(text.includes(`<code id="install_cmd">${command}install.ps1</code>`));
  assert.ok(text.includes(`<code id="uninstall_cmd">${command}uninstall.ps1</code>`));
  for (const name of ["install_cmd", "uninstall_cmd"]) assert.ok(text.includes(`data-copy="${name}"`));
  assert.match(text, /href="\/printers\/1\/packages\/rmm"/);
  assert.match(text, /href="\/printers\/1\/packages\/mdm"/);
  assert.match(text, /action="\/printers\/1\/icon"/);
  assert.match(text, /id="icon-status"/);
  assert.doesNotMatch(text, /regenerate/i);
});

test("a rejected form shows a checkbox as it was read", async (t) => {
  const { post, app } = await startApp(t);
  const words = { off: ["", "0", "no", "No", "false", "off", " OFF "], on: ["on", "1", "yes", "true", "x"] };

  for (const value of [...words.off, ...words.on]) {
    const refused = await (await post("/printers", { name: "", snmp: value })).text();
    await post("/printers", { name: `Printer ${value}`, address: "10.0.0.1", snmp: value });

    const isTicked = /name="snmp" type="checkbox" value="on" checked/.test(refused);
    const { printers } = app.store;
    const isSaved = printers.list().some(({ printer: { id } }) => printers.get(id).printer.snmp);
    assert.deepEqual([isTicked, isSaved], words.on.includes(value) ? [true, true] : [false, false], value);
  }
});
