import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { runAs } from "../../src/store/actor.ts";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { logEntries } from "../support/audit/audit.ts";
import { recordsOf, undoLast } from "../support/backup/deletions.ts";
import { bulkFieldsOf, fourPrinters } from "../support/printers/four-printers.ts";
import { makeTicket } from "../support/printers/tickets.ts";

const office = { name: "Office", address: "10.0.0.9", driver_id: "1" };

/** A service with four printers of the client 1, the client 2, and two drivers. */
async function startWithFour(t: TestContext): Promise<TestApp> {
  const service = await startApp(t);
  await fourPrinters(service);
  // The setup chose a driver's model, which can be undone too.
  await service.app.store.change(() => {});
  return service;
}

function bulk({ post }: TestApp, fields: Record<string, string>): Promise<Response> {
  return post("/printers/bulk", { confirmed: "1", ...fields });
}

async function move({ fetch, post }: TestApp, from: number, to: number): Promise<Response> {
  const page = await (await fetch(`/drivers/${from}/move?to=${to}`)).text();
  const preview = /name="preview" value="(\w+)"/.exec(page)?.[1] ?? "";
  const models = Object.fromEntries([0, 1, 2].map((i) => [`model_${i}`, "Both"]));
  return post(`/drivers/${from}/move`, { to: String(to), preview, ...models }, navigation);
}

test("an edit of a printer, a client or a driver can be undone, and everything is as before", async (t) => {
  const service = await startApp(t);
  const { post } = service;
  await post("/clients", { name: "Alpha", notes: "first" });
  await service.addPrinter({ client_id: "1", print_ticket: makeTicket(), location: "Hall" });
  const before = recordsOf(service);
  const edits = [
    ["/printers/1", { ...office, name: "Other", location: "Cellar", client_id: "" }],
    ["/clients/1", { name: "Beta", notes: "second", subnets: "10.0.0.0/8" }],
    ["/drivers/1", { name: "Ours", comment: "c", trust_publisher: "on" }],
  ] as const;

  const pages: string[] = [];
  for (const [path, fields] of edits) {
    const saved = await post(path, fields, navigation);
    pages.push(await (await service.fetch(saved.headers.get("location") ?? "")).text());
    assert.notDeepEqual(recordsOf(service), before);
    assert.match(await undoLast(service), new RegExp(`^${path}\\?restored=`));
  }

  for (const [i, page] of pages.entries())
    assert.match(page, new RegExp(`Saved: .*action="/deletions/${i + 1}/undo"`, "s"));
  assert.deepEqual(recordsOf(service), before);
  assert.deepEqual(service.app.undo.list(), []);
});

test("an undone edit is logged as restored, with the values that came back", async (t) => {
  const service = await startApp(t);
  await service.addPrinter();
  await service.post("/printers/1", { ...office, location: "Cellar" });

  await undoLast(service);
  const [restored] = await logEntries(service, "restored");

  assert.deepEqual(restored?.record, { kind: "printer", id: 1, name: "Office" });
  assert.deepEqual(restored?.fields, [{ name: "location", from: "Cellar", to: "" }]);
});

test("bulk changes of client and driver and a move can be undone, and their answers have the button", async (t) => {
  const service = await startWithFour(t);
  const before = recordsOf(service);
  const button = /action="\/deletions\/\d+\/undo"/;

  const client = await bulk(service, { ids: "1,3", action: "client", client_id: "2" });
  const clientFields = bulkFieldsOf(service).map(({ client: id }) => id);
  await undoLast(service);
  const afterClient = recordsOf(service);
  const driver = await bulk(service, { ids: "1,2,3", action: "driver", driver_id: "2" });
  await undoLast(service);
  const afterDriver = recordsOf(service);
  const moved = await move(service, 1, 2);
  const movedPage = await (await service.fetch(moved.headers.get("location")?.split("#")[0] ?? "")).text();
  const movedDrivers = bulkFieldsOf(service).map(({ driver: id }) => id);
  const path = await undoLast(service);

  assert.match(await client.text(), button);
  assert.match(await driver.text(), button);
  assert.match(movedPage, button);
  assert.deepEqual(clientFields.sort(), [1, 1, 2, 2]);
  assert.deepEqual(movedDrivers, [2, 2, 2, 2]);
  assert.match(path, /^\/printers\?restored=\d+$/);
  for (const after of [afterClient, afterDriver, recordsOf(service)]) assert.deepEqual(after, before);
});

test("a change that changes nothing cannot be undone and is not listed", async (t) => {
  const service = await startWithFour(t);
  const { post, app } = service;
  const before = app.undo.list().length;

  await post("/printers/2", {
    ...{ name: "B", driver_desc: "Both", client_id: "1", driver_id: "1", address: "10.0.0.1" },
    replaces: 'Old "driver_desc":""',
  });
  const client = await post("/clients/1", { name: "Alpha" });
  const same = await bulk(service, { ids: "1,2", action: "client", client_id: "1" });
  const driver = await bulk(service, { ids: "1", action: "driver", driver_id: "1" });

  assert.equal(app.undo.list().length, before);
  for (const answer of [client, same, driver]) assert.doesNotMatch(await answer.text(), /\/undo"/);
});

test("an undo restores only the printers that nobody changed or deleted since, and names the others", async (t) => {
  const service = await startWithFour(t);
  await bulk(service, { ids: "1,2,3,4", action: "client", client_id: "2" });
  const [change] = service.app.undo.list();
  await service.post("/printers/2", { name: "B2", client_id: "2", driver_id: "1", address: "10.0.0.1" });
  await service.fetch("/printers/3", { method: "DELETE" });

  const undone = await service.post(`/deletions/${change?.id}/undo`, {}, navigation);
  const page = await (await service.fetch(undone.headers.get("location") ?? "")).text();

  assert.match(page, /<div class="notice warn".*Restored: /s);
  assert.match(page, /Not restored, because they changed later: “B”, “C”\./);
  assert.deepEqual(
    bulkFieldsOf(service)
      .sort((a, b) => a.id - b.id)
      .map(({ id, client }) => [id, client]),
    [
      [1, 1],
      [2, 2],
      [4, 1],
    ],
  );
});

test("of two edits, the later one must be undone first, and then the earlier one can be", async (t) => {
  const service = await startApp(t);
  await service.addPrinter();
  const before = recordsOf(service);
  await service.post("/printers/1", { ...office, location: "one" });
  await service.post("/printers/1", { ...office, location: "two" });

  const refused = await service.post("/deletions/1/undo", {}, navigation);
  const text = await refused.text();
  const untouched = service.app.store.printers.get(1).printer.location;
  const later = await service.post("/deletions/2/undo", {}, navigation);
  const earlier = await service.post("/deletions/1/undo", {}, navigation);

  assert.equal(refused.status, 409);
  assert.match(text, /Not restored.*was changed again\. Undo that change first/s);
  assert.match(text, /action="\/deletions\/2\/undo"/);
  assert.equal(untouched, "two");
  assert.deepEqual([later.status, earlier.status], [303, 303]);
  assert.deepEqual(recordsOf(service), before);
});

test("an edit of a printer that is deleted for good cannot be undone, and says why", async (t) => {
  const service = await startApp(t);
  await service.addPrinter();
  await service.post("/printers/1", { ...office, location: "one" });
  await service.fetch("/printers/1", { method: "DELETE" });

  const needs = await service.post("/deletions/1/undo", {}, navigation);
  await service.fetch("/deletions/2", { method: "DELETE" });
  const gone = await service.post("/deletions/1/undo", {}, navigation);

  assert.deepEqual([needs.status, gone.status], [409, 409]);
  assert.match(await needs.text(), /action="\/deletions\/2\/undo"/);
  assert.match(await gone.text(), /was changed or deleted later: nothing is left to undo/);
});

test("an undone change restores printers without a client that is gone, and a client’s earlier name only while it is free", async (t) => {
  const service = await startWithFour(t);
  const { post, fetch } = service;
  await bulk(service, { ids: "1,2,3,4", action: "client", client_id: "2" });
  const [change] = service.app.undo.list();
  await fetch("/clients/1", { method: "DELETE" });
  const [deletion] = service.app.undo.list();

  const needs = await post(`/deletions/${change?.id}/undo`, {}, navigation);
  await fetch(`/deletions/${deletion?.id}`, { method: "DELETE" });
  const undone = await post(`/deletions/${change?.id}/undo`, {}, navigation);
  const page = await (await fetch(undone.headers.get("location") ?? "")).text();
  await post("/clients/2", { name: "Renamed" });
  await post("/clients", { name: "kunde müller" });
  const [renamed] = service.app.undo.list();
  const taken = await post(`/deletions/${renamed?.id}/undo`, {}, navigation);

  assert.match(await needs.text(), /which was deleted later. Undo that deletion first/);
  assert.match(page, /The client “Alpha” is deleted/);
  assert.ok(bulkFieldsOf(service).every(({ client }) => client === undefined));
  assert.equal(taken.status, 409);
  assert.match(await taken.text(), /Another client has the name/);
});

test("a change can be undone after a restart, and no longer after ten minutes", async (t) => {
  let now = Date.UTC(2026, 10, 21, 14, 5);
  const clock = () => now;
  const first = await startApp(t, { clock });
  await first.addPrinter();
  const before = recordsOf(first);
  await first.post("/printers/1", { ...office, location: "one" });
  await first.stop();

  const second = await startApp(t, { dataDir: first.dataDir, clock });
  const page = await (await second.fetch("/")).text();
  await undoLast(second);
  const restored = recordsOf(second);
  await second.post("/printers/1", { ...office, location: "two" });
  await second.stop();
  now += 11 * 60_000;
  const third = await startApp(t, { dataDir: first.dataDir, clock });

  assert.match(
    page,
    /Changed or deleted in the last ten minutes.*<bdi>Office<\/bdi><\/a> <span class="soft">printer changed/s,
  );
  assert.doesNotMatch(page, /Delete permanently/);
  assert.deepEqual(restored, before);
  assert.deepEqual(third.app.undo.list(), []);
  assert.equal(third.app.store.printers.get(1).printer.location, "two");
  assert.equal((await third.post("/deletions/2/undo", {})).status, 404);
});

test("a change cannot be deleted for good, and undoing it twice changes nothing", async (t) => {
  const service = await startApp(t);
  await service.addPrinter();
  await service.post("/printers/1", { ...office, location: "one" });

  const ended = await service.fetch("/deletions/1", { method: "DELETE" });
  const listed = service.app.undo.list().length;
  const undone = await Promise.all([1, 2].map(() => service.post("/deletions/1/undo", {}, navigation)));

  assert.equal(ended.status, 404);
  assert.equal(listed, 1);
  assert.deepEqual(undone.map(({ status }) => status).sort(), [303, 404]);
  assert.equal(service.app.store.printers.get(1).printer.location, "");
});

test("an undone change of a driver’s model lists the driver as before", async (t) => {
  const service = await startWithFour(t);
  const before = service.app.store.drivers.get(1);
  await runAs({ who: "test", from: "" }, () =>
    service.post("/drivers/1", { driver_desc_typed: "Only old", name: "x" }),
  );

  await undoLast(service);

  assert.deepEqual(service.app.store.drivers.get(1), before);
});

test("a change of two printers, one deleted for good, names the later change of the other that must be undone first", async (t) => {
  const service = await startWithFour(t);
  const { post, fetch } = service;
  await bulk(service, { ids: "1,2", action: "client", client_id: "2" });
  const [change] = service.app.undo.list();
  await post("/printers/2", { ...office, name: "Edited", client_id: "2" });
  const [edit] = service.app.undo.list();
  await fetch("/printers/1", { method: "DELETE" });
  await fetch(`/deletions/${service.app.undo.list()[0]?.id}`, { method: "DELETE" });

  const refused = await post(`/deletions/${change?.id}/undo`, {}, navigation);

  assert.equal(refused.status, 409);
  assert.match(await refused.text(), new RegExp(`action="/deletions/${edit?.id}/undo"`));
});
