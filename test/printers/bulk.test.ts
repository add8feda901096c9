import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePrinter } from "../../src/domain/printers/printer-fields.ts";
import { navigation, startApp } from "../support/app.ts";
import { statusesOf, textOf } from "../support/deploy/answers.ts";
import { deepTest, rounds } from "../support/depth.ts";
import { bulkFieldsOf, sendBulk, startFour } from "../support/printers/four-printers.ts";
import { makePng } from "../support/printers/png.ts";

test("a bulk change moves printers to a client, and one message says how many", async (t) => {
  const service = await startFour(t);

  const answer = await sendBulk(service, { ids: "1, 3,3", action: "client", client_id: "2" });
  const none = await sendBulk(service, { ids: "4", action: "client", client_id: "" });

  const text = await answer.text();
  const fields = bulkFieldsOf(service).sort((a, b) => a.id - b.id);
  assert.deepEqual(statusesOf([answer, none]), [200, 200]);
  assert.match(text, /id="printer-list"/);
  assert.match(text, /2 printers moved to <a href="\/clients\/2"><bdi>Kunde Müller<\/bdi><\/a>/);
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
  assert.ok(undone.every((status) => status === 200 || status === 409));
  service.app.store.deletions.check();
});
