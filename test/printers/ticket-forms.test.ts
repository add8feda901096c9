import assert from "node:assert/strict";
import { test } from "node:test";
import { ticketLimitBytes } from "../../src/domain/printers/print-ticket.ts";
import { powershell } from "../../src/pkg/scripts/powershell.ts";
import { navigation, startApp } from "../support/app.ts";
import { statusesOf, textOf } from "../support/deploy/answers.ts";
import { withOnePrinter } from "../support/printers/one-printer.ts";
import { makeTicket, ticketAround } from "../support/printers/tickets.ts";

const ticket = makeTicket({ "ns0000:JobStaple": "ns0000:TopLeft" });
const office = { name: "Office", address: "10.0.0.9" };

/** A request with a multipart form, as `curl -F` sends it. */
function multipart(fields: Record<string, string>, files: Record<string, Blob>): RequestInit {
  const body = new FormData();
  for (const [name, value] of Object.entries({ ...office, ...fields })) body.append(name, value);
  for (const [name, file] of Object.entries(files)) body.append(name, file, "ticket.xml");
  return { method: "POST", body };
}

test("a pasted ticket is saved, appears on the page, in the install script and in the revision, and the form sends it back unchanged", async (t) => {
  const { app, fetch, post } = await withOnePrinter(t);
  const page = (path = "") => textOf(fetch(`/printers/1${path}`));
  const revision = async () => /<code>(\w{12})<\/code>/.exec(await page())?.[1];
  const before = await revision();

  const answer = await post("/printers/1", { ...office, driver_id: "1", print_ticket: ticket });
  const { print_ticket } = app.store.printers.get(1).printer;
  const after = await revision();
  const escaped = /<textarea id="f-print_ticket"[^>]*>([^<]*)</.exec(await page("/edit"))?.[1] ?? "";
  const unescaped = escaped.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"');
  const typed = unescaped.replaceAll("&amp;", "&");
  await post("/printers/1", { ...office, driver_id: "1", print_ticket: typed.replaceAll("\n", "\r\n") });

  assert.equal(answer.status, 200);
  assert.match(print_ticket, /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<psf:PrintTicket [^\r]*JobStaple/);
  assert.match(print_ticket, /^[^\r]*<\/psf:PrintTicket>$/);
  assert.match(await page(), /<dt>PrintTicket<\/dt><dd>\d+ bytes of XML/);
  assert.ok((await page("/scripts/install")).includes(powershell`PrintTicket = ${print_ticket}`));
  for (const kind of ["uninstall", "detect"])
    assert.doesNotMatch(await page(`/scripts/${kind}`), /JobStaple/);
  assert.notEqual(after, before);
  assert.deepEqual([typed, app.store.printers.get(1).printer.print_ticket], [print_ticket, print_ticket]);
});

test("a ticket may be a file, also in UTF-16, and overrides the typed one; an empty file field is ignored", async (t) => {
  const { app, fetch } = await startApp(t);
  const utf16 = Buffer.from(`\ufeff${ticket.replace("UTF-8", "utf-16")}`, "utf16le");
  const forms = [
    multipart({}, { print_ticket: new Blob([ticket]) }),
    multipart({ print_ticket: "<no-ticket/>" }, { print_ticket: new Blob([utf16]) }),
    multipart({ print_ticket: ticket }, { print_ticket: new Blob([]) }),
    multipart({ print_ticket: ticket }, { other: new Blob(["<no-ticket/>"]) }),
  ];

  const answers = await Promise.all(forms.map((form) => fetch("/printers", form)));

  const tickets = app.store.printers.findMany([1, 2, 3, 4]).map(({ print_ticket }) => print_ticket);
  assert.deepEqual(statusesOf(answers), [200, 200, 200, 200]);
  assert.equal(new Set(tickets).size, 1);
  assert.match(tickets[0] ?? "", /JobStaple/);
});

test("an invalid ticket is refused with 422, with place and reason beside the field, and the form keeps its text", async (t) => {
  const { app, post } = await startApp(t);
  const wrong = { ...office, print_ticket: ticket.replace("</psf:Feature>", "") };

  const line = await post("/printers", wrong);
  const fragment = await post("/printers", wrong, { "hx-request": "true" });
  const page = await post("/printers", wrong, navigation);

  const reason = "Error in line 7 of the PrintTicket: unexpected close tag. Copy the PrintTicket again.";
  assert.deepEqual(statusesOf([line, fragment, page]), [422, 422, 422]);
  for (const text of [await fragment.text(), await page.text()]) {
    assert.ok(text.includes(`id="f-print_ticket-problem">${reason}<`), text.slice(0, 2000));
    assert.match(text, /<textarea id="f-print_ticket"[^>]*aria-invalid="true"[^>]*>&lt;\?xml[^<]*JobStaple/);
  }
  assert.deepEqual(app.store.printers.withSettings(), []);
});

test("a ticket of 256 KB is accepted in every form encoding, also in pages and scripts, and one byte more is refused", async (t) => {
  const { app, fetch, post } = await startApp(t);
  const empty = ticketAround("<a></a>").replaceAll("\r\n", "\n").trim();
  const filled = (bytes: number) => empty.replace("<a>", `<a>${"x".repeat(bytes - empty.length)}`);
  const largest = filled(ticketLimitBytes);

  const typed = await post("/printers", { ...office, driver_id: "1000002", print_ticket: largest });
  const file = await fetch("/printers", multipart({}, { print_ticket: new Blob([largest]) }));
  const larger = await post("/printers", { ...office, print_ticket: filled(ticketLimitBytes + 1) });
  const huge = await post("/printers", { ...office, print_ticket: "x".repeat(1_200_000) });
  const pages = [await fetch("/printers/1"), await fetch("/printers/1/edit")];
  const script = await textOf(fetch("/printers/1/scripts/install"));

  assert.deepEqual(statusesOf([typed, file, larger, huge, ...pages]), [200, 200, 422, 413, 200, 200]);
  const tickets = app.store.printers.findMany([1, 2]).map(({ print_ticket }) => print_ticket);
  assert.deepEqual(tickets, [largest, largest]);
  assert.ok(script.includes(powershell`PrintTicket = ${largest}`));
});

test("a replaced queue has three notations, and any other line is named in the error", async (t) => {
  const { app, fetch, post } = await startApp(t);
  const replaces = "Old\r\n\\\\server\\HP 4000\r\naddress:[FE80::0:1]";

  const taken = await post("/printers", { ...office, replaces });
  const refused = await post("/printers", { ...office, replaces: "Old\r\naddress:10.1.2" });

  const page = await textOf(fetch("/printers/1"));
  assert.deepEqual(statusesOf([taken, refused]), [200, 422]);
  const saved = ["Old", "\\\\server\\HP 4000", "address:fe80::1"];
  assert.deepEqual(app.store.printers.get(1).printer.replaces, saved);
  assert.ok(page.includes("<code>\\\\server\\HP 4000</code><br><code>address:fe80::1</code>"));
  assert.match(await refused.text(), /Line 2 \(“address:10\.1\.2”\) is not a valid IP address/);
});

test("the printer’s form explains how to get a ticket, and without scripts it can be pasted", async (t) => {
  const { fetch } = await startApp(t);

  const form = await textOf(fetch("/printers?new=1"));

  const command =
    /<code id="ticket-command">Get-Printer \| Out-GridView [^<]*XML \} \| Set-Clipboard<\/code>/;
  assert.match(form, command);
  assert.match(form, /<div class="field" data-file-text="f-print_ticket" hidden>/);
  assert.doesNotMatch(form, /<input id="f-print_ticket-file"[^>]* name=/);
});
