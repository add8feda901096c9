import assert from "node:assert/strict";
import { test } from "node:test";
import { startApp } from "../support/app.ts";
import { planOf, rowStatuses } from "../support/printers/lists.ts";

test("rows without a client get the client chosen on the page", async (t) => {
  const app = await startApp(t);
  await app.post("/clients", { name: "Alpha" });

  const withoutColumn = await planOf(app, "name\nA\n", { client: " alpha " });
  const withColumn = await planOf(app, "name,client\nA,\n", { client: "Alpha" });
  const tooLong = await planOf(app, "name\nA\n", { client: "x".repeat(200) });

  assert.equal(withoutColumn.rows[0]?.write?.settings.client_id, 1);
  assert.equal(withColumn.rows[0]?.write?.settings.client_id, null);
  assert.match(tooLong.rows[0]?.reasons[0] ?? "", /200 characters\. The limit is 120/);
});

test("without the column “client” a printer keeps its client if its name is unique", async (t) => {
  const app = await startApp(t);
  for (const name of ["Alpha", "Beta"]) await app.post("/clients", { name });
  await app.post("/printers", { name: "Office", client_id: "1", address: "10.0.0.1" });
  await app.post("/printers", { name: "Lobby", client_id: "1", address: "10.0.0.2" });
  await app.post("/printers", { name: "Lobby", client_id: "2", address: "10.0.0.3" });
  const text = "name,location\nOFFICE,Hall\nLobby,Hall\nRoof,Hall\n";

  const open = await planOf(app, text);
  const chosen = await planOf(app, text, { client: "beta" });

  assert.deepEqual(rowStatuses(open), ["changes: OFFICE", "wrong: Lobby", "new: Roof"]);
  assert.deepEqual(
    open.rows.map(({ write, client }) => [write?.settings.client_id, client]),
    [
      [1, "Alpha"],
      [undefined, ""],
      [null, ""],
    ],
  );
  assert.deepEqual(open.rows[0]?.remarks, ["Updates the only printer with this name, at “Alpha”."]);
  assert.match(open.rows[1]?.reasons[0] ?? "", /2 printers have this name\. Choose a client, or add/);
  assert.deepEqual(rowStatuses(chosen), ["new: OFFICE", "changes: Lobby", "new: Roof"]);
  assert.deepEqual(
    chosen.rows.map(({ write, printerId }) => [printerId, write?.settings.client_id]),
    [
      [undefined, 2],
      [3, 2],
      [undefined, 2],
    ],
  );
});

test("an export without its column “client” changes nothing, whatever client is chosen", async (t) => {
  const app = await startApp(t);
  for (const name of ["Alpha", "Beta"]) await app.post("/clients", { name });
  for (const client_id of ["", "1", "2"]) await app.post("/printers", { name: "Office", client_id });
  const lines = (await (await app.fetch("/export/printers.csv")).text()).trimEnd().split("\r\n");
  const text = lines.map((line) => line.replace(/^([^,]*),[^,]*,/, "$1,")).join("\n");

  const open = await planOf(app, text);
  const chosen = await planOf(app, text, { client: "Alpha" });

  assert.match(text, /^name,driver,/);
  for (const plan of [open, chosen]) {
    assert.deepEqual(rowStatuses(plan), ["same: Office", "same: Office", "same: Office"]);
    assert.deepEqual(plan.rows.map(({ client }) => client).sort(), ["", "Alpha", "Beta"]);
  }
});

test("a print server’s printers are matched only with printers of the chosen client", async (t) => {
  const app = await startApp(t);
  await app.post("/clients", { name: "Alpha" });
  await app.post("/printers", { name: "Office", client_id: "1", address: "10.0.0.1" });
  const queue = { Name: "Office", PortName: "IP_10.9.9.9", DriverName: "", Type: "Local" };
  const text = JSON.stringify({ Printers: [queue], Ports: [], Drivers: [] });

  const open = await planOf(app, text);
  const chosen = await planOf(app, text, { client: "Alpha" });

  assert.deepEqual(
    open.rows.map(({ status, write }) => [status, write?.settings.client_id]),
    [["new", null]],
  );
  assert.deepEqual(
    chosen.rows.map(({ status, write }) => [status, write?.settings.client_id]),
    [["changes", 1]],
  );
});
