import assert from "node:assert/strict";
import { test } from "node:test";
import { navigation, startApp } from "../support/app.ts";
import { recordsOf } from "../support/backup/deletions.ts";
import { statusesOf, textOf } from "../support/deploy/answers.ts";
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
  assert.deepEqual(statusesOf([driver, client, done]), [200, 200, 200]);
  assert.match(driver.headers.get("content-type") ?? "", /^text\/plain/);
  const blocked = /^A: .*1\.2 · Both → .*3\.0 · Both; becomes blocked: Unsigned: 64-bit Windows will refuse/;
  assert.match(first, blocked);
  assert.match(third, /^C: .* · Only old → .* · Only old; becomes blocked/);
  assert.deepEqual(last, [
    "The packages of 3 printers change. Deploy them again.",
    "Not changed yet. Send the request again with confirmed=1.",
  ]);
  assert.match(await client.text(), /^A: Alpha → no client\nB: Alpha → no client\nNot changed yet/);
  assert.deepEqual(untouched, before);
  const drivers = bulkFieldsOf(service).map((printer) => printer.driver);
  assert.deepEqual(drivers, [3, 3, 3, 1]);
});

test("a browser gets the preview as a page and a page script as the list’s replacement, and both confirm it", async (t) => {
  const service = await startWithUnsigned(t);

  const page = await textOf(service.post("/printers/bulk", { ...toUnsigned, narrowed: "q=a" }, navigation));
  const fragment = await textOf(service.post("/printers/bulk", toUnsigned, htmx));
  const between = bulkFieldsOf(service).map(({ driver }) => driver);
  const done = await service.post("/printers/bulk", fieldsIn(page), navigation);
  const list = await textOf(service.fetch(done.headers.get("location") ?? ""));

  assert.match(page, /<h1>Change the driver<\/h1>/);
  assert.match(page, /<a href="\/printers\?q=a">Cancel/);
  assert.match(fragment, /^<div id="printer-list">/);
  for (const text of [page, fragment]) {
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
  const first = fieldsIn(await textOf(service.post("/printers/bulk", toUnsigned, htmx)));
  await service.post("/printers/1", { ...printerA, driver_desc: "Only old" });
  const changed = () => bulkFieldsOf(service).filter(({ driver }) => driver === 3).length;

  const stale = await service.post("/printers/bulk", first, htmx);
  const text = await stale.text();
  const between = changed();
  const fresh = await service.post("/printers/bulk", fieldsIn(text), htmx);

  assert.match(first.preview ?? "", /^\w{16}$/);
  assert.deepEqual(statusesOf([stale, fresh]), [409, 200]);
  assert.match(text, /The data changed meanwhile\. Check the new effects below/);
  assert.deepEqual([between, changed()], [0, 3]);
});

test("a made-up confirmation changes nothing while its preview is another, and markup in names stays text", async (t) => {
  const service = await startFour(t);
  await service.post("/printers/1", { ...printerA, name: "<img src=x>" });
  const before = recordsOf(service);
  const change = { ids: "1,2", action: "client", client_id: "2" };
  const forged = ["", "0", "f".repeat(16), "<b>", "x".repeat(5000)].map((preview) => ({
    ...{ ...change, confirmed: "1", preview },
  }));
  const unconfirmed = ["0", "on", "true", "11", " 1"].map((confirmed) => ({
    ...{ ...change, confirmed, narrowed: '"><script>' },
  }));

  for (const [status, all] of [[409, forged] as const, [200, unconfirmed] as const]) {
    for (const fields of all) {
      const answer = await service.post("/printers/bulk", fields, htmx);
      const text = await answer.text();
      assert.equal(answer.status, status);
      assert.match(text, /&lt;img src=x&gt;/);
      assert.doesNotMatch(text, /<img|<script/);
    }
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

test("a preview of a change of client names printers that another one of the client then equals, or that have the client already", async (t) => {
  const service = await startFour(t);
  await service.post("/printers", { ...printerA, name: "a", client_id: "2", address: "10.0.0.77" });
  await service.post("/printers/1", { ...printerA, address: "10.0.0.99" });
  const change = { ids: "1", action: "client", client_id: "2" };

  const same = await textOf(service.post("/printers/bulk", { ...change, client_id: "1" }, htmx));
  const preview = await textOf(service.post("/printers/bulk", change));
  const done = await textOf(sendBulk(service, change, htmx));

  assert.match(same, /These printers already have this client/i);
  assert.doesNotMatch(same, /class="primary"/);
  const worse = "becomes attention: Another printer of this client has this name";
  assert.ok(preview.startsWith(`A: Alpha → Kunde Müller; ${worse}`), preview);
  assert.match(done, /<div class="notice warn".*1 printer now needs attention/s);
});
