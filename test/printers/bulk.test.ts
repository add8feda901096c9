import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePrinter } from "../../src/domain/printers/printer-fields.ts";
import { navigation, startApp } from "../support/app.ts";
import { recordsOf } from "../support/backup/deletions.ts";
import { statusesOf, textOf } from "../support/deploy/answers.ts";
import { deepTest, rounds } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { bulkFieldsOf, sendBulk, startFour, startWithUnsigned } from "../support/printers/four-printers.ts";
import { makePng } from "../support/printers/png.ts";

test("a bulk change moves printers to a client, and one message says how many", async (t) => {
  const service = await startFour(t);

  const answer = await sendBulk(service, { ids: "1, 3,3", action: "client", client_id: "2" });
  const none = await sendBulk(service, { ids: "4", action: "client", client_id: "" });

  const text = await answer.text();
  const fields = bulkFieldsOf(service).sort((a, b) => a.id - b.id);
  assert.deepEqual(statusesOf([answer, none]), [200, 200]);
  assert.match(text, /id="printer-list"/);
  assert.match(text, /notice good"[\s\S]*2 printers moved to <a href="\/clients\/2"><bdi>Kunde Müller</);
  assert.match(await none.text(), /1 printer now has no client\./);
  const clients = fields.map(({ client }) => client);
  assert.deepEqual(clients, [2, 1, 2, undefined]);
});

test("a bulk deletion deletes printers with their icons, and keeps an icon file that another printer uses", async (t) => {
  const service = await startFour(t);
  const icons = { 1: 1, 2: 2, 4: 1 };
  for (const [id, padding] of Object.entries(icons))
    await service.upload(`/printers/${id}/icon`, makePng(256, 256, padding), "icon.png");

  const answer = await service.post("/printers/bulk", { ids: "1,2,3", action: "delete" });

  const left = bulkFieldsOf(service).map(({ id }) => id);
  assert.match(await answer.text(), /Deleted: <bdi>3 printers</);
  assert.deepEqual(left, [4]);
  assert.equal([...service.app.store.icons.digests()].length, 1);
  assert.equal((await service.fetch("/printers/4/icon")).status, 200);
});

test("a bulk change that is impossible for one printer changes none and says why", async (t) => {
  const service = await startFour(t);
  const before = bulkFieldsOf(service);
  const [one, action] = [{ ids: "1" }, "driver"];
  const refused: [fields: Record<string, string>, why: RegExp][] = [
    [{ ids: "1,99,100", action: "delete" }, /These printers do not exist: 99, 100/],
    [{ ids: "1,99", action: "client", client_id: "2" }, /These printers do not exist: 99/],
    [{ ids: "1,<b>", action: "delete" }, /Printer “<b>” does not exist/],
    [{ ids: "", action: "delete" }, /No printer is chosen/],
    [{ action: "delete" }, /No printer is chosen/],
    [{ ...one, action: "client", client_id: "9" }, /Client 9 does not exist/],
    [{ ...one, action: "client" }, /Choose a client/],
    [{ ...one, action }, /Choose a driver/],
    [{ ...one, action, driver_id: "9" }, /Driver 9 does not exist/],
    [{ ...one, action, driver_id: "", driver_desc: "Both" }, /Choose a driver, or clear the model/],
    [{ ...one, action: "explode" }, /say whether to change the client/],
    [one, /say whether to change the client/],
    ...["1;2", "1 OR 1=1", "0", "-1", "1e3", "0x1", "９", "1\u0000", "\ud800", "9".repeat(400)].map(
      (ids): [Record<string, string>, RegExp] => [{ ids, action: "delete" }, /not exist/],
    ),
    [{ ids: ",".repeat(80_000), action: "delete" }, /No printer/],
    [{ ids: `${"7,".repeat(50_000)}x`, action: "delete" }, /not exist/],
  ];

  for (const [fields, why] of refused) {
    const answer = await service.post("/printers/bulk", fields);
    const text = await answer.text();
    assert.equal(answer.status, 422, JSON.stringify(fields).slice(0, 60));
    assert.match(text, why);
    assert.ok(text.length < 1000);
  }

  assert.deepEqual(bulkFieldsOf(service), before);
  assert.equal((await service.fetch("/printers/bulk")).status, 405);
});

deepTest("a form with very many parts is read whole or refused, never in part", async (t) => {
  const service = await startApp(t);
  const settings = parsePrinter({ name: "Büro", address: "10.0.0.1" });
  const whole = new FormData();
  for (let i = 0; i < 600; i++) whole.append("ids", String(await service.app.store.printers.add(settings)));
  whole.append("action", "delete");
  const part = '--b\r\nContent-Disposition: form-data; name="ids"\r\n\r\n1\r\n';
  const headers = { "content-type": "multipart/form-data; boundary=b" };
  const send = async (body: string, parts: number) => {
    const init = { method: "POST", body: `${body.repeat(parts)}--b--\r\n`, headers };
    return (await service.fetch("/printers/bulk", init)).status;
  };

  const empty = await send("--b\r\n\r\n\r\n", 20_000);
  const large = await send(part, 9000);
  const { status } = await service.fetch("/printers/bulk", { method: "POST", body: whole });

  assert.ok([413, 422].includes(empty), String(empty));
  assert.deepEqual([large, status], [413, 200]);
  assert.equal(service.app.store.printers.list().length, 0);
});

test("without scripts, a bulk change redirects to the list, which shows its result, as no made-up URL can", async (t) => {
  const service = await startFour(t);
  const { fetch } = service;
  const change = { ids: "1,2", action: "client" };
  const claims = [
    ...["/printers?bulk=delete&count=4&to=1", "/printers?bulk=driver&count=3&to=2&kept=9&reset=9"],
    ...["/printers?deleted=none&undo=none", "/drivers/1?moved=999", "/?ended=1"],
  ];

  const moved = await sendBulk(service, { ...change, client_id: "2", narrowed: "client_id=1" }, navigation);
  const location = moved.headers.get("location") ?? "";
  const list = await textOf(fetch(location));
  const refused = await sendBulk(service, change, navigation);
  const page = await refused.text();

  assert.equal(moved.status, 303);
  assert.match(list, /2 printers moved to <a href="\/clients\/2"><bdi>Kunde Müller/);
  assert.match(list, /2 of 4 printers/);
  assert.equal(refused.status, 422);
  for (const part of ["<h1>Printers</h1>", "Choose a client"]) assert.ok(page.includes(part), part);
  assert.equal(page.match(/name="ids" value="[12]"[^>]*checked/g)?.length, 2, "they are still chosen");
  claims.push(`/drivers/1?moved=${new URLSearchParams(location.split("?")[1]).get("bulk")}`);
  for (const path of claims) assert.match(await textOf(fetch(path)), /<div id="message" ><\/div>/, path);
});

test("simultaneous changes, undos and deletions of the same printers end in a state that one of them left", async (t) => {
  const service = await startFour(t);
  const move = (client_id: string) => sendBulk(service, { ids: "1,2,3,4", action: "client", client_id });
  const undo = (id: number) => service.post(`/deletions/${id}/undo`, {});

  for (let round = 0; round < rounds(2, 5); round++) {
    const ids = service.app.undo.list().map(({ id }) => id);
    await Promise.all([...["2", "1", ""].map(move), ...ids.map(undo)]);
  }
  const undone: number[] = [];
  for (const { id } of service.app.undo.list()) undone.push((await undo(id)).status);

  const clients = service.app.store.printers.list().map(({ client }) => client?.id);
  assert.equal(new Set(clients).size, 1, `all four moved together: ${clients.join()}`);
  assert.ok(undone.length > 0 && undone.every((status) => status === 200 || status === 409));
  service.app.store.deletions.check();
});

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

  const page = await textOf(
    service.post("/printers/bulk", { ...toUnsigned, narrowed: "q=a", only_unmatched: "on" }, navigation),
  );
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
  assert.equal(fieldsIn(page).only_unmatched, "on");
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
  for (const [i, name] of ["a", "b", "c"].entries())
    await service.post("/printers", { ...printerA, name, client_id: "2", address: `10.0.1.${i}` });
  await service.post("/printers/1", { ...printerA, address: "10.0.0.99" });
  const change = { ids: "1", action: "client", client_id: "2" };

  const same = await textOf(service.post("/printers/bulk", { ...change, client_id: "1" }, htmx));
  const preview = await textOf(service.post("/printers/bulk", change));
  const done = await textOf(sendBulk(service, change, htmx));
  const others = await textOf(sendBulk(service, { ...change, ids: "2,3" }, htmx));

  assert.match(same, /These printers already have this client/i);
  assert.doesNotMatch(same, /class="primary"/);
  const worse = "becomes attention: Another printer of this client has this name";
  assert.ok(preview.startsWith(`A: Alpha → Kunde Müller; ${worse}`), preview);
  assert.match(done, /<div class="notice warn".*1 printer moved to .*1 printer now needs attention\./s);
  assert.match(done, /<a href="\/printers\?state=attention">/);
  assert.match(others, /2 printers moved to .*2 printers now need attention\./s);
});
