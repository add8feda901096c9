import assert from "node:assert/strict";
import { test } from "node:test";
import { startApp } from "./support/app.ts";
import { driverZip } from "./support/driver-zip.ts";
import { marked, planOf, settingsOf } from "./support/lists.ts";

test("each row is new, the same, changed with its fields, or wrong with the reason", async (t) => {
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

  assert.deepEqual(marked(plan), [
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

test("a row is the printer that it was exported from, although its name or client is another now", async (t) => {
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
  assert.deepEqual(marked(await planOf(app, fromElsewhere)).sort(), ["new: Cellar", "same: Lobby"]);
});

test("a row that was copied in a spreadsheet and renamed makes another printer", async (t) => {
  const app = await startApp(t);
  await app.post("/printers", { name: "Office", address: "10.0.0.1" });
  const [head = "", line = ""] = (await (await app.fetch("/export/printers.csv")).text()).split("\r\n");

  const copied = [head, line.replace("Office", "Office 2"), line].join("\r\n");
  const twice = [head, line, line].join("\r\n");

  assert.deepEqual(marked(await planOf(app, copied)), ["new: Office 2", "same: Office"]);
  const plan = await planOf(app, twice);
  assert.deepEqual(marked(plan), ["same: Office", "wrong: Office"]);
  assert.match(plan.rows[1]?.reasons[0] ?? "", /Row 2 is a printer of the same name/);
});

test("two queues of one name at a client are told apart by their export alone", async (t) => {
  const app = await startApp(t);
  const other = await startApp(t);
  await app.post("/printers", { name: "Office", address: "10.0.0.1" });
  await app.post("/printers", { name: "office", address: "10.0.0.2" });
  const text = await (await app.fetch("/export/printers.csv")).text();

  const own = await planOf(app, text);
  const elsewhere = await planOf(other, text);
  const byHand = await planOf(app, "name,location\nOffice,Hall\n");
  const twins = await planOf(other, "name\nOffice\nOFFICE\n");

  assert.deepEqual(marked(own), ["same: Office", "same: office"]);
  assert.deepEqual(marked(elsewhere), ["new: Office", "new: office"]);
  assert.match(byHand.rows[0]?.reasons[0] ?? "", /2 printers of this client have this name/);
  assert.deepEqual(marked(twins), ["new: Office", "wrong: OFFICE"]);
});

test("a driver is found by its digest, its model in any case, or its title", async (t) => {
  const app = await startApp(t);
  const id = await app.addDriver(driverZip({ models: ["Papyrus 100 PCL6", "Papyrus 100 PS"] }));
  const { sha256 } = app.app.store.drivers.get(id);
  const rows = [
    "name,driver,driver_desc,driver_model,driver_sha256",
    `Digest,whatever,,gone,${sha256.toUpperCase()}`,
    "Own model,,papyrus 100 ps,,",
    "Listed,,,PAPYRUS 100 PS,",
    "Default,,,Papyrus 100 PCL6,",
    "Title,papyrus papyrus.inf 1.2.3.4,,,",
    "Description as title,Papyrus 100 PS,,,",
    "None,,,,",
    "Not here,Scriptor 7,,,",
  ];

  const plan = await planOf(app, rows.join("\n"));

  const found = plan.rows.map((row) => [row.name, row.driver?.id, settingsOf(row).driver_desc]);
  assert.deepEqual(found, [
    ["Digest", id, ""],
    ["Own model", id, "Papyrus 100 PS"],
    ["Listed", id, "Papyrus 100 PS"],
    ["Default", id, ""],
    ["Title", id, ""],
    ["Description as title", id, "Papyrus 100 PS"],
    ["None", undefined, ""],
    ["Not here", undefined, ""],
  ]);
  assert.deepEqual(plan.missing, [{ name: "Scriptor 7", maker: "", printers: 1 }]);
});

test("of drivers with one model it is the version that is named, else the printer’s own, else the newest", async (t) => {
  const app = await startApp(t);
  const zip = (version: string) => driverZip({ version, date: `01/0${version[0]}/2025` });
  const newest = await app.addDriver(zip("3.0.0.0"));
  const oldest = await app.addDriver(zip("1.0.0.0"));
  const middle = await app.addDriver(zip("2.0.0.0"));
  await app.post("/printers", { name: "Mine", driver_id: String(middle) });
  const rows = [
    "name,driver,driver_version",
    "Mine,Papyrus 100 PCL6,",
    "New,Papyrus 100 PCL6,",
    "Old,Papyrus 100 PCL6,1.0.0.0",
  ];

  const plan = await planOf(app, rows.join("\n"));

  const found = plan.rows.map(({ mark, driver, notes }) => [mark, driver?.id, notes.length]);
  assert.deepEqual(found, [
    ["same", middle, 0],
    ["new", newest, 1],
    ["new", oldest, 0],
  ]);
  assert.match(plan.rows[1]?.notes[0] ?? "", /the newest: 2 other drivers have this model too/);
});

test("a driver that is not here leaves a printer with its own, and a model that it lacks is wrong", async (t) => {
  const app = await startApp(t);
  const id = await app.addDriver();
  const { sha256 } = app.app.store.drivers.get(id);
  await app.post("/printers", { name: "A", driver_id: String(id) });
  const rows = [
    "name,driver,driver_desc,driver_sha256",
    "A,Scriptor 7,Scriptor 7,",
    `B,,Papyrus 7,${sha256}`,
  ];

  const plan = await planOf(app, rows.join("\n"));

  assert.deepEqual(marked(plan), ["same: A", "wrong: B"]);
  assert.match(plan.rows[0]?.notes[0] ?? "", /“Scriptor 7” is not here: the printer keeps its own/);
  assert.match(plan.rows[1]?.reasons[0] ?? "", /has no model “Papyrus 7”/);
});

test("the page’s client is that of rows that say nothing of one", async (t) => {
  const app = await startApp(t);
  await app.post("/clients", { name: "Alpha" });

  const without = await planOf(app, "name\nA\n", { client: " alpha " });
  const withColumn = await planOf(app, "name,client\nA,\n", { client: "Alpha" });
  const tooLong = await planOf(app, "name\nA\n", { client: "x".repeat(200) });

  assert.equal(without.rows[0]?.write?.clientId, 1);
  assert.equal(withColumn.rows[0]?.write?.clientId, null);
  assert.match(tooLong.rows[0]?.reasons[0] ?? "", /200 characters; at most 120/);
});

test("without the column “client” a printer keeps its client, and a name is looked for where it is only one’s", async (t) => {
  const app = await startApp(t);
  for (const name of ["Alpha", "Beta"]) await app.post("/clients", { name });
  await app.post("/printers", { name: "Office", client_id: "1", address: "10.0.0.1" });
  await app.post("/printers", { name: "Lobby", client_id: "1", address: "10.0.0.2" });
  await app.post("/printers", { name: "Lobby", client_id: "2", address: "10.0.0.3" });
  const text = "name,location\nOFFICE,Hall\nLobby,Hall\nRoof,Hall\n";

  const open = await planOf(app, text);
  const chosen = await planOf(app, text, { client: "beta" });

  assert.deepEqual(marked(open), ["changes: OFFICE", "wrong: Lobby", "new: Roof"]);
  assert.deepEqual(
    open.rows.map(({ write, client }) => [write?.clientId, client]),
    [
      [1, "Alpha"],
      [undefined, ""],
      [null, ""],
    ],
  );
  assert.deepEqual(open.rows[0]?.notes, ["Is the only printer of this name, at “Alpha”."]);
  assert.match(open.rows[1]?.reasons[0] ?? "", /2 printers have this name: choose a client, or add/);
  assert.deepEqual(marked(chosen), ["new: OFFICE", "changes: Lobby", "new: Roof"]);
  assert.deepEqual(
    chosen.rows.map(({ write, printerId }) => [printerId, write?.clientId]),
    [
      [undefined, 2],
      [3, 2],
      [undefined, 2],
    ],
  );
});

test("an export without its column “client” is the same as before, whatever client is chosen", async (t) => {
  const app = await startApp(t);
  for (const name of ["Alpha", "Beta"]) await app.post("/clients", { name });
  for (const client_id of ["", "1", "2"]) await app.post("/printers", { name: "Office", client_id });
  const lines = (await (await app.fetch("/export/printers.csv")).text()).trimEnd().split("\r\n");
  const text = lines.map((line) => line.replace(/^([^,]*),[^,]*,/, "$1,")).join("\n");

  const open = await planOf(app, text);
  const chosen = await planOf(app, text, { client: "Alpha" });

  assert.match(text, /^name,driver,/);
  for (const plan of [open, chosen]) {
    assert.deepEqual(marked(plan), ["same: Office", "same: Office", "same: Office"]);
    assert.deepEqual(plan.rows.map(({ client }) => client).sort(), ["", "Alpha", "Beta"]);
  }
});

test("a print server’s printers are those of the client that is chosen, and nobody else’s of the same names", async (t) => {
  const app = await startApp(t);
  await app.post("/clients", { name: "Alpha" });
  await app.post("/printers", { name: "Office", client_id: "1", address: "10.0.0.1" });
  const queue = { Name: "Office", PortName: "IP_10.9.9.9", DriverName: "", Type: "Local" };
  const text = JSON.stringify({ Printers: [queue], Ports: [], Drivers: [] });

  const open = await planOf(app, text);
  const chosen = await planOf(app, text, { client: "Alpha" });

  assert.deepEqual(
    open.rows.map(({ mark, write }) => [mark, write?.clientId]),
    [["new", null]],
  );
  assert.deepEqual(
    chosen.rows.map(({ mark, write }) => [mark, write?.clientId]),
    [["changes", 1]],
  );
});
