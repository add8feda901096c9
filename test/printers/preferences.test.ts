import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { navigation } from "../support/app.ts";
import { sha256Of } from "../support/backup/backup.ts";
import { filesIn, recordsOf, undoLast } from "../support/backup/deletions.ts";
import { statusesOf, textOf } from "../support/deploy/answers.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { withOnePrinter } from "../support/printers/one-printer.ts";
import { makePng } from "../support/printers/png.ts";
import { makePreferences } from "../support/printers/preferences-files.ts";

const path = "/printers/1/preferences";
const office = { name: "Office", driver_id: "1", address: "10.0.0.9" };
const limit = 1_048_576;

/** Starts a service with a printer. `send` uploads its preferences. */
async function appWithPrinter(t: TestContext) {
  const service = await withOnePrinter(t);
  const { upload, fetch, app } = service;
  const send = (bytes = makePreferences(), headers = {}) => upload(path, bytes, "preferences.dat", headers);
  const remove = () => fetch(path, { method: "DELETE" });
  const script = () => textOf(fetch("/printers/1/scripts/install"));
  const row = async () => (await app.overview.printer(1)).row;
  return { ...service, send, remove, script, row };
}

test("preferences are saved, shown, given back with their digest, and deleted", async (t) => {
  const { send, fetch, post, remove, dataDir } = await appWithPrinter(t);
  const bytes = makePreferences();
  const none = await fetch(path);

  const sent = await send(bytes);
  const page = await textOf(fetch("/printers/1"));
  const served = await fetch(path);
  const part = await fetch(path, { headers: { range: "bytes=100-199" } });
  const known = await fetch(path, { headers: { "if-none-match": served.headers.get("etag") ?? "" } });
  const files = readdirSync(join(dataDir, "preferences"));
  const deleted = await remove();
  const again = await post(`${path}/delete`, {}, navigation);
  const log = await textOf(fetch("/audit?kind=printer&id=1"));

  assert.deepEqual(statusesOf([none, sent, part, known, deleted, again]), [404, 200, 206, 304, 200, 303]);
  assert.match(await sent.text(), new RegExp(`SHA-256 <code>${sha256Of(bytes)}`));
  assert.match(page, /<h2>Vendor preferences<\/h2>.*2\.9 KB, uploaded .* for <bdi>Papyrus 100 PCL6/s);
  assert.match(page, /printui\.dll,PrintUIEntry \/Ss/);
  assert.deepEqual(await bytesOf(served), bytes);
  assert.match(served.headers.get("content-disposition") ?? "", /^attachment; filename="preferences\.dat"/);
  assert.equal(served.headers.get("etag"), `"${sha256Of(bytes)}"`);
  assert.deepEqual(await bytesOf(part), bytes.subarray(100, 200));
  assert.deepEqual(files, [`${sha256Of(bytes)}.dat`]);
  assert.match(await deleted.text(), /No preferences yet/);
  assert.match(log, /preferences <a href="\/printers\/1">/);
  assert.match(log, new RegExp(sha256Of(bytes)));
});

test("a file of exactly 1 MB is taken under any field name, and a larger, empty or clearly other file is refused", async (t) => {
  const { send, fetch, app, dataDir } = await appWithPrinter(t);
  const form = new FormData();
  form.set("anything", new Blob([new Uint8Array(Buffer.alloc(limit, makePreferences()))]), "x");
  const tooLarge = Buffer.alloc(limit + 1, makePreferences());
  const refused: [bytes: Buffer, status: number, why: string][] = [
    [tooLarge, 413, "The preferences file is too large. The limit is 1 MB"],
    [Buffer.alloc(0), 422, "The preferences file is empty"],
    [driverZip(), 422, "This file is a ZIP archive, not preferences."],
    [makePng(), 422, "This file is a PNG picture, not preferences."],
    [Buffer.from("%PDF-1.7\n\0\0"), 422, "This file is a PDF document, not"],
    [Buffer.concat([Buffer.from("MZ\x90\0"), deflateRawSync("x")]), 422, "This file is a program, not"],
    [Buffer.from("; vendor\r\n[Version]\r\nClass=Printer"), 422, "This file is an INF file, not"],
    [Buffer.from("\ufeff[Version]\r\nSignature=x", "utf16le"), 422, "This file is an INF file, not"],
    [Buffer.from("<psf:PrintTicket/>"), 422, "This file is a text file, not"],
  ];

  const taken = await fetch(path, { method: "POST", body: form });
  const missing = await fetch("/printers/9/preferences", { method: "POST", body: form });

  assert.deepEqual(statusesOf([taken, missing]), [200, 404]);
  for (const [bytes, status, why] of refused) {
    const answer = await send(bytes);
    assert.equal(answer.status, status, why);
    assert.ok((await answer.text()).includes(why), why);
  }
  assert.equal(app.store.preferences.find(1)?.size, limit, "the old one stays");
  assert.deepEqual(readdirSync(join(dataDir, "incoming")), []);
});

test("a browser gets a page with the refusal, or is redirected to the page with the new file", async (t) => {
  const { send, fetch } = await appWithPrinter(t);
  const problem = /id="preferences-status"[^>]*><p class="problem" role="alert">This file is a PNG/;

  const refused = await send(makePng(), navigation);
  const sent = await send(makePreferences(), navigation);
  const page = await textOf(fetch(sent.headers.get("location") ?? ""));
  const fragment = await send(makePreferences(2), { "hx-request": "true" });

  assert.deepEqual(statusesOf([refused, sent]), [422, 303]);
  assert.match(await refused.text(), problem);
  assert.equal(sent.headers.get("location"), "/printers/1?done=preferences");
  assert.match(page, /Saved: vendor preferences of/);
  assert.match(fragment.headers.get("hx-redirect") ?? "", /^\/printers\/1\?done=preferences&replaced=\d+$/);
  assert.doesNotMatch(await fragment.text(), /<html/);
});

test("printers without a queue or driver, and IPP printers, cannot have preferences", async (t) => {
  const { post, upload, fetch } = await appWithPrinter(t);
  await post("/printers", { name: "Driver", driver_id: "1" });
  await post("/printers", { name: "IPP", protocol: "ipp", address: "10.0.0.8" });
  await post("/printers", { name: "Bare", address: "10.0.0.7" });
  const reasons = { 2: /has no queue/, 3: /uses the IPP driver/, 4: /Choose the printer’s driver first/ };

  for (const [id, reason] of Object.entries(reasons)) {
    const answer = await upload(`/printers/${id}/preferences`, makePreferences());

    assert.equal(answer.status, 422);
    assert.match(await answer.text(), reason);
    assert.doesNotMatch(await textOf(fetch(`/printers/${id}`)), /Vendor preferences/);
  }
});

test("preferences change the revision, and no longer where the printer has no queue or uses IPP", async (t) => {
  const { send, post, remove, script, fetch, row } = await appWithPrinter(t);
  const revision = async () => /Revision = '(\w+)'/.exec(await script())?.[1];
  const before = await revision();
  await bytesOf(fetch("/printers/1/packages/rmm"));
  const changed = [(await row()).changed];

  await send();
  changed.push((await row()).changed);
  const [first, settings] = [await revision(), await script()];
  await send(makePreferences(2));
  const second = await revision();
  await post("/printers/1", { ...office, protocol: "ipp", driver_id: "1000001" });
  const ipp = await script();
  await post("/printers/1", office);
  const back = await revision();
  await remove();

  assert.deepEqual(changed, [false, true], "since the package was downloaded");
  assert.equal(new Set([before, first, second]).size, 3);
  assert.ok(settings.includes(`PreferencesSha256 = '${sha256Of(makePreferences()).toUpperCase()}'`));
  assert.doesNotMatch(ipp, /PreferencesSha256/);
  assert.deepEqual([back, await revision()], [second, before]);
});

test("after a change of the driver or model, the printer needs attention until the file is uploaded again", async (t) => {
  const { send, post, addDriver, row, remove, fetch } = await appWithPrinter(t);
  const models = ["Papyrus 100 PCL6", "Papyrus 100 PS"];
  const driver_id = String(await addDriver(driverZip({ version: "2.0.0.0", models })));
  const isFound = async () => (await row()).findings.some(({ kind }) => kind === "other-preferences");

  await send();
  const fresh = (await row()).findings;
  await post("/printers/1", { ...office, driver_id });
  const afterDriver = await isFound();
  const page = await textOf(fetch("/printers/1"));
  await send();
  const again = await isFound();
  await post("/printers/1", { ...office, driver_id, driver_desc: "Papyrus 100 PS" });
  const afterModel = await isFound();
  await remove();

  assert.deepEqual(fresh, []);
  assert.deepEqual([afterDriver, again, afterModel, await isFound()], [true, false, true, false]);
  assert.match(page, /The vendor preferences were saved with another driver\./);
});

test("deleted and replaced preferences, and those of a deleted printer, can be restored, and a copy has none", async (t) => {
  const service = await appWithPrinter(t);
  const { send, remove, fetch, post, app, dataDir } = service;
  await send();
  const before = recordsOf(service);

  await remove();
  await undoLast(service);
  const afterDelete = recordsOf(service);
  await fetch("/printers/1", { method: "DELETE" });
  await undoLast(service);
  const afterPrinter = recordsOf(service);
  await send(makePreferences(2));
  const page = await textOf(fetch(await undoLast(service)));
  await post("/printers", { ...office, name: "Copy", like: "Office" });

  assert.deepEqual([afterDelete, afterPrinter], [before, before]);
  assert.match(page, /The preferences that they replaced can be restored as well\./);
  assert.deepEqual(await bytesOf(fetch(path)), makePreferences());
  assert.equal(app.store.preferences.find(2), undefined);
  for (const { id } of app.undo.list()) await app.undo.makeFinal(id).catch(() => {});
  await remove();
  await app.undo.makeFinal(app.undo.list()[0]?.id ?? 0);
  assert.ok(!filesIn(dataDir).some((name) => name.startsWith("preferences/")));
});
