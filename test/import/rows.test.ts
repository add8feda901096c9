import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { csvRow, readCsv } from "../../src/domain/csv.ts";
import { ticketDigest } from "../../src/domain/printers/print-ticket.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { undoLast } from "../support/backup/deletions.ts";
import { planOf, rowStatuses, settingsOf } from "../support/printers/lists.ts";
import { makeTicket } from "../support/printers/tickets.ts";

type Row = readonly [client: string, name: string, address: string];

/** A service with these clients, and printers with the client's number, name and address. */
async function serviceWith(t: TestContext, clients: string[], ...printers: Row[]) {
  const service = await startApp(t);
  for (const name of clients) await service.post("/clients", { name });
  for (const [client_id, name, address] of printers)
    await service.post("/printers", { client_id, name, address });
  return { ...service, exported: await exportOf(service) };
}

const exportOf = async ({ fetch }: TestApp) => (await fetch("/export/printers.csv")).text();

test("each row is new, the same, changed with the fields, or wrong with the reason", async (t) => {
  const app = await serviceWith(t, ["Alpha"], ["1", "Office", "10.0.0.1"], ["1", "Store", "10.0.0.2"]);
  const office = { name: "Office", client_id: "1", address: "10.0.0.1", duplex: "long_edge" };
  await app.post("/printers/1", office);
  await app.post("/printers", { name: "Own", client_id: "1", address: "10.0.0.5", port_name: "OWN" });
  const text = [
    "name,client,address,port_number,location",
    "office,ALPHA,10.0.0.9,9100,Hall",
    "Store,Alpha,10.0.0.2,,",
    "Lobby,Alpha,10.0.0.3,,",
    "Roof,Beta,10.0.0.300,99999,",
    "Cellar,Beta,10.0.0.4,,",
    "Own,Alpha,10.0.0.6,,",
  ].join("\n");

  const plan = await planOf(app, text);

  const { rows, newClients } = plan;
  const changes = rows.map((row) => row.changes.map(({ field, from, to }) => `${field}: ${from} → ${to}`));
  const statuses = ["changes: office", "same: Store", "new: Lobby", "wrong: Roof", "new: Cellar"];
  assert.deepEqual(rowStatuses(plan), [...statuses, "changes: Own"]);
  assert.deepEqual(changes[0], [
    "name: Office → office",
    "address: 10.0.0.1 → 10.0.0.9",
    "port_name: IP_10.0.0.1 → IP_10.0.0.9",
    "location:  → Hall",
  ]);
  assert.deepEqual(changes[5], ["address: 10.0.0.5 → 10.0.0.6"], "a port with a name of its own keeps it");
  assert.equal(rows.map(settingsOf)[0]?.duplex, "long_edge", "a column that is absent changes nothing");
  assert.match(rows[3]?.reasons.join() ?? "", /neither an IP address.*from 1 to 65535/);
  assert.deepEqual(newClients, ["Beta"]);
  assert.equal(rows.map(({ number }) => number).join(), "2,3,4,5,6,7");
});

test("a row is matched with the printer that it was exported from, although name or client differ", async (t) => {
  const app = await serviceWith(t, [], ["", "Office", "10.0.0.1"], ["", "Lobby", "10.0.0.2"]);
  const text = app.exported;

  const swapped = text.replace("Office,", "X,").replace("Lobby,", "Office,").replace("X,", "Lobby,");
  const moved = text.replace("Office,,", "Office,Alpha,");
  const fromElsewhere = text.replace("Office,", "Cellar,").replaceAll("2026-11-21", "2020-01-01");

  const { rows } = await planOf(app, swapped);
  const changes = rows.map((row) => `${row.printerId} ${row.changes.map(({ field }) => field)}`);
  assert.deepEqual(changes.sort(), ["1 name", "2 name"]);
  const clients = (await planOf(app, moved)).rows.map(({ changes }) => changes[0]?.to);
  assert.deepEqual(clients.sort(), ["Alpha", undefined]);
  assert.deepEqual(rowStatuses(await planOf(app, fromElsewhere)).sort(), ["new: Cellar", "same: Lobby"]);
});

test("a row that was copied in a spreadsheet and renamed makes another printer", async (t) => {
  const app = await serviceWith(t, [], ["", "Office", "10.0.0.1"]);
  const [head = "", line = ""] = app.exported.split("\r\n");

  const copied = await planOf(app, [head, line.replace("Office", "Office 2"), line].join("\r\n"));
  const duplicated = await planOf(app, [head, line, line].join("\r\n"));

  assert.deepEqual(rowStatuses(copied), ["new: Office 2", "same: Office"]);
  assert.deepEqual(rowStatuses(duplicated), ["same: Office", "wrong: Office"]);
  assert.match(duplicated.rows[1]?.reasons[0] ?? "", /Row 2 has the same name and client/);
});

test("two printers with the same name at a client are only told apart in their export", async (t) => {
  const app = await serviceWith(t, [], ["", "Office", "10.0.0.1"], ["", "office", "10.0.0.2"]);
  const other = await startApp(t);

  const own = await planOf(app, app.exported);
  const elsewhere = await planOf(other, app.exported);
  const byHand = await planOf(app, "name,location\nOffice,Hall\n");
  const duplicates = await planOf(other, "name\nOffice\nOFFICE\n");

  assert.deepEqual([own, elsewhere, duplicates].map(rowStatuses), [
    ["same: Office", "same: office"],
    ["new: Office", "new: office"],
    ["new: Office", "wrong: OFFICE"],
  ]);
  assert.match(byHand.rows[0]?.reasons[0] ?? "", /2 printers of this client have this name/);
});

test("rows without a client get the client chosen on the page", async (t) => {
  const app = await serviceWith(t, ["Alpha"]);

  const withoutColumn = await planOf(app, "name\nA\n", { client: " alpha " });
  const withColumn = await planOf(app, "name,client\nA,\n", { client: "Alpha" });
  const tooLong = await planOf(app, "name\nA\n", { client: "x".repeat(200) });

  const ids = [withoutColumn, withColumn].map(({ rows }) => rows[0]?.write?.settings.client_id);
  assert.deepEqual(ids, [1, null]);
  assert.match(tooLong.rows[0]?.reasons[0] ?? "", /200 characters\. The limit is 120/);
});

test("without the column “client” a printer keeps its client if its name is unique", async (t) => {
  const office = ["1", "Office", "10.0.0.1"] as const;
  const lobbies: Row[] = ["1", "2"].map((client) => [client, "Lobby", "10.0.0.2"]);
  const app = await serviceWith(t, ["Alpha", "Beta"], office, ...lobbies);
  const text = "name,location\nOFFICE,Hall\nLobby,Hall\nRoof,Hall\n";

  const open = await planOf(app, text);
  const chosen = await planOf(app, text, { client: "beta" });

  const clients = open.rows.map(({ write, client }) => `${write?.settings.client_id} ${client}`.trim());
  const updated = chosen.rows.map(({ write, printerId }) => `${printerId} ${write?.settings.client_id}`);
  assert.deepEqual(rowStatuses(open), ["changes: OFFICE", "wrong: Lobby", "new: Roof"]);
  assert.deepEqual(clients, ["1 Alpha", "undefined", "null"]);
  assert.deepEqual(open.rows[0]?.remarks, ["Updates the only printer with this name, at “Alpha”."]);
  assert.match(open.rows[1]?.reasons[0] ?? "", /2 printers have this name\. Choose a client, or add/);
  assert.deepEqual(rowStatuses(chosen), ["new: OFFICE", "changes: Lobby", "new: Roof"]);
  assert.deepEqual(updated, ["undefined 2", "3 2", "undefined 2"]);
});

test("an export without its column “client” changes nothing, whatever client is chosen", async (t) => {
  const offices = ["", "1", "2"].map((client): Row => [client, "Office", ""]);
  const app = await serviceWith(t, ["Alpha", "Beta"], ...offices);
  const lines = app.exported.trimEnd().split("\r\n");
  const text = lines.map((line) => line.replace(/^([^,]*),[^,]*,/, "$1,")).join("\n");

  const open = await planOf(app, text);
  const chosen = await planOf(app, text, { client: "Alpha" });

  assert.match(text, /^name,driver,/);
  for (const plan of [open, chosen]) {
    assert.deepEqual(rowStatuses(plan), ["same: Office", "same: Office", "same: Office"]);
    assert.deepEqual(plan.rows.map(({ client }) => client).sort(), ["", "Alpha", "Beta"]);
  }
});

test("a list without addresses says so: one of Windows adds no printer, and one of Platen adds drivers only", async (t) => {
  const app = await serviceWith(t, [], ["", "Office", "10.0.0.1"]);

  const windows = await planOf(app, "Printer Name\tLocation\tDriver Name\nOffice\tHall\t\nRoof\t\t\n");
  const own = await planOf(app, "name,location\nOffice,Hall\nRoof,\n");
  const known = await planOf(app, "PrinterName,Location\nOffice,Hall\n");
  const withPort = await planOf(app, "name,port_name\nRoof,LPT1:\n");
  const pool = await planOf(app, 'PrinterName,PortName\nRoof,"USB001,USB002"\n');

  const plans = [windows, own, known].map((plan) => rowStatuses(plan).join());
  assert.deepEqual(plans, ["changes: Office,wrong: Roof", "changes: Office,new: Roof", "changes: Office"]);
  assert.deepEqual(windows.rows[1]?.reasons, ["The list has no address for this printer."]);
  assert.match(
    windows.notices.join(),
    /^This list has no addresses\. It changes .*, and adds none\. The command/,
  );
  assert.match(
    own.notices.join(),
    /^This list has no addresses\. New printers get none, and deploy only their/,
  );
  assert.deepEqual([...known.notices, ...withPort.notices, ...pool.notices], []);
  assert.match(
    `${rowStatuses(pool)}, ${pool.rows[0]?.remarks}`,
    /^left out: Roof, Prints to a pool of 2 ports/,
  );
});

test("a print server’s printers are matched only with printers of the chosen client", async (t) => {
  const app = await serviceWith(t, ["Alpha"], ["1", "Office", "10.0.0.1"]);
  const queue = { Name: "Office", PortName: "IP_10.9.9.9", DriverName: "", Type: "Local" };
  const text = JSON.stringify({ Printers: [queue], Ports: [], Drivers: [] });

  const open = await planOf(app, text);
  const chosen = await planOf(app, text, { client: "Alpha" });

  const found = [open, chosen].map(({ rows: [row] }) => `${row?.status} ${row?.write?.settings.client_id}`);
  assert.deepEqual(found, ["new null", "changes 1"]);
});

const stapled = makeTicket({ "ns0000:JobStaple": "ns0000:TopLeft" });
const punched = makeTicket({ "ns0000:JobPunch": "ns0000:TwoHoles" });
const office = { name: "Office", address: "10.0.0.9" };

const ticketOf = ({ app }: TestApp, id: number) => app.store.printers.get(id).printer.print_ticket;

test("an exported list contains only the digest of a ticket, and importing it here keeps the ticket", async (t) => {
  const here = await startApp(t);
  await here.post("/printers", { ...office, print_ticket: stapled });
  await here.post("/printers", { ...office, name: "Hall" });
  const kept = ticketOf(here, 1);

  const list = await exportOf(here);
  const same = await planOf(here, list);
  const renamed = list.replace("Office", "Office 2").replace(/,1,2026[^\r]*/, ",,");
  const copied = await here.post("/import", { text: renamed });
  const [head = [], ...rows] = readCsv(list, ",");
  const edited = [head, ...rows.map((row) => row.with(head.indexOf("comment"), "new"))];
  const changed = await here.post("/import", { text: edited.map((row) => csvRow(row, ",")).join("") });

  assert.ok(list.includes(ticketDigest(kept)));
  assert.doesNotMatch(list, /JobStaple/);
  assert.deepEqual(same.counts, { new: 0, changes: 0, same: 2, wrong: 0, "left out": 0 });
  assert.deepEqual([copied.status, changed.status], [200, 200]);
  assert.equal(here.app.store.printers.get(1).printer.comment, "new");
  assert.deepEqual([ticketOf(here, 1), ticketOf(here, 2), ticketOf(here, 3)], [kept, "", kept]);
});

test("a list without the column keeps the ticket, an empty cell removes it, and the preview shows that", async (t) => {
  const here = await startApp(t);
  await here.post("/printers", { ...office, print_ticket: stapled });

  await here.post("/import", { text: "name,comment\nOffice,new\n" });
  const afterAbsent = ticketOf(here, 1);
  const plan = await planOf(here, "name,print_ticket\nOffice,\n");
  await here.post("/import", { text: "name,print_ticket\nOffice,\n" });

  assert.match(afterAbsent, /JobStaple/);
  assert.deepEqual(plan.rows[0]?.changes, [
    { field: "print_ticket", from: `1 KB (${ticketDigest(afterAbsent).slice(0, 15)}…)`, to: "" },
  ]);
  assert.equal(ticketOf(here, 1), "");
});

test("a list whose ticket is unknown to the other service says so, for new printers and for printers with another ticket", async (t) => {
  const here = await startApp(t);
  const elsewhere = await startApp(t);
  await here.post("/printers", { ...office, print_ticket: stapled });
  const list = await exportOf(here);

  const missing = await planOf(elsewhere, list);
  await elsewhere.post("/printers", { ...office, print_ticket: punched });
  const mismatched = await planOf(elsewhere, list);
  await elsewhere.post("/import", { text: list });
  await elsewhere.post("/printers", { ...office, name: "Has it", print_ticket: stapled });
  const known = await planOf(elsewhere, list);
  await elsewhere.post("/import", { text: list });

  assert.deepEqual(missing.rows[0]?.remarks, [
    "Platen does not have this PrintTicket. Set it on the printer’s page.",
  ]);
  const keeps = "Platen does not have this PrintTicket. The printer keeps its own.";
  assert.deepEqual([mismatched.rows[0]?.status, mismatched.rows[0]?.remarks], ["same", [keeps]]);
  assert.equal(known.rows[0]?.status, "changes");
  assert.equal(ticketOf(elsewhere, 1), ticketOf(elsewhere, 2));
});

test("a list may contain a ticket as XML, and an unreadable ticket makes its row wrong", async (t) => {
  const here = await startApp(t);
  const cell = (ticket: string) => `"${ticket.replaceAll('"', '""')}"`;
  const list = `name,print_ticket\nOffice,${cell(stapled)}\nHall,${cell(punched.replaceAll('"', "'"))}\n`;

  const answer = await here.post("/import", { text: list });
  const wrong = await planOf(here, 'name,print_ticket\nOffice,"<a>"\nHall,not XML\n');

  assert.equal(answer.status, 200);
  assert.match(ticketOf(here, 1), /JobStaple/);
  assert.match(ticketOf(here, 2), /JobPunch/);
  for (const { status, reasons } of wrong.rows)
    assert.deepEqual([status, reasons[0]?.slice(0, 35)], ["wrong", "Error in line 1 of the PrintTicket:"]);
  assert.equal(wrong.rows.length, 2);
});

test("two printers can swap their tickets in one list, and a restored printer has its ticket", async (t) => {
  const here = await startApp(t);
  const choices = Array.from({ length: 500 }, (_, i) => [`ns0000:F${i}`, "ns0000:On"]);
  await here.post("/printers", { ...office, print_ticket: stapled });
  const large = makeTicket(Object.fromEntries(choices));
  await here.post("/printers", { ...office, name: "Hall", print_ticket: large });
  const [a, b] = [ticketOf(here, 1), ticketOf(here, 2)];

  const text = `name,print_ticket\nOffice,${ticketDigest(b)}\nHall,${ticketDigest(a)}\n`;
  await here.post("/import", { text });
  await here.fetch("/printers/1", { method: "DELETE" });
  await undoLast(here);

  assert.ok(b.length > 30_000);
  assert.deepEqual([ticketOf(here, 1), ticketOf(here, 2)], [b, a]);
});
