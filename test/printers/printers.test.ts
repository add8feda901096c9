import assert from "node:assert/strict";
import { test } from "node:test";
import { startApp } from "../support/app.ts";
import { statusesOf, textOf } from "../support/deploy/answers.ts";
import { withOnePrinter } from "../support/printers/one-printer.ts";

test("a form creates a printer, which the list shows under its client, or without client and driver", async (t) => {
  const { post, fetch, app } = await startApp(t);
  await post("/clients", { name: "Alpha" });

  const answer = await post("/printers", {
    ...{ name: "Büro 1", client_id: "1", address: "10.0.0.9" },
    ...{ set_default: "on", snmp: "on", replaces: "Old one\r\nOld two\r\n" },
  });
  const lonely = await textOf(post("/printers", { name: "Lonely", address: "10.0.0.1" }));

  const { port_name, set_default, shared, replaces } = app.store.printers.get(1).printer;
  assert.equal(answer.status, 200);
  assert.match(await answer.text(), /Alpha[\s\S]*href="\/printers\/1">Büro 1</);
  assert.deepEqual([port_name, set_default, shared], ["IP_10.0.0.9", true, false]);
  assert.deepEqual(replaces, ["Old one", "Old two"]);
  assert.match(lonely, /No client[\s\S]*href="\/printers\/2">Lonely</);
  assert.match(await textOf(fetch("/printers/2")), /No driver assigned/);
});

test("a rejected form keeps its values, and has each problem beside its field, which refers to it and to its hint", async (t) => {
  const { post, app } = await startApp(t);
  const wrong = { name: "A,B", address: "300.1.1.1", location: "Hall <3>", client_id: "7", driver_id: "x" };

  const answer = await post("/printers", wrong);

  const text = await answer.text();
  const described = [...text.matchAll(/aria-describedby="([^"]*)"/g)].map(([, ids = ""]) => ids.split(" "));
  assert.equal(answer.status, 422);
  assert.match(text, /id="printer-list"/);
  for (const problem of [/cannot contain “,”/, /neither an IP address nor a/, /Client 7 does not/])
    assert.match(text, problem, "all that is wrong at once");
  for (const value of ["A,B", "Hall &lt;3&gt;"]) assert.ok(text.includes(`value="${value}"`), value);
  for (const id of described.flat()) assert.ok(text.includes(`id="${id}"`), id);
  const hasBoth = described.some((ids) => ids.length === 2);
  assert.ok(hasBoth, "a field with a hint and a message");
  assert.equal(app.store.printers.list().length, 0);
});

test("a printer’s page has commands to copy and both packages, and the printer is edited and deleted", async (t) => {
  const { post, fetch, app } = await withOnePrinter(t);

  const page = await textOf(fetch("/printers/1"));
  const edited = await post("/printers/1", { name: "Renamed", address: "10.0.0.8" });
  const deleted = await fetch("/printers/1", { method: "DELETE" });
  const again = await fetch("/printers/1", { method: "DELETE" });

  const command = "powershell.exe -NoProfile -NonInteractive -ExecutionPolicy Bypass -File .\\";
  for (const part of [
    ...[`<code id="install_cmd">${command}install.ps1</code>`, 'data-copy="install_cmd"'],
    ...[`<code id="uninstall_cmd">${command}uninstall.ps1</code>`, 'data-copy="uninstall_cmd"'],
    ...['href="/printers/1/packages/rmm"', 'href="/printers/1/packages/mdm"'],
    ...['action="/printers/1/icon"', 'id="icon-status"'],
  ])
    assert.ok(page.includes(part), part);
  assert.deepEqual(statusesOf([edited, deleted, again]), [200, 200, 404]);
  assert.match(await deleted.text(), /id="printer-list"/);
  assert.equal(app.store.printers.find(1), undefined);
});

test("a client’s name must be unique regardless of case: a duplicate is refused with 409", async (t) => {
  const { post, app } = await startApp(t);

  const first = await post("/clients", { name: "  Müller GmbH " });
  const second = await post("/clients", { name: "MÜLLER gmbh", notes: "kept" });

  assert.deepEqual(statusesOf([first, second]), [200, 409]);
  assert.match(await second.text(), /Client “Müller GmbH” already exists[\s\S]*kept/);
  const names = app.store.clients.list().map(({ name }) => name);
  assert.deepEqual(names, ["Müller GmbH"]);
});

test("lists of a client’s and a driver’s page cannot delete a row, and a record in use is not deleted", async (t) => {
  const { post, fetch, addPrinter, app } = await startApp(t);
  await post("/clients", { name: "Alpha" });
  await addPrinter({ name: "Hall printer", client_id: "1" });
  const parts = ['data-path="/printers/0/delete"', 'id="printer-list"'];

  const whole = await textOf(fetch("/printers"));
  const others = [await textOf(fetch("/clients/1")), await textOf(fetch("/drivers/1"))];
  const refused = [
    await fetch("/clients/1", { method: "DELETE" }),
    await fetch("/drivers/1", { method: "DELETE" }),
  ];

  for (const part of parts) {
    assert.ok(whole.includes(part), part);
    for (const page of others) assert.ok(!page.includes(part), part);
  }
  assert.deepEqual(statusesOf(refused), [409, 409]);
  for (const answer of refused) assert.match(await answer.text(), /Hall printer/);
  assert.deepEqual([app.store.clients.count(), app.store.drivers.list().length], [1, 1]);
  assert.deepEqual(app.undo.list(), [], "no deletion is kept");
});

const sddl = "G:SYD:(A;;LCSWSDRCWDWO;;;BA)(A;;SWRC;;;WD)";
const options = { permission_sddl: sddl, keep_printed: "on", hold_mismatched: "on" };

const settingIn = (script: string, name: string) =>
  new RegExp(`^\\s*${name} = (.*)$`, "m").exec(script)?.[1]?.trim();

test("permissions and options of the queue are on the page, in the log and in the scripts, and change the revision only if set", async (t) => {
  const { post, fetch } = await withOnePrinter(t);
  const save = (fields: Record<string, string>) =>
    post("/printers/1", { name: "Office", driver_id: "1", address: "10.0.0.9", ...fields });
  const seen = async () => {
    const script = await textOf(fetch("/printers/1/scripts/install"));
    const values = ["PermissionSddl", "KeepPrinted", "HoldMismatched"].map((name) => settingIn(script, name));
    return { revision: settingIn(script, "Revision"), values: values.join("|") };
  };

  const before = await seen();
  await save({ requires_reachable: "on" });
  const reachable = await seen();
  const revisions = [before.revision];
  for (const [name, value] of Object.entries(options)) {
    await save({ [name]: value });
    revisions.push((await seen()).revision);
  }
  await save({ ...options, requires_reachable: "on" });
  const full = await seen();
  const [page, log] = [await textOf(fetch("/printers/1")), await textOf(fetch("/audit"))];
  await save({});

  assert.equal(before.values, "||");
  assert.equal(full.values, `'${sddl}'|$true|$true`);
  assert.deepEqual([reachable, await seen()], [before, before]);
  assert.equal(new Set(revisions).size, 4);
  assert.match(page, /Queue permissions<\/dt><dd><code>G:SYD:\(A;;LCSW/);
  for (const label of ["Keep printed documents", "Hold mismatched documents"])
    assert.match(page, new RegExp(`${label}</dt><dd>yes<`));
  assert.match(page, /Only PCs that reach the printer<\/dt><dd>yes, in Intune</);
  assert.match(log, /Hold mismatched documents/);
});
