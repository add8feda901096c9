import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePrinter } from "../../src/domain/printers/printer-fields.ts";
import { addPerson, signInAdmin, startClosed } from "../support/access/people.ts";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { deepTest, rounds } from "../support/depth.ts";
import { bulkFieldsOf, sendBulk, startFour } from "../support/printers/four-printers.ts";
import { makePng } from "../support/printers/png.ts";

async function fill({ app }: TestApp, count: number): Promise<number[]> {
  const settings = parsePrinter({ name: "Büro", address: "10.0.0.1" });
  return Promise.all(Array.from({ length: count }, () => app.store.printers.add(settings)));
}

test("a bulk change moves printers to a client, and one message says how many", async (t) => {
  const service = await startFour(t);

  const answer = await sendBulk(service, { ids: "1, 3,3", action: "client", client_id: "2" });
  const none = await sendBulk(service, { ids: "4", action: "client", client_id: "" });

  const text = await answer.text();
  const fields = bulkFieldsOf(service).sort((a, b) => a.id - b.id);
  assert.deepEqual([answer.status, none.status], [200, 200]);
  assert.match(text, /id="printer-list"/);
  assert.match(text, /2 printers moved to <a href="\/clients\/2"><bdi>Kunde Müller<\/bdi><\/a>/);
  assert.match(await none.text(), /1 printer now has no client\./);
  assert.deepEqual(
    fields.map(({ client }) => client),
    [2, 1, 2, undefined],
  );
});

test("a bulk deletion deletes printers with their icons, and keeps an icon file that another printer uses", async (t) => {
  const service = await startFour(t);
  for (const [id, padding] of [
    [1, 1],
    [2, 2],
    [4, 1],
  ] as const)
    await service.upload(`/printers/${id}/icon`, makePng(256, 256, padding), "icon.png");

  const answer = await service.post("/printers/bulk", { ids: "1,2,3", action: "delete" });

  assert.match(await answer.text(), /Deleted: <bdi>3 printers</);
  assert.deepEqual(
    bulkFieldsOf(service).map(({ id }) => id),
    [4],
  );
  assert.equal([...service.app.store.icons.digests()].length, 1);
  assert.equal((await service.fetch("/printers/4/icon")).status, 200);
});

test("a bulk change that is impossible for one printer changes none and says why", async (t) => {
  const service = await startFour(t);
  const before = bulkFieldsOf(service);
  const refused: [Record<string, string>, RegExp][] = [
    [{ ids: "1,99,100", action: "delete" }, /These printers do not exist: 99, 100/],
    [{ ids: "1,99", action: "client", client_id: "2" }, /These printers do not exist: 99/],
    [{ ids: "1,<b>", action: "delete" }, /Printer “<b>” does not exist/],
    [{ ids: "", action: "delete" }, /No printer is chosen/],
    [{ action: "delete" }, /No printer is chosen/],
    [{ ids: "1", action: "client", client_id: "9" }, /Client 9 does not exist/],
    [{ ids: "1", action: "client" }, /Choose a client/],
    [{ ids: "1", action: "driver" }, /Choose a driver/],
    [{ ids: "1", action: "driver", driver_id: "9" }, /Driver 9 does not exist/],
    [
      { ids: "1", action: "driver", driver_id: "", driver_desc: "Both" },
      /Choose a driver, or clear the model/,
    ],
    [{ ids: "1", action: "explode" }, /say whether to change the client/],
    [{ ids: "1" }, /say whether to change the client/],
  ];

  for (const [fields, why] of refused) {
    const answer = await service.post("/printers/bulk", fields);
    assert.equal(answer.status, 422, JSON.stringify(fields));
    assert.match(await answer.text(), why);
  }

  assert.deepEqual(bulkFieldsOf(service), before);
  assert.equal((await service.fetch("/printers/bulk")).status, 405);
});

test("invalid ids change nothing, however many there are", async (t) => {
  const service = await startApp(t);
  await fill(service, 2);
  const hostile = [
    ...["1;2", "1 OR 1=1", "0", "-1", "1e3", "0x1", "９", "1\u0000", "\ud800"],
    ...["9".repeat(400), ",".repeat(80_000), `${"7,".repeat(50_000)}x`],
  ];

  const answers = await Promise.all(
    hostile.map((ids) => service.post("/printers/bulk", { ids, action: "delete" })),
  );

  for (const [i, answer] of answers.entries()) {
    assert.equal(answer.status, 422, hostile[i]?.slice(0, 20));
    assert.ok((await answer.text()).length < 1000);
  }
  assert.equal(service.app.store.printers.list().length, 2);
});

deepTest("a form with very many parts is read whole or refused, never in part", async (t) => {
  const service = await startApp(t);
  const whole = new FormData();
  for (const id of await fill(service, rounds(250, 600))) whole.append("ids", String(id));
  whole.append("action", "delete");
  const part = '--b\r\nContent-Disposition: form-data; name="ids"\r\n\r\n1\r\n';
  const headers = { "content-type": "multipart/form-data; boundary=b" };
  const send = async (body: string, parts: number) => {
    const init = { method: "POST", body: `${body.repeat(parts)}--b--\r\n`, headers };
    return (await service.fetch("/printers/bulk", init)).status;
  };

  const empty = await send("--b\r\n\r\n\r\n", rounds(5000, 20_000));
  const large = await send(part, 9000);
  const { status } = await service.fetch("/printers/bulk", { method: "POST", body: whole });

  assert.ok([413, 422].includes(empty), String(empty));
  assert.deepEqual([large, status], [413, 200]);
  assert.equal(service.app.store.printers.list().length, 0);
});

test("without scripts, a bulk change redirects to the list, which shows its result", async (t) => {
  const service = await startFour(t);
  const change = { ids: "1,2", action: "client" };

  const moved = await sendBulk(service, { ...change, client_id: "2", narrowed: "client_id=1" }, navigation);
  const list = await (await service.fetch(moved.headers.get("location") ?? "")).text();
  const refused = await sendBulk(service, change, navigation);
  const page = await refused.text();

  assert.equal(moved.status, 303);
  assert.match(list, /2 printers moved to <a href="\/clients\/2"><bdi>Kunde Müller/);
  assert.match(list, /2 of 4 printers/);
  assert.equal(refused.status, 422);
  assert.match(page, /<h1>Printers<\/h1>/);
  assert.match(page, /Choose a client/);
  assert.equal(page.match(/name="ids" value="[12]"[^>]*checked/g)?.length, 2, "they are still chosen");
});

test("a made-up URL cannot make a page report a bulk change that did not happen", async (t) => {
  const service = await startFour(t);
  const pageOf = async (path: string) => (await service.fetch(path)).text();
  const claims = [
    "/printers?bulk=delete&count=4&to=1",
    "/printers?bulk=client&count=999&to=1",
    "/printers?bulk=driver&count=3&to=2&kept=9&reset=9",
    "/printers?deleted=none&undo=none",
    "/drivers/1?moved=999",
    "/?ended=1",
  ];
  const moved = await sendBulk(service, { ids: "1,2", action: "client", client_id: "2" }, navigation);
  const name = new URL(moved.headers.get("location") ?? "", "http://x").searchParams.get("bulk");

  const pages = await Promise.all(claims.map(pageOf));
  const elsewhere = await pageOf(`/drivers/1?moved=${name}`);
  const told = await pageOf(`/printers?bulk=${name}`);

  for (const [i, page] of [...pages, elsewhere].entries())
    assert.match(page, /<div id="message" ><\/div>/, claims[i]);
  assert.match(told, /2 printers moved to/);
});

test("a viewer can neither preview, confirm nor undo a change, and sees no button", async (t) => {
  const service = await startClosed(t);
  const admin = { cookie: await signInAdmin(service) };
  const viewer = { cookie: await addPerson(service, "vera", "viewer") };
  const office = { name: "Office", address: "10.0.0.1" };
  await service.post("/clients", { name: "Alpha" }, admin);
  await service.post("/printers", office, admin);
  await service.post("/printers/1", { ...office, location: "Hall" }, admin);
  const change = { ids: "1", action: "client", client_id: "1" };

  const answers = [
    await service.post("/printers/bulk", change, viewer),
    await sendBulk(service, change, viewer),
    await service.post("/deletions/1/undo", {}, viewer),
  ];
  const dashboard = await (await service.fetch("/", { headers: viewer })).text();

  const { location, client_id } = service.app.store.printers.get(1).printer;
  assert.deepEqual(
    answers.map(({ status }) => status),
    [403, 403, 403],
  );
  assert.doesNotMatch(dashboard, /\/undo/);
  assert.deepEqual([location, client_id], ["Hall", null]);
});

test("simultaneous changes, undos and deletions of the same printers end in a state that one of them left", async (t) => {
  const service = await startFour(t);
  const move = (client_id: string) => sendBulk(service, { ids: "1,2,3,4", action: "client", client_id });
  const undo = (id: number) => service.post(`/deletions/${id}/undo`, {});

  for (let round = 0; round < 5; round++) {
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
