import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePrinter } from "../../src/domain/printers/printer-fields.ts";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { statusesOf, textOf } from "../support/deploy/answers.ts";
import { rounds } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { planOf, previewFieldsIn, rowStatuses } from "../support/printers/lists.ts";
import { makePng } from "../support/printers/png.ts";

const list = "name,client,address\nOffice,Alpha,10.0.0.1\nStore,Beta,10.0.0.2\n";
const withWrongRow = `${list}"A, B",Gamma,10.0.0.3\n`;

/** The page of a list's preview. */
async function previewOf({ upload }: TestApp, text: string): Promise<string> {
  const answer = await upload("/import/preview", Buffer.from(text), "printers.csv");
  assert.equal(answer.status, 200);
  return answer.text();
}

const addressesIn = ({ app }: TestApp) => app.store.printers.list().map(({ printer }) => printer.address);

test("an import has two steps: the preview changes nothing, the confirmation imports everything", async (t) => {
  const first = await startApp(t);
  const { app, post, fetch } = first;

  const page = await previewOf(first, list);
  const before = app.store.printers.list().length;
  const answer = await post("/import", previewFieldsIn(page), navigation);
  const after = await textOf(fetch(answer.headers.get("location") ?? ""));
  await first.stop();
  const second = await startApp(t, { dataDir: first.dataDir });

  const found = second.app.store.printers
    .list()
    .map(({ printer, client }) => `${client?.name} ${printer.name} ${printer.port_name}`);
  assert.match(page, /New<\/span> 2/);
  assert.deepEqual([before, answer.status], [0, 303]);
  assert.match(after, /Imported: 2 new printers, 2 new clients\./);
  assert.doesNotMatch(after, /\/undo"/, "new printers have no undo");
  assert.deepEqual(found, ["Alpha Office IP_10.0.0.1", "Beta Store IP_10.0.0.2"], "after a restart");
  assert.deepEqual(rowStatuses(await planOf(second, list)), ["same: Office", "same: Store"]);
});

test("one wrong row stops the import, unless wrong rows are left out, and an import that changes nothing writes nothing", async (t) => {
  const { app, post } = await startApp(t);
  const send = (text: string, more = {}) => post("/import", { text, ...more });

  const refused = await send(withWrongRow);
  const none = app.store.clients.count();
  const taken = await send(withWrongRow, { leave_wrong: "on" });
  const before = app.store.version();
  const same = await send(list);
  const others = [
    await send(withWrongRow),
    await send(`${list}New,Gamma,10.0.0.3\n`, { digest: "0".repeat(64) }),
    await send("{"),
  ];

  assert.deepEqual([refused.status, none, taken.status], [422, 0, 200]);
  assert.match(await refused.text(), /Nothing was imported: 1 row is wrong/);
  assert.match(await taken.text(), /notice warn"[\s\S]*Imported: 2 new printers, .*1 wrong row left out\./);
  const clients = app.store.clients.names().map(({ name }) => name);
  assert.deepEqual(clients, ["Alpha", "Beta"], "no client is made for a row that is left out");
  assert.deepEqual([same.status, ...statusesOf(others)], [200, 422, 409, 422]);
  assert.match(await same.text(), /Nothing to import: 2 printers unchanged/);
  assert.equal(app.store.printers.list().length, 2);
  assert.equal(app.store.version(), before);
});

test("an import whose result would differ from its preview shows a new preview and changes nothing; an unrelated change does not stop it", async (t) => {
  const service = await startApp(t);
  const { app, post } = service;
  const page = await previewOf(service, list);

  await post("/clients", { name: "alpha" });
  await post("/printers", { name: "OFFICE", client_id: "1", address: "10.0.0.7" });
  const stale = await post("/import", previewFieldsIn(page));
  const preview = await stale.text();
  const before = addressesIn(service);
  await post("/printers/1", { name: "OFFICE", client_id: "1", address: "10.0.0.6" });
  const field = await post("/import", previewFieldsIn(preview));
  const third = await field.text();
  await post("/clients", { name: "Beta" });
  const known = await post("/import", previewFieldsIn(third));
  await post("/printers", { name: "Elsewhere", address: "10.0.0.8" });
  const retried = await post("/import", previewFieldsIn(await known.text()));

  assert.deepEqual(statusesOf([stale, field, known, retried]), [409, 409, 409, 200]);
  assert.match(preview, /The data changed after the preview/);
  assert.match(preview, /10\.0\.0\.7<\/bdi> → <bdi>10\.0\.0\.1/);
  assert.deepEqual(before, ["10.0.0.7"]);
  assert.match(third, /10\.0\.0\.6<\/bdi> → <bdi>10\.0\.0\.1/, "also after a change of one field");
  assert.equal(app.store.printers.list().length, 3);
});

test("imports and saves at the same time are neither lost nor overwritten", async (t) => {
  const { app, post } = await startApp(t);
  const count = rounds(60, 1000);
  const rows = Array.from({ length: count }, (_, i) => `P${i},Alpha,10.0.${i >> 8}.${i & 255}`);
  const text = `name,client,address\n${rows.join("\n")}\n`;
  const busy = { name: "Busy", address: "10.9.0.1" };
  await post("/printers", busy);
  let saves = 0;
  let isDone = false;
  const saving = (async () => {
    while (!isDone) await app.store.printers.update(1, parsePrinter({ ...busy, comment: `${++saves}` }));
  })();

  const answers = await Promise.all([
    post("/import", { text }),
    ...Array.from({ length: 5 }, (_, i) => post("/printers", { name: `Other ${i}`, address: "10.9.0.1" })),
    post("/import", { text: text.replaceAll("P", "Q") }),
  ]);
  isDone = true;
  await saving;

  assert.deepEqual(new Set(statusesOf(answers)), new Set([200]));
  assert.equal(app.store.printers.list().length, 2 * count + 6);
  assert.equal(app.store.clients.count(), 1);
  assert.ok(saves > 1, `${saves} saves`);
  assert.equal(app.store.printers.get(1).printer.comment, `${saves}`);
});

test("a changed printer keeps its id, icon and creation time; undo restores it, and keeps the new printers", async (t) => {
  const service = await startApp(t);
  const { app, post, fetch, upload } = service;
  await post("/import", { text: list });
  await upload("/printers/1/icon", makePng(), "icon.png");
  const { created_at } = app.store.printers.get(1).printer;
  const text = `${list.replace("10.0.0.1", "10.0.0.8")}Attic,Alpha,10.0.0.3\n`;

  const answer = await post("/import", { text }, navigation);
  const page = await textOf(fetch(answer.headers.get("location") ?? ""));
  const after = app.store.printers.get(1).printer;
  const changed = addressesIn(service);
  const [, undo = ""] = /action="(\/deletions\/\d+\/undo)"/.exec(page) ?? [];
  const undone = await post(undo, {});

  const told =
    "Imported: 1 new printer, 1 printer changed, 1 printer unchanged. Undo restores only the changed";
  assert.ok(page.includes(told));
  assert.deepEqual([after.address, after.created_at], ["10.0.0.8", created_at]);
  assert.ok(app.store.icons.find(1));
  assert.deepEqual(changed, ["10.0.0.3", "10.0.0.8", "10.0.0.2"]);
  assert.equal(undone.status, 200);
  assert.deepEqual(addressesIn(service), ["10.0.0.3", "10.0.0.1", "10.0.0.2"]);
});

test("a list can be UTF-8 with and without a mark, UTF-16 as > writes it, and Windows-1252 as Excel saves it", async (t) => {
  const german = "name;location\r\nBüro;Straße\r\n";
  const encodings = [
    ...[Buffer.from(german), Buffer.from(`\ufeff${german}`)],
    ...[Buffer.from(`\ufeff${german}`, "utf16le"), Buffer.from(german, "latin1")],
  ];
  const { upload, post, app } = await startApp(t);

  for (const [i, bytes] of encodings.entries()) {
    const page = await textOf(upload("/import/preview", bytes, "printers.csv"));
    assert.match(page, /<bdi>Büro<\/bdi>/);
    const { status } = await post("/import", previewFieldsIn(page));
    assert.equal(status, 200);
    assert.equal(app.store.printers.get(i + 1).printer.location, "Straße");
    await post(`/printers/${i + 1}/delete`, {});
  }
});

test("an unreadable list is reported in the form to a browser, and in one line to a shell; a ZIP belongs to the driver upload", async (t) => {
  const { post, fetch, upload, app } = await startApp(t);
  const script = { "hx-request": "true" };
  const link = /This is a ZIP, not a list[^<]* <a href="\/drivers#upload-form">Upload driver<\/a>/;
  const tooLarge = Buffer.alloc((8 << 20) + 1, "a");
  const files: [bytes: Buffer, headers: Record<string, string>, status: number, text: RegExp][] = [
    [driverZip(), script, 422, link],
    [driverZip(), navigation, 422, link],
    [makePng(), script, 422, /^(?!.*<a ).*Platen cannot read this file\./s],
    [tooLarge, script, 413, /larger than 8 MB/],
  ];

  const page = await post("/import/preview", { text: "Drucker\nA\n", client: "<Alpha>" }, navigation);
  const fragment = await post("/import/preview", { text: "{" }, script);
  const line = await post("/import/preview", { text: "" });
  const lost = await post("/import", { state: "AAAA", digest: "x" });
  const pasted = await post("/import/preview", { text: tooLarge.toString() });
  const twice = await post("/import/preview", {
    text: "name,client,address\nA,Alpha,10.0.0.1\nB,Alpha,10.0.0.1\n",
  });
  const redirected = await fetch("/import/preview");

  const html = await page.text();
  assert.deepEqual(statusesOf([page, fragment, line, lost, redirected]), [422, 422, 422, 422, 303]);
  assert.equal(pasted.status, 413);
  assert.match(await twice.text(), /See row 3\./);
  assert.match(html, /must contain the column “name”/);
  assert.match(html, /value="&lt;Alpha&gt;"/);
  assert.match(html, />Drucker\nA\n<\/textarea>/);
  assert.equal(fragment.headers.get("hx-retarget"), "#import-problem");
  assert.equal(await line.text(), "Choose a file, or paste the list.\n");
  assert.equal(redirected.headers.get("location"), "/import");
  for (const [bytes, headers, status, text] of files) {
    const answer = await upload("/import/preview", bytes, "a.csv", headers);
    assert.equal(answer.status, status);
    assert.match(await answer.text(), text);
  }
  assert.equal(app.store.printers.list().length, 0);
});

test("the printers page links to the import page, which links to the rules that match rows with printers", async (t) => {
  const { fetch } = await startApp(t);

  const [printers, page] = [await textOf(fetch("/printers")), await textOf(fetch("/import"))];

  assert.match(printers, /href="\/import">Import</);
  assert.match(page, /href="\/help\/import">Columns and rules</);
  assert.match(page, />&amp; \{[^<]*Get-Printer @target[^<]*Get-PrinterPort @target[^<]*\| Set-Clipboard</);
  assert.match(page, /href="\/export\/printers.csv"/);
});

test("a preview uses the field labels of forms, escapes names, and has no button if there is nothing to import", async (t) => {
  const service = await startApp(t);
  await service.post("/printers", { name: "Office", address: "10.0.0.1" });
  const name = '<script>alert(1)</script>"&';

  const changed = await previewOf(service, "name,address,port_name\nOffice,10.0.0.1,LPT_1\n");
  const wrong = await previewOf(service, 'name,address\nOffice,10.0.0.1\n"A, B",10.0.0.3\n');
  const hostile = await previewOf(service, `name,client\n"${name.replaceAll('"', '""')}",<b>x</b>\n`);

  assert.match(changed, /<li>Port: <bdi>IP_10\.0\.0\.1<\/bdi> → <bdi>LPT_1<\/bdi><\/li>/);
  assert.doesNotMatch(wrong, /leave_wrong/);
  assert.match(wrong, /Nothing to import\. 1 row is wrong\. The other rows change nothing\./);
  assert.doesNotMatch(hostile, /<script>alert|<b>x/);
  assert.match(hostile, /<bdi>&lt;script&gt;alert/);
});
