import assert from "node:assert/strict";
import { test } from "node:test";
import { navigation, startApp } from "../support/app.ts";
import { recordsOf } from "../support/backup/deletions.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { bulkFieldsOf, sendBulk, startFour, startWithUnsigned } from "../support/printers/four-printers.ts";

const htmx = { "hx-request": "true", accept: "text/html" };
const toUnsigned = { ids: "1,2,3", action: "driver", driver_id: "3" };
const printerA = { name: "A", client_id: "1", driver_id: "1", address: "10.0.0.1" };

/** The fields that a preview's form sends. */
function fieldsIn(page: string): Record<string, string> {
  const inputs = [...page.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)];
  return Object.fromEntries(inputs.map(([, name = "", value = ""]) => [name, value]));
}

test("a program gets a preview of a bulk change in plain text, and nothing is changed before confirmed=1", async (t) => {
  const service = await startWithUnsigned(t);
  const before = bulkFieldsOf(service);

  const driver = await service.post("/printers/bulk", toUnsigned);
  const client = await service.post("/printers/bulk", { ids: "1,2", action: "client", client_id: "" });
  const untouched = bulkFieldsOf(service);
  const done = await sendBulk(service, toUnsigned);

  const [first = "", , third = "", ...last] = (await driver.text()).trim().split("\n");
  assert.deepEqual([driver.status, client.status, done.status], [200, 200, 200]);
  assert.match(driver.headers.get("content-type") ?? "", /^text\/plain/);
  assert.match(
    first,
    /^A: .*1\.2 · Both → .*3\.0 · Both; becomes blocked: Unsigned: 64-bit Windows will refuse this driver\.$/,
  );
  assert.match(third, /^C: .* · Only old → .* · Only old; becomes blocked/);
  assert.deepEqual(last, [
    "The packages of 3 printers change. Deploy them again.",
    "Not changed yet. Send the request again with confirmed=1.",
  ]);
  assert.match(await client.text(), /^A: Alpha → no client\nB: Alpha → no client\nNot changed yet/);
  assert.deepEqual(untouched, before);
  assert.deepEqual(
    bulkFieldsOf(service).map((printer) => printer.driver),
    [3, 3, 3, 1],
  );
});

test("a browser gets the preview as a page and a page script as the list’s replacement, and both confirm it", async (t) => {
  const service = await startWithUnsigned(t);

  const page = await service.post("/printers/bulk", { ...toUnsigned, narrowed: "q=a" }, navigation);
  const fragment = await service.post("/printers/bulk", toUnsigned, htmx);
  const [pageText, fragmentText] = [await page.text(), await fragment.text()];
  const between = bulkFieldsOf(service).map(({ driver }) => driver);
  const done = await service.post("/printers/bulk", fieldsIn(pageText), navigation);
  const list = await (await service.fetch(done.headers.get("location") ?? "")).text();

  assert.deepEqual([page.status, fragment.status], [200, 200]);
  assert.match(pageText, /<h1>Change the driver<\/h1>/);
  assert.match(pageText, /<a href="\/printers\?q=a">Cancel/);
  assert.match(fragmentText, /^<div id="printer-list">/);
  for (const text of [pageText, fragmentText]) {
    assert.match(text, /3 printers will be blocked\. Unsigned: .*<bdi>A<\/bdi>.*<bdi>C<\/bdi>/s);
    assert.match(text, /The packages of 3 printers change/);
    assert.match(text, /<button class="primary">Change 3 printers/);
  }
  assert.deepEqual(between, [1, 1, 1, 1]);
  assert.match(done.headers.get("location") ?? "", /^\/printers\?q=a&bulk=/);
  assert.match(list, /<div class="notice warn".*3 printers now use .*3 printers are now blocked\./s);
  assert.match(list, /<a href="\/printers\?state=blocked">Show blocked printers/);
});

test("a preview that is out of date is shown again and changes nothing", async (t) => {
  const service = await startWithUnsigned(t);
  const first = fieldsIn(await (await service.post("/printers/bulk", toUnsigned, htmx)).text());
  await service.post("/printers/1", { ...printerA, driver_desc: "Only old" });
  const changed = () => bulkFieldsOf(service).filter(({ driver }) => driver === 3).length;

  const stale = await service.post("/printers/bulk", first, htmx);
  const text = await stale.text();
  const between = changed();
  const fresh = await service.post("/printers/bulk", fieldsIn(text), htmx);

  assert.match(first.preview ?? "", /^\w{16}$/);
  assert.deepEqual([stale.status, fresh.status], [409, 200]);
  assert.match(text, /The data changed meanwhile\. Check the new effects below/);
  assert.deepEqual([between, changed()], [0, 3]);
});

test("a made-up confirmation changes nothing while its preview is another, and markup in names stays text", async (t) => {
  const service = await startFour(t);
  await service.post("/printers/1", { ...printerA, name: "<img src=x>" });
  const before = recordsOf(service);
  const sendAll = (fields: readonly Record<string, string>[]) =>
    Promise.all(
      fields.map((each) =>
        service.post("/printers/bulk", { ids: "1,2", action: "client", client_id: "2", ...each }, htmx),
      ),
    );

  const forged = await sendAll(
    ["", "0", "f".repeat(16), "<b>", "x".repeat(5000)].map((preview) => ({ confirmed: "1", preview })),
  );
  const unconfirmed = await sendAll(
    ["0", "on", "true", "11", " 1"].map((confirmed) => ({ confirmed, narrowed: '"><script>' })),
  );

  assert.deepEqual(new Set(forged.map(({ status }) => status)), new Set([409]));
  assert.deepEqual(new Set(unconfirmed.map(({ status }) => status)), new Set([200]));
  for (const answer of [...forged, ...unconfirmed]) {
    const text = await answer.text();
    assert.match(text, /&lt;img src=x&gt;/);
    assert.doesNotMatch(text, /<img|<script/);
  }
  assert.deepEqual(recordsOf(service), before);
});

test("a preview names the machines that the new driver does not support", async (t) => {
  const service = await startApp(t);
  await service.addDriver(driverZip({ decoration: "NTx86" }));
  await service.addDriver(driverZip({ version: "2.0.0.0" }));
  await service.addPrinter({ driver_id: "1", name: "Old" });

  const preview = await service.post("/printers/bulk", { ids: "1", action: "driver", driver_id: "2" });

  assert.match(await preview.text(), /The new driver does not work on x86 PCs: Old/);
});

test("a preview of a change of client names the printers that another printer of the client then equals", async (t) => {
  const service = await startFour(t);
  await service.post("/printers", { ...printerA, name: "a", client_id: "2", address: "10.0.0.77" });
  await service.post("/printers/1", { ...printerA, address: "10.0.0.99" });
  const change = { ids: "1", action: "client", client_id: "2" };

  const preview = await service.post("/printers/bulk", change);
  const done = await sendBulk(service, change, htmx);

  assert.match(
    await preview.text(),
    /^A: Alpha → Kunde Müller; becomes attention: Another printer of this client has this name/,
  );
  assert.match(await done.text(), /<div class="notice warn".*1 printer now needs attention/s);
});

test("a preview says when the printers have the client or driver already, and a deletion has no preview", async (t) => {
  const service = await startFour(t);

  const same = await service.post("/printers/bulk", { ids: "1", action: "client", client_id: "1" }, htmx);
  const text = await same.text();
  const deleted = await service.post("/printers/bulk", { ids: "1", action: "delete" }, htmx);

  assert.match(text, /These printers already have this client/i);
  assert.doesNotMatch(text, /class="primary"/);
  assert.equal(deleted.status, 200);
  assert.equal(service.app.store.printers.find(1), undefined);
});
