import assert from "node:assert/strict";
import { test } from "node:test";
import { readCsv } from "../../src/domain/csv.ts";
import { ticketDigest } from "../../src/domain/printers/print-ticket.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { undoLast } from "../support/backup/deletions.ts";
import { planOf } from "../support/printers/lists.ts";
import { makeTicket } from "../support/printers/tickets.ts";

const stapled = makeTicket({ "ns0000:JobStaple": "ns0000:TopLeft" });
const punched = makeTicket({ "ns0000:JobPunch": "ns0000:TwoHoles" });
const office = { name: "Office", address: "10.0.0.9" };

const ticketOf = ({ app }: TestApp, id: number) => app.store.printers.get(id).printer.print_ticket;

const exported = async ({ fetch }: TestApp) => (await fetch("/export/printers.csv")).text();

/** An exported list with another value in the cells of a column. */
function withCell(list: string, column: string, value: string): string {
  const [head = [], ...rows] = readCsv(list, ",");
  const place = head.indexOf(column);
  const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`;
  return [head, ...rows.map((row) => row.with(place, value))]
    .map((row) => row.map(quoted).join())
    .join("\r\n");
}

test("an exported list contains only the digest of a ticket, and importing it here keeps the ticket", async (t) => {
  const here = await startApp(t);
  await here.post("/printers", { ...office, print_ticket: stapled });
  await here.post("/printers", { ...office, name: "Hall" });
  const kept = ticketOf(here, 1);

  const list = await exported(here);
  const same = await planOf(here, list);
  const renamed = list.replace("Office", "Office 2").replace(/,1,2026[^\r]*/, ",,");
  const copied = await here.post("/import", { text: renamed });
  const changed = await here.post("/import", { text: withCell(list, "comment", "new") });

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
  const list = await exported(here);

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
