import assert from "node:assert/strict";
import { test } from "node:test";
import { startApp } from "../support/app.ts";
import { planOf, rowStatuses, settingsOf } from "../support/printers/lists.ts";

test("each row is new, the same, changed with the fields, or wrong with the reason", async (t) => {
  const app = await startApp(t);
  await app.post("/clients", { name: "Alpha" });
  await app.post("/printers", { name: "Office", client_id: "1", address: "10.0.0.1", duplex: "long_edge" });
  await app.post("/printers", { name: "Store", client_id: "1", address: "10.0.0.2" });
  const text = [
    "name,client,address,port_number,location",
    "office,ALPHA,10.0.0.9,9100,Hall",
    "Store,Alpha,10.0.0.2,,",
    "Lobby,Alpha,10.0.0.3,,",
    "Roof,Beta,10.0.0.300,99999,",
    "Cellar,Beta,10.0.0.4,,",
  ].join("\n");

  const plan = await planOf(app, text);

  assert.deepEqual(rowStatuses(plan), [
    "changes: office",
    "same: Store",
    "new: Lobby",
    "wrong: Roof",
    "new: Cellar",
  ]);
  assert.deepEqual(plan.rows[0]?.changes, [
    { field: "name", from: "Office", to: "office" },
    { field: "address", from: "10.0.0.1", to: "10.0.0.9" },
    { field: "port_name", from: "IP_10.0.0.1", to: "IP_10.0.0.9" },
    { field: "location", from: "", to: "Hall" },
  ]);
  const [office] = plan.rows.map(settingsOf);
  assert.equal(office?.duplex, "long_edge", "a column that is absent changes nothing");
  assert.match(plan.rows[3]?.reasons.join() ?? "", /neither an IP address.*from 1 to 65535/);
  assert.deepEqual(plan.newClients, ["Beta"]);
  assert.deepEqual(
    plan.rows.map(({ number }) => number),
    [2, 3, 4, 5, 6],
  );
});

test("a port with a name of its own keeps it when the address changes", async (t) => {
  const app = await startApp(t);
  await app.post("/printers", { name: "A", address: "10.0.0.1", port_name: "OWN" });

  const plan = await planOf(app, "name,address\nA,10.0.0.2\n");

  assert.deepEqual(
    plan.rows[0]?.changes.map(({ field }) => field),
    ["address"],
  );
});

test("a row is matched with the printer that it was exported from, although name or client differ", async (t) => {
  const app = await startApp(t);
  await app.post("/printers", { name: "Office", address: "10.0.0.1" });
  await app.post("/printers", { name: "Lobby", address: "10.0.0.2" });
  const text = await (await app.fetch("/export/printers.csv")).text();

  const swapped = text.replace("Office,", "X,").replace("Lobby,", "Office,").replace("X,", "Lobby,");
  const moved = text.replace("Office,,", "Office,Alpha,");
  const fromElsewhere = text.replace("Office,", "Cellar,").replaceAll("2026-11-21", "2020-01-01");

  const plan = await planOf(app, swapped);
  const changes = plan.rows.map((row) => [row.printerId, row.changes.map(({ field }) => field).join()]);
  assert.deepEqual(changes.sort(), [
    [1, "name"],
    [2, "name"],
  ]);
  assert.deepEqual((await planOf(app, moved)).rows.map(({ changes }) => changes[0]?.to).sort(), [
    "Alpha",
    undefined,
  ]);
  assert.deepEqual(rowStatuses(await planOf(app, fromElsewhere)).sort(), ["new: Cellar", "same: Lobby"]);
});

test("a row that was copied in a spreadsheet and renamed makes another printer", async (t) => {
  const app = await startApp(t);
  await app.post("/printers", { name: "Office", address: "10.0.0.1" });
  const [head = "", line = ""] = (await (await app.fetch("/export/printers.csv")).text()).split("\r\n");

  const copied = [head, line.replace("Office", "Office 2"), line].join("\r\n");
  const duplicated = [head, line, line].join("\r\n");

  assert.deepEqual(rowStatuses(await planOf(app, copied)), ["new: Office 2", "same: Office"]);
  const plan = await planOf(app, duplicated);
  assert.deepEqual(rowStatuses(plan), ["same: Office", "wrong: Office"]);
  assert.match(plan.rows[1]?.reasons[0] ?? "", /Row 2 has the same name and client/);
});

test("two printers with the same name at a client are only told apart in their export", async (t) => {
  const app = await startApp(t);
  const other = await startApp(t);
  await app.post("/printers", { name: "Office", address: "10.0.0.1" });
  await app.post("/printers", { name: "office", address: "10.0.0.2" });
  const text = await (await app.fetch("/export/printers.csv")).text();

  const own = await planOf(app, text);
  const elsewhere = await planOf(other, text);
  const byHand = await planOf(app, "name,location\nOffice,Hall\n");
  const duplicates = await planOf(other, "name\nOffice\nOFFICE\n");

  assert.deepEqual(rowStatuses(own), ["same: Office", "same: office"]);
  assert.deepEqual(rowStatuses(elsewhere), ["new: Office", "new: office"]);
  assert.match(byHand.rows[0]?.reasons[0] ?? "", /2 printers of this client have this name/);
  assert.deepEqual(rowStatuses(duplicates), ["new: Office", "wrong: OFFICE"]);
});
