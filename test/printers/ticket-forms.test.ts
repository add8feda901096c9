import assert from "node:assert/strict";
import { test } from "node:test";
import { ticketLimitBytes } from "../../src/domain/printers/print-ticket.ts";
import { powershell } from "../../src/pkg/scripts/powershell.ts";
import { navigation, startApp } from "../support/app.ts";
import { statusesOf, textOf } from "../support/deploy/answers.ts";
import { deepTest } from "../support/depth.ts";
import { makeTicket, ticketAround } from "../support/printers/tickets.ts";

const ticket = makeTicket({ "ns0000:JobStaple": "ns0000:TopLeft" });
const office = { name: "Office", address: "10.0.0.9" };

/** A multipart form as `curl -F` sends it. */
function multipart(fields: Record<string, string>, files: Record<string, Blob>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const [name, file] of Object.entries(files)) form.append(name, file, "ticket.xml");
  return form;
}

test("a pasted ticket is saved, and appears on the printer’s page, in its install script and in its revision", async (t) => {
  const { addPrinter, app, fetch, post } = await startApp(t);
  const id = await addPrinter();
  const revision = async () => /<code>(\w{12})<\/code>/.exec(await textOf(fetch(`/printers/${id}`)))?.[1];
  const before = await revision();

  const answer = await post(`/printers/${id}`, { ...office, driver_id: "1", print_ticket: ticket });

  const { print_ticket } = app.store.printers.get(id).printer;
  const script = (kind: string) => textOf(fetch(`/printers/${id}/scripts/${kind}`));
  assert.equal(answer.status, 200);
  assert.match(
    print_ticket,
    /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<psf:PrintTicket [^\r]*JobStaple[^\r]*<\/psf:PrintTicket>$/,
  );
  assert.match(await textOf(fetch(`/printers/${id}`)), /<dt>PrintTicket<\/dt><dd>\d+ bytes of XML/);
  assert.ok((await script("install")).includes(powershell`PrintTicket = ${print_ticket}`));
  for (const kind of ["uninstall", "detect"]) assert.doesNotMatch(await script(kind), /JobStaple/);
  assert.notEqual(await revision(), before);
});

test("the form sends a saved ticket back unchanged, so that saving changes nothing", async (t) => {
  const { addPrinter, app, fetch, post } = await startApp(t);
  const id = await addPrinter({ print_ticket: ticket });
  const { print_ticket } = app.store.printers.get(id).printer;

  const form = await textOf(fetch(`/printers/${id}/edit`));
  const escaped = /<textarea id="f-print_ticket"[^>]*>([^<]*)</.exec(form)?.[1] ?? "";
  const typed = escaped
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");
  await post(`/printers/${id}`, { ...office, driver_id: "1", print_ticket: typed.replaceAll("\n", "\r\n") });

  assert.equal(typed, print_ticket);
  assert.equal(app.store.printers.get(id).printer.print_ticket, print_ticket);
});

test("a ticket may be a file, also in UTF-16, and overrides the typed one; an empty file field is ignored", async (t) => {
  const { app, fetch } = await startApp(t);
  const utf16 = Buffer.from(`\ufeff${ticket.replace("UTF-8", "utf-16")}`, "utf16le");
  const send = (fields: Record<string, string>, files: Record<string, Blob>) =>
    fetch("/printers", { method: "POST", body: multipart({ ...office, ...fields }, files) });

  const answers = [
    await send({}, { print_ticket: new Blob([ticket]) }),
    await send({ print_ticket: "<no-ticket/>" }, { print_ticket: new Blob([utf16]) }),
    await send({ print_ticket: ticket }, { print_ticket: new Blob([]) }),
    await send({ print_ticket: ticket }, { other: new Blob(["<no-ticket/>"]) }),
  ];

  assert.deepEqual(statusesOf(answers), [200, 200, 200, 200]);
  const tickets = app.store.printers.findMany([1, 2, 3, 4]).map(({ print_ticket }) => print_ticket);
  assert.equal(new Set(tickets).size, 1);
  assert.match(tickets[0] ?? "", /JobStaple/);
});

test("an invalid ticket is refused with 422, with place and reason beside the field, and the form keeps its text", async (t) => {
  const { app, post } = await startApp(t);
  const broken = ticket.replace("</psf:Feature>", "");

  const line = await post("/printers", { ...office, print_ticket: broken });
  const fragment = await post("/printers", { ...office, print_ticket: broken }, { "hx-request": "true" });
  const page = await post("/printers", { ...office, print_ticket: broken }, navigation);

  const reason = "Error in line 7 of the PrintTicket: unexpected close tag. Copy the PrintTicket again.";
  assert.deepEqual([line.status, fragment.status, page.status], [422, 422, 422]);
  for (const text of [await fragment.text(), await page.text()]) {
    assert.ok(text.includes(`id="f-print_ticket-problem">${reason}<`), text.slice(0, 2000));
    assert.match(text, /<textarea id="f-print_ticket"[^>]*aria-invalid="true"[^>]*>&lt;\?xml[^<]*JobStaple/);
  }
  assert.deepEqual(app.store.printers.withSettings(), []);
});

test("a ticket of 256 KB is accepted in every form encoding, and one byte more is refused beside the field", async (t) => {
  const { app, fetch, post } = await startApp(t);
  const empty = ticketAround("<a></a>").replaceAll("\r\n", "\n").trim();
  const filled = (bytes: number) => empty.replace("<a>", `<a>${"x".repeat(bytes - empty.length)}`);
  const largest = filled(ticketLimitBytes);

  const typed = await post("/printers", { ...office, print_ticket: largest });
  const file = await fetch("/printers", {
    method: "POST",
    body: multipart(office, { print_ticket: new Blob([largest]) }),
  });
  const larger = await post("/printers", { ...office, print_ticket: filled(ticketLimitBytes + 1) });
  const huge = await post("/printers", { ...office, print_ticket: "x".repeat(1_200_000) });

  assert.deepEqual([typed.status, file.status, larger.status, huge.status], [200, 200, 422, 413]);
  const tickets = app.store.printers.findMany([1, 2]).map(({ print_ticket }) => print_ticket.length);
  assert.deepEqual(tickets, [ticketLimitBytes, ticketLimitBytes]);
});

deepTest("a ticket of the maximum size is rendered, and its script grows only by the ticket", async (t) => {
  const { addPrinter, fetch } = await startApp(t);
  const names = Array.from({ length: 2000 }, (_, i) => i);
  const features = names.map((i) => [`ns0000:Feature‘${i}’`, `ns0000:It's option ${i}`]);
  const large = makeTicket(Object.fromEntries(features)).replace(/\s+/g, " ");
  const plain = await addPrinter();
  const withTicket = await addPrinter({ name: "Large", driver_id: "1", print_ticket: large });
  const install = async (id: number) => (await textOf(fetch(`/printers/${id}/scripts/install`))).length;
  const before = await install(plain);

  const size = await install(withTicket);
  const pages = await Promise.all(
    ["", "/edit"].map(async (path) => (await fetch(`/printers/${withTicket}${path}`)).status),
  );

  assert.deepEqual(pages, [200, 200]);
  assert.ok(size > before + 200_000 && size < before + ticketLimitBytes + 20_000, `${before} and ${size}`);
});

test("a replaced queue has three notations, and any other line is named in the error", async (t) => {
  const { app, fetch, post } = await startApp(t);
  const replaces = "Old\r\n\\\\server\\HP 4000\r\naddress:[FE80::0:1]";

  const taken = await post("/printers", { ...office, replaces });
  const refused = await post("/printers", { ...office, replaces: "Old\r\naddress:10.1.2" });

  const page = await textOf(fetch("/printers/1"));
  assert.deepEqual([taken.status, refused.status], [200, 422]);
  const saved = ["Old", "\\\\server\\HP 4000", "address:fe80::1"];
  assert.deepEqual(app.store.printers.get(1).printer.replaces, saved);
  assert.ok(page.includes("<code>\\\\server\\HP 4000</code><br><code>address:fe80::1</code>"));
  assert.match(await refused.text(), /Line 2 \(“address:10\.1\.2”\) is not a valid IP address/);
});

test("the printer’s form explains how to get a ticket, and without scripts it can be pasted", async (t) => {
  const { fetch } = await startApp(t);

  const form = await textOf(fetch("/printers?new=1"));

  assert.match(
    form,
    /<code id="ticket-command">Get-Printer \| Out-GridView [^<]*PrintTicketXML \} \| Set-Clipboard<\/code>/,
  );
  assert.match(form, /<div class="field" data-file-text="f-print_ticket" hidden>/);
  assert.doesNotMatch(form, /<input id="f-print_ticket-file"[^>]* name=/);
});
