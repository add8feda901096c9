import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { startGuarded } from "../support/access/guarded.ts";
import { navigation } from "../support/app.ts";
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

const digestOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

/** Starts a service with a printer. `send` uploads its preferences; `state` is its badge in the list. */
async function appWithPrinter(t: TestContext) {
  const service = await withOnePrinter(t);
  const send = (bytes: Buffer, headers = {}) => service.upload(path, bytes, "preferences.dat", headers);
  const script = () => textOf(service.fetch("/printers/1/scripts/install"));
  const revision = async () => /Revision = '(\w+)'/.exec(await script())?.[1];
  const findings = async () => (await service.app.overview.printer(1)).row.findings.map(({ kind }) => kind);
  return { ...service, send, script, revision, findings };
}

test("preferences are saved, shown, given back with their digest, and deleted", async (t) => {
  const { send, fetch, post, dataDir } = await appWithPrinter(t);
  const bytes = makePreferences();
  const none = await fetch(path);

  const sent = await send(bytes);
  const page = await textOf(fetch("/printers/1"));
  const served = await fetch(path);
  const head = await fetch(path, { method: "HEAD" });
  const part = await fetch(path, { headers: { range: "bytes=100-199" } });
  const known = await fetch(path, { headers: { "if-none-match": served.headers.get("etag") ?? "" } });
  const files = readdirSync(join(dataDir, "preferences"));
  const deleted = await fetch(path, { method: "DELETE" });
  const again = await post(`${path}/delete`, {}, navigation);

  assert.deepEqual([none.status, sent.status, deleted.status, again.status], [404, 200, 200, 303]);
  assert.match(await sent.text(), new RegExp(`SHA-256 <code>${digestOf(bytes)}`));
  assert.match(page, /<h2>Vendor preferences<\/h2>.*2\.9 KB, uploaded .* for <bdi>Papyrus 100 PCL6/s);
  assert.match(page, /printui\.dll,PrintUIEntry \/Ss/);
  assert.deepEqual(await bytesOf(served), bytes);
  assert.match(served.headers.get("content-disposition") ?? "", /^attachment; filename="preferences\.dat"/);
  assert.equal(served.headers.get("etag"), `"${digestOf(bytes)}"`);
  assert.equal(head.headers.get("content-length"), String(bytes.length));
  assert.deepEqual([part.status, known.status], [206, 304]);
  assert.deepEqual(await bytesOf(part), bytes.subarray(100, 200));
  assert.deepEqual(files, [`${digestOf(bytes)}.dat`]);
  assert.match(await deleted.text(), /No preferences yet/);
});

test("a file of exactly 1 MB is taken under any field name, and a larger or empty one is refused", async (t) => {
  const { send, fetch, app, dataDir } = await appWithPrinter(t);
  const form = new FormData();
  form.set("anything", new Blob([new Uint8Array(makePreferences(1, limit))]), "x");

  const answers = [
    await fetch(path, { method: "POST", body: form }),
    await send(makePreferences(2, limit + 1)),
    await send(Buffer.alloc(0)),
    await fetch("/printers/9/preferences", { method: "POST", body: form }),
  ];

  assert.deepEqual(statusesOf(answers), [200, 413, 422, 404]);
  assert.match((await answers[1]?.text()) ?? "", /The preferences file is too large\. The limit is 1 MB/);
  assert.match((await answers[2]?.text()) ?? "", /The preferences file is empty/);
  assert.equal(app.store.preferences.find(1)?.size, limit);
  assert.deepEqual(readdirSync(join(dataDir, "incoming")), []);
});

test("a file that is clearly something else is refused with what it is, and the old one stays", async (t) => {
  const { send, app } = await appWithPrinter(t);
  await send(makePreferences());
  const before = app.store.preferences.find(1);
  const utf16 = Buffer.from("\ufeff[Version]\r\nSignature=x", "utf16le");

  for (const [bytes, what] of [
    [Buffer.from(driverZip()), "a ZIP archive"],
    [makePng(), "a PNG picture"],
    [Buffer.from("%PDF-1.7\n\0\0"), "a PDF document"],
    [Buffer.concat([Buffer.from("MZ\x90\0"), deflateRawSync("x")]), "a program"],
    [Buffer.from("; vendor\r\n[Version]\r\nClass=Printer"), "an INF file"],
    [utf16, "an INF file"],
    [Buffer.from("<psf:PrintTicket/>"), "a text file"],
  ] as const) {
    const answer = await send(bytes);

    assert.equal(answer.status, 422, what);
    assert.ok((await answer.text()).includes(`This file is ${what}, not preferences.`), what);
  }
  assert.deepEqual(app.store.preferences.find(1), before);
});

test("a browser gets a page with the refusal, or is redirected to the page with the new file", async (t) => {
  const { send, fetch } = await appWithPrinter(t);

  const refused = await send(makePng(), navigation);
  const sent = await send(makePreferences(), navigation);
  const page = await textOf(fetch(sent.headers.get("location") ?? ""));
  const fragment = await send(makePreferences(2), { "hx-request": "true" });

  assert.equal(refused.status, 422);
  assert.match(
    await refused.text(),
    /id="preferences-status"[^>]*><p class="problem" role="alert">This file is a PNG/,
  );
  assert.deepEqual([sent.status, sent.headers.get("location")], [303, "/printers/1?done=preferences"]);
  assert.match(page, /Saved: vendor preferences of/);
  assert.match(fragment.headers.get("hx-redirect") ?? "", /^\/printers\/1\?done=preferences&replaced=\d+$/);
  assert.doesNotMatch(await fragment.text(), /<html/);
});

test("printers without a queue or driver, and IPP printers, cannot have preferences", async (t) => {
  const { post, upload, fetch } = await appWithPrinter(t);
  await post("/printers", { name: "Driver", driver_id: "1" });
  await post("/printers", { name: "IPP", protocol: "ipp", address: "10.0.0.8" });
  await post("/printers", { name: "Bare", address: "10.0.0.7" });
  const reasons = [/has no queue/, /uses the IPP driver/, /Choose the printer’s driver first/];

  for (const [i, reason] of reasons.entries()) {
    const answer = await upload(`/printers/${i + 2}/preferences`, makePreferences());
    const page = await textOf(fetch(`/printers/${i + 2}`));

    assert.equal(answer.status, 422);
    assert.match(await answer.text(), reason);
    assert.doesNotMatch(page, /Vendor preferences/);
  }
});

test("preferences change the revision, and no longer where the printer has no queue or uses IPP", async (t) => {
  const { send, post, fetch, revision, script } = await appWithPrinter(t);
  const before = await revision();

  await send(makePreferences());
  const [first, settings] = [await revision(), await script()];
  await send(makePreferences(2));
  const second = await revision();
  await post("/printers/1", { name: "Office", protocol: "ipp", address: "10.0.0.9", driver_id: "1000001" });
  const ipp = await script();
  await post("/printers/1", office);
  const back = await revision();
  await fetch(path, { method: "DELETE" });

  assert.equal(new Set([before, first, second]).size, 3);
  assert.ok(settings.includes(`PreferencesSha256 = '${digestOf(makePreferences()).toUpperCase()}'`));
  assert.doesNotMatch(ipp, /PreferencesSha256/);
  assert.equal(back, second);
  assert.equal(await revision(), before);
});

test("a page shows a deployed printer as changed after its preferences changed, and as before after an undo", async (t) => {
  const service = await appWithPrinter(t);
  const { fetch, send, app } = service;
  await bytesOf(fetch("/printers/1/packages/rmm"));
  const isChanged = async () => (await app.overview.printer(1)).row.changed;

  const before = await isChanged();
  await send(makePreferences());
  const sent = await isChanged();
  await bytesOf(fetch("/printers/1/packages/rmm"));
  const deployed = await isChanged();
  await fetch(path, { method: "DELETE" });
  const deleted = await isChanged();
  await undoLast(service);

  assert.deepEqual([before, sent, deployed, deleted, await isChanged()], [false, true, false, true, false]);
});

test("after a change of the driver or model, the printer needs attention until the file is uploaded again", async (t) => {
  const { send, post, addDriver, findings, fetch } = await appWithPrinter(t);
  const models = ["Papyrus 100 PCL6", "Papyrus 100 PS"];
  const other = String(await addDriver(driverZip({ version: "2.0.0.0", models })));

  await send(makePreferences());
  const fresh = await findings();
  await post("/printers/1", { ...office, driver_id: other });
  const driver = await findings();
  const page = await textOf(fetch("/printers/1"));
  await send(makePreferences());
  const again = await findings();
  await post("/printers/1", { ...office, driver_id: other, driver_desc: "Papyrus 100 PS" });
  const model = await findings();
  await fetch(path, { method: "DELETE" });

  assert.deepEqual(fresh, []);
  assert.ok(!again.includes("other-preferences"));
  assert.ok(driver.includes("other-preferences"));
  assert.ok(model.includes("other-preferences"));
  assert.match(page, /The vendor preferences were saved with another driver\./);
  assert.ok(!(await findings()).includes("other-preferences"));
});

test("deleted and replaced preferences, and those of a deleted printer, can be restored", async (t) => {
  const service = await appWithPrinter(t);
  const { send, fetch, app, dataDir } = service;
  await send(makePreferences());
  const before = recordsOf(service);

  await fetch(path, { method: "DELETE" });
  await undoLast(service);
  const afterDelete = recordsOf(service);
  await fetch("/printers/1", { method: "DELETE" });
  await undoLast(service);
  const afterPrinter = recordsOf(service);
  await send(makePreferences(2));
  const restored = await undoLast(service);
  const page = await textOf(fetch(restored));

  assert.deepEqual([afterDelete, afterPrinter], [before, before]);
  assert.match(page, /The preferences that they replaced can be restored as well\./);
  assert.deepEqual(await bytesOf(fetch(path)), makePreferences());
  for (const { id } of app.undo.list()) await app.undo.makeFinal(id).catch(() => {});
  await fetch(path, { method: "DELETE" });
  await app.undo.makeFinal(app.undo.list()[0]?.id ?? 0);
  assert.deepEqual(
    filesIn(dataDir).filter((name) => name.startsWith("preferences/")),
    [],
  );
});

test("a copy and an IPP twin do not have the file, and the log names its changes", async (t) => {
  const { send, fetch, post, app } = await appWithPrinter(t);
  await send(makePreferences());

  await post("/printers", { name: "Copy", driver_id: "1", address: "10.0.0.8", like: "Office" });
  await fetch(path, { method: "DELETE" });
  const log = await textOf(fetch("/audit?kind=printer&id=1"));

  assert.equal(app.store.preferences.find(2), undefined);
  assert.match(log, /preferences <a href="\/printers\/1">/);
  assert.match(log, new RegExp(digestOf(makePreferences())));
});

test("viewers read preferences and operators change them; a token of another printer does neither", async (t) => {
  const { operator, viewer, bearer, addToken, admin } = await startGuarded(t);
  await admin.addPrinter();
  await admin.post("/printers", { name: "Other", driver_id: "1", address: "10.0.0.8" });
  const bytes = makePreferences();
  const [own, other] = [bearer(await addToken("printer:1")), bearer(await addToken("printer:2"))];

  const changes = [await viewer.upload(path, bytes), await operator.upload(path, bytes)];
  const reads = await Promise.all([viewer, own, other].map(async ({ fetch }) => (await fetch(path)).status));
  const page = await textOf(viewer.fetch("/printers/1"));
  const deleted = await viewer.fetch(path, { method: "DELETE" });

  assert.deepEqual(statusesOf(changes), [403, 200]);
  assert.deepEqual([reads[0], reads[1], deleted.status], [200, 200, 403]);
  assert.ok([403, 404].includes(reads[2] ?? 0), String(reads[2]));
  assert.match(page, /Vendor preferences.*Download/s);
  assert.doesNotMatch(page, /Upload preferences|Delete preferences/);
});
