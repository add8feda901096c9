import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePrinter } from "../../src/domain/printers/printer-fields.ts";
import { navigation, startApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { planOf, previewFieldsIn, rowStatuses } from "../support/printers/lists.ts";
import { makePng } from "../support/printers/png.ts";

const list = "name,client,address\nOffice,Alpha,10.0.0.1\nStore,Beta,10.0.0.2\n";

test("an import has two steps: the preview changes nothing, the confirmation imports everything", async (t) => {
  const { app, upload, post, fetch } = await startApp(t);

  const preview = await upload("/import/preview", Buffer.from(list), "printers.csv");
  const page = await preview.text();
  const before = app.store.printers.list().length;
  const answer = await post("/import", previewFieldsIn(page), navigation);

  assert.equal(preview.status, 200);
  assert.match(page, /New<\/span> 2/);
  assert.equal(before, 0);
  assert.equal(answer.status, 303);
  const after = await (await fetch(answer.headers.get("location") ?? "")).text();
  assert.match(after, /Imported: 2 new printers, 2 new clients\./);
  assert.deepEqual(
    app.store.printers
      .list()
      .map(({ printer, client }) => `${client?.name} ${printer.name} ${printer.port_name}`),
    ["Alpha Office IP_10.0.0.1", "Beta Store IP_10.0.0.2"],
  );
});

test("one wrong row stops the import, unless wrong rows are left out", async (t) => {
  const { app, post } = await startApp(t);
  const text = `${list}"A, B",Gamma,10.0.0.3\n`;

  const refused = await post("/import", { text });
  const none = app.store.clients.count();
  const taken = await post("/import", { text, leave_wrong: "on" });

  assert.equal(refused.status, 422);
  assert.match(await refused.text(), /Nothing was imported: 1 row is wrong/);
  assert.equal(none, 0);
  assert.equal(taken.status, 200);
  assert.equal(app.store.printers.list().length, 2);
  assert.deepEqual(
    app.store.clients.names().map(({ name }) => name),
    ["Alpha", "Beta"],
    "no client is made for a row that is left out",
  );
});

test("an import whose result would differ from its preview shows a new preview and changes nothing", async (t) => {
  const { app, upload, post } = await startApp(t);
  await post("/printers", { name: "Other", address: "10.0.0.9" });
  const page = await (await upload("/import/preview", Buffer.from(list))).text();

  await post("/printers", { name: "Elsewhere", address: "10.0.0.8" });
  await post("/clients", { name: "alpha" });
  await post("/printers", { name: "OFFICE", client_id: "1", address: "10.0.0.7" });
  const stale = await post("/import", previewFieldsIn(page));
  const preview = await stale.text();
  const retried = await post("/import", previewFieldsIn(preview));

  assert.equal(stale.status, 409);
  assert.match(preview, /The data changed after the preview/);
  assert.match(preview, /10\.0\.0\.7<\/bdi> → <bdi>10\.0\.0\.1/);
  assert.equal(retried.status, 200);
  assert.equal(app.store.printers.list().length, 4);
});

test("an import shows a new preview if a field that it sets was changed since the preview", async (t) => {
  const { app, upload, post } = await startApp(t);
  await post("/printers", { name: "Office", address: "10.0.0.9" });
  const csv = "name,address\nOffice,10.0.0.1\n";
  const page = await (await upload("/import/preview", Buffer.from(csv))).text();

  await post("/printers/1", { name: "Office", address: "10.0.0.7" });
  const stale = await post("/import", previewFieldsIn(page));

  assert.equal(stale.status, 409);
  assert.match(await stale.text(), /10\.0\.0\.7<\/bdi> → <bdi>10\.0\.0\.1/);
  assert.equal(app.store.printers.get(1).printer.address, "10.0.0.7");
});

test("an unrelated change since the preview does not stop the import", async (t) => {
  const { app, upload, post } = await startApp(t);
  const page = await (await upload("/import/preview", Buffer.from(list))).text();

  await post("/printers", { name: "Elsewhere", address: "10.0.0.8" });
  const answer = await post("/import", previewFieldsIn(page));

  assert.equal(answer.status, 200);
  assert.equal(app.store.printers.list().length, 3);
});

test("concurrent writes are neither lost nor overwritten", async (t) => {
  const { app, post } = await startApp(t);
  const rows = Array.from({ length: 60 }, (_, i) => `P${i},Alpha,10.0.${i >> 8}.${i & 255}`);
  const text = `name,client,address\n${rows.join("\n")}\n`;

  const answers = await Promise.all([
    post("/import", { text }),
    ...Array.from({ length: 10 }, (_, i) => post("/printers", { name: `Other ${i}`, address: "10.9.0.1" })),
    post("/import", { text: text.replaceAll("P", "Q") }),
  ]);

  assert.deepEqual(
    answers.map(({ status }) => status),
    answers.map(() => 200),
  );
  assert.equal(app.store.printers.list().length, 130);
  assert.equal(app.store.clients.count(), 1);
});

test("an import succeeds during continuous saves, and no change is lost", async (t) => {
  const { app, post } = await startApp(t);
  const rows = Array.from({ length: 1000 }, (_, i) => `P ${i},Gamma,10.0.${i >> 8}.${i & 255}`);
  const text = `name,client,address\n${rows.join("\n")}\n`;
  await post("/printers", { name: "Busy", address: "10.9.0.1" });
  let saves = 0;
  let isDone = false;
  const saving = (async () => {
    while (!isDone) {
      const settings = parsePrinter({ name: "Busy", address: "10.9.0.1", comment: `${++saves}` });
      await app.store.printers.update(1, settings);
    }
  })();

  const answer = await post("/import", { text });
  isDone = true;
  await saving;

  assert.equal(answer.status, 200);
  assert.ok(saves > 1, `${saves} saves`);
  assert.equal(app.store.printers.list().length, 1001);
  assert.equal(app.store.printers.get(1).printer.comment, `${saves}`);
});

test("an import that is refused or changes nothing does not write to the database", async (t) => {
  const { app, post } = await startApp(t);
  await post("/import", { text: list });
  const before = app.store.version();

  const same = await post("/import", { text: list });
  const wrong = await post("/import", { text: `${list}"A, B",Gamma,10.0.0.3\n` });
  const stale = await post("/import", { text: `${list}New,Gamma,10.0.0.3\n`, digest: "0".repeat(64) });
  const broken = await post("/import", { text: "{" });

  assert.deepEqual(
    [same, wrong, stale, broken].map(({ status }) => status),
    [200, 422, 409, 422],
  );
  assert.match(await same.text(), /Nothing to import: 2 printers unchanged/);
  assert.equal(app.store.version(), before);
});

test("imported printers are still there after a restart", async (t) => {
  const first = await startApp(t);
  await first.post("/import", { text: list });
  await first.stop();

  const second = await startApp(t, { dataDir: first.dataDir });

  assert.deepEqual(rowStatuses(await planOf(second, list)), ["same: Office", "same: Store"]);
});

test("an import that changes a printer keeps its id, icon and creation time", async (t) => {
  const { app, post, upload } = await startApp(t);
  await post("/import", { text: list });
  await upload("/printers/1/icon", makePng(), "icon.png");
  const { printer } = app.store.printers.get(1);

  await post("/import", { text: list.replace("10.0.0.1", "10.0.0.99") });

  const after = app.store.printers.get(1).printer;
  assert.equal(after.address, "10.0.0.99");
  assert.equal(after.created_at, printer.created_at);
  assert.ok(app.store.icons.find(1));
  assert.equal(app.store.printers.list().length, 2);
});

test("a list can have any encoding that Windows writes", async (t) => {
  const service = await startApp(t);
  const text = "name;location\r\nBüro;Straße\r\n";
  const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, "utf16le")]);
  const forms = {
    "UTF-8": Buffer.from(text),
    "UTF-8 with a mark": Buffer.from(`\ufeff${text}`),
    "UTF-16, as > writes it": utf16,
    "Windows-1252, as Excel saves it": Buffer.from(text, "latin1"),
  };

  for (const [what, bytes] of Object.entries(forms)) {
    const answer = await service.upload("/import/preview", bytes, "printers.csv");
    const page = await answer.text();

    assert.equal(answer.status, 200, what);
    assert.match(page, /<bdi>Büro<\/bdi>/, what);
    await service.post("/import", previewFieldsIn(page));
    assert.equal(service.app.store.printers.get(1).printer.location, "Straße", what);
  }
});

test("an unreadable list is reported in the form to a browser, and in one line to a shell", async (t) => {
  const { post, fetch, app } = await startApp(t);

  const page = await post("/import/preview", { text: "Drucker\nA\n", client: "<Alpha>" }, navigation);
  const fragment = await post("/import/preview", { text: "{" }, { "hx-request": "true" });
  const line = await post("/import/preview", { text: "" });
  const lost = await post("/import", { state: "AAAA", digest: "x" });
  const redirected = await fetch("/import/preview");

  const html = await page.text();
  assert.equal(page.status, 422);
  assert.match(html, /must contain the column “name”/);
  assert.match(html, /value="&lt;Alpha&gt;"/);
  assert.match(html, />Drucker\nA\n<\/textarea>/);
  assert.equal(fragment.status, 422);
  assert.equal(fragment.headers.get("hx-retarget"), "#import-problem");
  assert.equal(line.status, 422);
  assert.equal(await line.text(), "Choose a file, or paste the list.\n");
  assert.equal(lost.status, 422);
  assert.deepEqual([redirected.status, redirected.headers.get("location")], [303, "/import"]);
  assert.equal(app.store.printers.list().length, 0);
});

test("the printers page links to the import page, which links to the rules that match rows with printers", async (t) => {
  const { fetch } = await startApp(t);

  const printers = await (await fetch("/printers")).text();
  const page = await (await fetch("/import")).text();

  assert.match(printers, /href="\/import">Import</);
  assert.match(page, /href="\/help\/import">Columns and rules</);
  assert.match(page, /Get-PrinterPort @target/);
  assert.match(page, /href="\/export\/printers.csv"/);
});

test("a binary file is refused as such, and the message for a ZIP links to the driver upload", async (t) => {
  const { upload } = await startApp(t);
  const script = { "hx-request": "true" };
  const responseOf = async (bytes: Uint8Array, name: string, headers = {}) => {
    const answer = await upload("/import/preview", bytes, name, headers);
    return [answer.status, await answer.text()] as const;
  };

  const zip = await responseOf(driverZip(), "driver.zip", script);
  const page = await responseOf(driverZip(), "driver.zip", navigation);
  const picture = await responseOf(makePng(), "icon.png", script);
  const utf16 = await responseOf(Buffer.from(`\ufeff${list}`, "utf16le"), "printers.csv");

  for (const [status, text] of [zip, page]) {
    assert.equal(status, 422);
    assert.match(text, /This is a ZIP, not a list[^<]* <a href="\/drivers#upload-form">Upload driver<\/a>/);
  }
  assert.equal(picture[0], 422);
  assert.match(picture[1], /Platen cannot read this file\./);
  assert.doesNotMatch(picture[1], /<a /);
  assert.equal(utf16[0], 200);
});

test("a preview uses the field labels of forms, and has no button if there is nothing to import", async (t) => {
  const { post, upload } = await startApp(t);
  await post("/printers", { name: "Office", address: "10.0.0.1" });
  const previewOf = async (text: string) =>
    (await upload("/import/preview", Buffer.from(text), "printers.csv")).text();

  const changed = await previewOf("name,address,port_name\nOffice,10.0.0.1,LPT_1\n");
  const wrong = await previewOf('name,address\nOffice,10.0.0.1\n"A, B",10.0.0.3\n');

  assert.match(changed, /<li>Port: <bdi>IP_10\.0\.0\.1<\/bdi> → <bdi>LPT_1<\/bdi><\/li>/);
  assert.doesNotMatch(wrong, /leave_wrong/);
  assert.match(wrong, /Nothing to import\. 1 row is wrong\. The other rows change nothing\./);
});

test("an import of an export changes nothing although the driver got a name since", async (t) => {
  const service = await startApp(t);
  await service.addPrinter();
  const exported = await (await service.fetch("/export/printers.csv")).text();
  await service.post("/drivers/1", { name: "Ground floor" });

  const before = await planOf(service, exported);
  const second = await (await service.fetch("/export/printers.csv")).text();
  const after = await planOf(service, second);

  assert.match(exported, /Papyrus 100 PCL6 1\.2/);
  assert.match(second, /Ground floor/);
  assert.deepEqual([before.counts.same, after.counts.same], [1, 1]);
});

test("undo restores the printers that an import changed, and keeps the new ones", async (t) => {
  const { app, post, fetch } = await startApp(t);
  await post("/import", { text: list });
  const text = `${list.replace("10.0.0.1", "10.0.0.8")}Attic,Alpha,10.0.0.3\n`;

  const answer = await post("/import", { text }, navigation);
  const page = await (await fetch(answer.headers.get("location") ?? "")).text();
  const changed = app.store.printers.list().map(({ printer }) => printer.address);
  const [, undo = ""] = /action="(\/deletions\/\d+\/undo)"/.exec(page) ?? [];
  const undone = await post(undo, {});

  assert.match(
    page,
    /Imported: 1 new printer, 1 printer changed, 1 printer unchanged\. Undo restores only the changed printers\./,
  );
  assert.deepEqual(changed, ["10.0.0.3", "10.0.0.8", "10.0.0.2"]);
  assert.equal(undone.status, 200);
  assert.deepEqual(
    app.store.printers.list().map(({ printer }) => printer.address),
    ["10.0.0.3", "10.0.0.1", "10.0.0.2"],
  );
});

test("an import of new printers only offers no undo", async (t) => {
  const { post, fetch } = await startApp(t);

  const answer = await post("/import", { text: list }, navigation);
  const page = await (await fetch(answer.headers.get("location") ?? "")).text();

  assert.match(page, /Imported: 2 new printers/);
  assert.doesNotMatch(page, /\/undo"/);
});
