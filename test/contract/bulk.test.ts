import assert from "node:assert/strict";
import { test } from "node:test";
import { navigation, startApp } from "../support/app.ts";
import { bulkFieldsOf, fourPrinters } from "../support/printers/four-printers.ts";
import { makePng } from "../support/printers/png.ts";

test("a bulk change moves printers to a client, and one message says how many", async (t) => {
  const service = await startApp(t);
  await fourPrinters(service);

  const answer = await service.post("/printers/bulk", {
    ...{ ids: "1, 3,3", action: "client", client_id: "2", confirmed: "1" },
  });
  const text = await answer.text();
  const none = await service.post("/printers/bulk", {
    ...{ ids: "4", action: "client", client_id: "", confirmed: "1" },
  });

  assert.deepEqual([answer.status, none.status], [200, 200]);
  assert.match(text, /id="printer-list"/);
  assert.match(text, /2 printers moved to <a href="\/clients\/2"><bdi>Kunde Müller<\/bdi><\/a>/);
  assert.match(await none.text(), /1 printer now has no client\./);
  assert.deepEqual(
    bulkFieldsOf(service)
      .sort((a, b) => a.id - b.id)
      .map(({ client }) => client),
    [2, 1, 2, undefined],
  );
});

test("a bulk deletion deletes printers with their icons, and keeps an icon file that another printer uses", async (t) => {
  const service = await startApp(t);
  await fourPrinters(service);
  const shared = makePng(256, 256, 1);
  for (const [id, png] of [
    [1, shared],
    [2, makePng(256, 256, 2)],
    [4, shared],
  ] as const)
    await service.upload(`/printers/${id}/icon`, png, "icon.png");

  const answer = await service.post("/printers/bulk", { ids: "1,2,3", action: "delete" });

  assert.match(await answer.text(), /Deleted: <bdi>3 printers</);
  assert.deepEqual(
    bulkFieldsOf(service).map(({ id }) => id),
    [4],
  );
  assert.deepEqual([...service.app.store.icons.digests()].length, 1);
  assert.equal((await service.fetch("/printers/4/icon")).status, 200);
});

test("a bulk change that is impossible for one printer changes none and says why", async (t) => {
  const service = await startApp(t);
  await fourPrinters(service);
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

test("without scripts, a bulk change redirects to the list, which shows its result", async (t) => {
  const service = await startApp(t);
  await fourPrinters(service);
  const bulk = (fields: Record<string, string>) =>
    service.post("/printers/bulk", { ...fields, confirmed: "1" }, navigation);

  const moved = await bulk({ ids: "1,2", action: "client", client_id: "2", narrowed: "client_id=1" });
  const list = await (await service.fetch(moved.headers.get("location") ?? "")).text();
  const refused = await bulk({ ids: "1,2", action: "client" });
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
  const service = await startApp(t);
  await fourPrinters(service);
  const { fetch, post } = service;
  const claims = [
    "/printers?bulk=delete&count=4&to=1",
    "/printers?bulk=client&count=999&to=1",
    "/printers?bulk=driver&count=3&to=2&kept=9&reset=9",
    "/printers?deleted=none&undo=none",
    "/drivers/1?moved=999",
    "/?ended=1",
  ];
  const moved = await post(
    "/printers/bulk",
    { ids: "1,2", action: "client", client_id: "2", confirmed: "1" },
    navigation,
  );
  const name = new URL(moved.headers.get("location") ?? "", "http://x").searchParams.get("bulk");

  const pages = await Promise.all(claims.map(async (path) => (await fetch(path)).text()));
  const elsewhere = await (await fetch(`/drivers/1?moved=${name}`)).text();
  const told = await (await fetch(`/printers?bulk=${name}`)).text();

  for (const [i, page] of [...pages, elsewhere].entries())
    assert.match(page, /<div id="message" ><\/div>/, claims[i]);
  assert.match(told, /2 printers moved to/);
});
