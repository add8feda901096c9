import assert from "node:assert/strict";
import { test } from "node:test";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { driverZip } from "../support/driver-zip.ts";
import { makePng } from "../support/png.ts";

/** Four printers of one client; the second and third have models of their own, of which the new driver has one. */
async function fourPrinters({ post, addDriver }: TestApp): Promise<void> {
  await post("/clients", { name: "Alpha" });
  await post("/clients", { name: "Kunde Müller" });
  await addDriver(driverZip({ models: ["Both", "Only old"] }));
  await addDriver(driverZip({ models: ["New", "Both"], version: "2.0.0.0" }));
  for (const [name, driver_desc] of [["A"], ["B", "Both"], ["C", "Only old"], ["D"]]) {
    await post("/printers", {
      name: name ?? "",
      driver_desc: driver_desc ?? "",
      client_id: "1",
      driver_id: "1",
      address: "10.0.0.1",
      replaces: 'Old "driver_desc":""',
    });
  }
}

/** What bulk changes touch, of each printer that is left. */
function state({ app }: TestApp) {
  return app.store.printers.list().map(({ printer, client, driver }) => ({
    id: printer.id,
    client: client?.id,
    driver: driver?.id,
    model: printer.driver_desc,
  }));
}

test("printers move to a client together, and one message says how many", async (t) => {
  const service = await startApp(t);
  await fourPrinters(service);

  const answer = await service.post("/printers/bulk", { ids: "1, 3,3", action: "client", client_id: "2" });
  const text = await answer.text();
  const none = await service.post("/printers/bulk", { ids: "4", action: "client", client_id: "" });

  assert.deepEqual([answer.status, none.status], [200, 200]);
  assert.match(text, /id="printer-list"/);
  assert.match(text, /2 printers moved to <a href="\/clients\/2"><bdi>Kunde Müller<\/bdi><\/a>/);
  assert.match(await none.text(), /1 printer moved: without a client now/);
  assert.deepEqual(
    state(service)
      .sort((a, b) => a.id - b.id)
      .map(({ client }) => client),
    [2, 1, 2, undefined],
  );
});

test("a driver is given to many: each keeps its model where the driver has it, and the message says so", async (t) => {
  const service = await startApp(t);
  await fourPrinters(service);
  const before = service.app.store.printers.get(3).printer;

  const body = new URLSearchParams({ action: "driver", driver_id: "2" });
  for (const id of ["1", "2", "3"]) body.append("ids", id);
  const text = await (await service.fetch("/printers/bulk", { method: "POST", body })).text();
  const after = service.app.store.printers.get(3).printer;

  assert.match(text, /3 printers now use <a href="\/drivers\/2">/);
  assert.match(
    text,
    /1 printer keeps its model\. 1 printer takes the driver’s own model, <bdi>New<\/bdi>: theirs is not in it\./,
  );
  assert.deepEqual(
    state(service).map(({ driver, model }) => [driver, model]),
    [
      [2, ""],
      [2, "Both"],
      [2, ""],
      [1, ""],
    ],
  );
  assert.deepEqual(after, { ...before, driver_id: 2, driver_desc: "" }, "nothing else of it is changed");
});

test("a driver is given to many with one model for all", async (t) => {
  const service = await startApp(t);
  await fourPrinters(service);
  const fields = { ids: "1,2,3,4", action: "driver", driver_id: "2" };

  const refused = await service.post("/printers/bulk", { ...fields, driver_desc: "Only old" });
  const untouched = state(service);
  const done = await service.post("/printers/bulk", { ...fields, driver_desc: "Both" });

  assert.equal(refused.status, 422);
  assert.match(await refused.text(), /The driver has no model “Only old”/);
  assert.ok(untouched.every(({ driver }) => driver === 1));
  assert.equal(done.status, 200);
  assert.ok(state(service).every(({ driver, model }) => driver === 2 && model === "Both"));
});

test("many are deleted together with their icons, and a picture that another has stays", async (t) => {
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
    state(service).map(({ id }) => id),
    [4],
  );
  assert.deepEqual([...service.app.store.icons.digests()].length, 1);
  assert.equal((await service.fetch("/printers/4/icon")).status, 200);
});

test("all or nothing: what cannot be done to one is done to none, and says why", async (t) => {
  const service = await startApp(t);
  await fourPrinters(service);
  const before = state(service);
  const refused: [Record<string, string>, RegExp][] = [
    [{ ids: "1,99,100", action: "delete" }, /There is no printer 99, 100/],
    [{ ids: "1,99", action: "client", client_id: "2" }, /There is no printer 99/],
    [{ ids: "1,<b>", action: "delete" }, /There is no printer “<b>”/],
    [{ ids: "", action: "delete" }, /No printer is chosen/],
    [{ action: "delete" }, /No printer is chosen/],
    [{ ids: "1", action: "client", client_id: "9" }, /There is no client 9/],
    [{ ids: "1", action: "client" }, /Choose the client/],
    [{ ids: "1", action: "driver" }, /Choose the driver/],
    [{ ids: "1", action: "driver", driver_id: "9" }, /There is no driver 9/],
    [
      { ids: "1", action: "driver", driver_id: "", driver_desc: "Both" },
      /Without a driver there is no model/,
    ],
    [{ ids: "1", action: "explode" }, /say whether to change the client/],
    [{ ids: "1" }, /say whether to change the client/],
  ];

  for (const [fields, why] of refused) {
    const answer = await service.post("/printers/bulk", fields);
    assert.equal(answer.status, 422, JSON.stringify(fields));
    assert.match(await answer.text(), why);
  }

  assert.deepEqual(state(service), before);
  assert.equal((await service.fetch("/printers/bulk")).status, 405);
});

test("without scripts a browser goes on to the list, which says what became of them", async (t) => {
  const service = await startApp(t);
  await fourPrinters(service);
  const bulk = (fields: Record<string, string>) => service.post("/printers/bulk", fields, navigation);

  const moved = await bulk({ ids: "1,2", action: "client", client_id: "2", narrowed: "client_id=1" });
  const list = await (await service.fetch(moved.headers.get("location") ?? "")).text();
  const refused = await bulk({ ids: "1,2", action: "client" });
  const page = await refused.text();

  assert.equal(moved.status, 303);
  assert.match(list, /2 printers moved to <a href="\/clients\/2"><bdi>Kunde Müller/);
  assert.match(list, /2 of 4 printers/);
  assert.equal(refused.status, 422);
  assert.match(page, /<h1>Printers<\/h1>/);
  assert.match(page, /Choose the client/);
  assert.equal(page.match(/name="ids" value="[12]"[^>]*checked/g)?.length, 2, "they are still chosen");
});
