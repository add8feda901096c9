import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { logEntries } from "../support/audit/audit.ts";
import { lastId, recordsOf, remove, undo } from "../support/backup/deletions.ts";
import { statusesOf } from "../support/deploy/answers.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { startFilled } from "../support/filled.ts";
import { bulkFieldsOf, fourPrinters } from "../support/printers/four-printers.ts";
import { withOnePrinter } from "../support/printers/one-printer.ts";
import { makeTicket } from "../support/printers/tickets.ts";

const office = { name: "Office", address: "10.0.0.9", driver_id: "1" };

/** A service with four printers of the client 1, the client 2, and two drivers. */
async function startWithFour(t: TestContext): Promise<TestApp> {
  const service = await startFilled(t, fourPrinters);
  // The setup chose a driver's model, which can be undone too.
  await service.app.store.change(() => {});
  return service;
}

/** Changes the location of the printer 1. */
const moveTo = ({ post }: TestApp, location: string) => post("/printers/1", { ...office, location });
const locationOf = ({ app }: TestApp) => app.store.printers.get(1).printer.location;
const bulk = ({ post }: TestApp, fields: Record<string, string>) =>
  post("/printers/bulk", { confirmed: "1", ...fields });
/** Gives these printers the client 2. @returns the change */
async function giveClient(service: TestApp, ids: string): Promise<number> {
  await bulk(service, { ids, action: "client", client_id: "2" });
  return lastId(service);
}

test("an edit of a printer, a client or a driver can be undone, and everything is as before", async (t) => {
  const service = await startApp(t);
  const { post } = service;
  await post("/clients", { name: "Alpha", notes: "first" });
  await service.addDriver(driverZip({ models: ["Papyrus 100 PCL6", "Papyrus 200"] }));
  await service.addPrinter({ driver_id: "1", client_id: "1", print_ticket: makeTicket(), location: "Hall" });
  const before = recordsOf(service);
  const edits = [
    ["/printers/1", { ...office, name: "Other", location: "Cellar", client_id: "" }],
    ["/clients/1", { name: "Beta", notes: "second", subnets: "10.0.0.0/8" }],
    ["/drivers/1", { name: "Ours", comment: "c", trust_publisher: "on" }],
    ["/drivers/1", { driver_desc_typed: "Papyrus 200", name: "x" }],
  ] as const;

  for (const [i, [path, fields]] of edits.entries()) {
    const saved = await post(path, fields, navigation);
    const page = await (await service.fetch(saved.headers.get("location") ?? "")).text();
    assert.match(page, new RegExp(`Saved: .*action="/deletions/${i + 1}/undo"`, "s"));
    assert.notDeepEqual(recordsOf(service), before);
    assert.match((await undo(service)).path, new RegExp(`^${path}\\?restored=`));
  }

  assert.deepEqual(recordsOf(service), before);
  assert.deepEqual(service.app.undo.list(), []);
});

test("bulk changes of client and driver and a move can be undone, and their answers have the button", async (t) => {
  const service = await startWithFour(t);
  const { post, fetch } = service;
  const before = recordsOf(service);
  const move = async () => {
    const page = await (await fetch("/drivers/1/move?to=2")).text();
    const preview = /name="preview" value="(\w+)"/.exec(page)?.[1] ?? "";
    const models = Object.fromEntries([0, 1, 2].map((i) => [`model_${i}`, "Both"]));
    const moved = await post("/drivers/1/move", { to: "2", preview, ...models }, navigation);
    return fetch(moved.headers.get("location")?.split("#")[0] ?? "");
  };
  const changes = [
    () => bulk(service, { ids: "1,3", action: "client", client_id: "2" }),
    () => bulk(service, { ids: "1,2,3", action: "driver", driver_id: "2" }),
    move,
  ];

  const fields: ReturnType<typeof bulkFieldsOf>[] = [];
  for (const change of changes) {
    assert.match(await (await change()).text(), /action="\/deletions\/\d+\/undo"/);
    fields.push(bulkFieldsOf(service));
    assert.match((await undo(service)).path, /^\/printers\?restored=\d+$/);
    assert.deepEqual(recordsOf(service), before);
  }

  assert.deepEqual(fields[0]?.map(({ client }) => client).sort(), [1, 1, 2, 2]);
  assert.deepEqual(fields[2]?.map(({ driver }) => driver).sort(), [2, 2, 2, 2]);
});

test("a change that changes nothing cannot be undone and is not listed", async (t) => {
  const service = await startWithFour(t);
  const { post, app } = service;
  const before = app.undo.list().length;

  await post("/printers/2", {
    ...{ name: "B", driver_desc: "Both", client_id: "1", driver_id: "1", address: "10.0.0.1" },
    replaces: 'Old "driver_desc":""',
  });
  const answers = [
    await post("/clients/1", { name: "Alpha" }),
    await bulk(service, { ids: "1,2", action: "client", client_id: "1" }),
    await bulk(service, { ids: "1", action: "driver", driver_id: "1" }),
  ];

  assert.equal(app.undo.list().length, before);
  for (const answer of answers) assert.doesNotMatch(await answer.text(), /\/undo"/);
});

test("an undo restores only the printers that nobody changed or deleted since, and names the others", async (t) => {
  const service = await startWithFour(t);
  const change = await giveClient(service, "1,2,3,4");
  await service.post("/printers/2", { name: "B2", client_id: "2", driver_id: "1", address: "10.0.0.1" });
  await remove(service, "/printers/3");

  const { page } = await undo(service, change);

  const clients = bulkFieldsOf(service).map(({ id, client }) => [id, client].join());
  assert.match(page, /<div class="notice warn".*Restored: /s);
  assert.match(page, /Not restored, because they changed later: “B”, “C”\./);
  assert.deepEqual(clients.sort(), ["1,1", "2,2", "4,1"]);
});

test("of two edits the later one must be undone first, and one of a printer that is deleted for good cannot be undone", async (t) => {
  const service = await withOnePrinter(t);
  const before = recordsOf(service);
  for (const location of ["one", "two"]) await moveTo(service, location);

  const refused = await undo(service, 1);
  const untouched = locationOf(service);
  const [later, earlier] = [await undo(service, 2), await undo(service, 1)];
  const restored = recordsOf(service);
  await moveTo(service, "three");
  await remove(service, "/printers/1");
  const needs = await undo(service, 3);
  await remove(service, "/deletions/4");
  const gone = await undo(service, 3);

  assert.deepEqual(statusesOf([refused, later, earlier, needs, gone]), [409, 303, 303, 409, 409]);
  assert.match(refused.page, /Not restored.*was changed again\. Undo that change first/s);
  assert.match(refused.page, /action="\/deletions\/2\/undo"/);
  assert.equal(untouched, "two");
  assert.deepEqual(restored, before);
  assert.match(needs.page, /action="\/deletions\/4\/undo"/);
  assert.match(gone.page, /was changed or deleted later: nothing is left to undo/);
});

test("an undone change restores printers without a client that is gone, and a client’s earlier name only while it is free", async (t) => {
  const service = await startWithFour(t);
  const change = await giveClient(service, "1,2,3,4");
  await remove(service, "/clients/1");

  const needs = await undo(service, change);
  await remove(service, `/deletions/${lastId(service)}`);
  const undone = await undo(service, change);
  await service.post("/clients/2", { name: "Renamed" });
  await service.post("/clients", { name: "kunde müller" });
  const taken = await undo(service);

  assert.match(needs.page, /which was deleted later. Undo that deletion first/);
  assert.match(undone.page, /The client “Alpha” is deleted/);
  assert.ok(bulkFieldsOf(service).every(({ client }) => client === undefined));
  assert.equal(taken.status, 409);
  assert.match(taken.page, /Another client has the name/);
});

test("a change can be undone after a restart, and no longer after ten minutes", async (t) => {
  let now = Date.UTC(2026, 10, 21, 14, 5);
  const first = await withOnePrinter(t);
  const start = () => startApp(t, { dataDir: first.dataDir, clock: () => now });
  const before = recordsOf(first);
  await moveTo(first, "one");
  await first.stop();

  const second = await start();
  const page = await (await second.fetch("/")).text();
  await undo(second);
  const restored = recordsOf(second);
  await moveTo(second, "two");
  await second.stop();
  now += 11 * 60_000;
  const third = await start();

  assert.match(
    page,
    /Changed or deleted in the last ten minutes.*<bdi>Office<\/bdi><\/a> <span class="soft">printer changed/s,
  );
  assert.doesNotMatch(page, /Delete permanently/);
  assert.deepEqual(restored, before);
  assert.deepEqual(third.app.undo.list(), []);
  assert.equal(locationOf(third), "two");
  assert.equal((await undo(third, 2)).status, 404);
});

test("a change cannot be deleted for good, and undoing it twice restores it once, which is logged with the values", async (t) => {
  const service = await withOnePrinter(t);
  await moveTo(service, "one");

  const ended = await remove(service, "/deletions/1");
  const listed = service.app.undo.list().length;
  const undone = await Promise.all([1, 1].map((id) => undo(service, id)));
  const [restored, ...others] = await logEntries(service, "restored");

  assert.deepEqual([ended.status, listed, others], [404, 1, []]);
  assert.deepEqual(statusesOf(undone).sort(), [303, 404]);
  assert.equal(locationOf(service), "");
  assert.deepEqual(restored?.record, { kind: "printer", id: 1, name: "Office" });
  assert.deepEqual(restored?.fields, [{ name: "location", from: "one", to: "" }]);
});

test("a change of two printers, one deleted for good, names the later change of the other that must be undone first", async (t) => {
  const service = await startWithFour(t);
  const change = await giveClient(service, "1,2");
  await service.post("/printers/2", { ...office, name: "Edited", client_id: "2" });
  const edit = lastId(service);
  await remove(service, "/printers/1");
  await remove(service, `/deletions/${lastId(service)}`);

  const { status, page } = await undo(service, change);

  assert.equal(status, 409);
  assert.match(page, new RegExp(`action="/deletions/${edit}/undo"`));
});
