import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { filesIn, recordsOf, remove, statusesOf, undo } from "../support/backup/deletions.ts";
import { driverZip, printerInf } from "../support/drivers/driver-zip.ts";
import { startFilled } from "../support/filled.ts";
import { makePng } from "../support/printers/png.ts";

async function addAll({ post, addPrinter }: TestApp): Promise<void> {
  await post("/clients", { name: "Alpha" });
  await addPrinter({ client_id: "1" });
}

/** A service with a printer that has a client and a driver, after these deletions. All of them have the number 1. */
async function startWithAll(t: TestContext, ...deleted: readonly string[]): Promise<TestApp> {
  const service = await startFilled(t, addAll);
  for (const path of deleted) await remove(service, path);
  return service;
}

const printerOf = ({ app }: TestApp) => app.store.printers.get(1).printer;
const addIcon = ({ upload }: TestApp, seed: number, headers?: Record<string, string>) =>
  upload("/printers/1/icon", makePng(256, 256, seed), "icon.png", headers);

test("a client whose name is in use is restored after the other client is renamed", async (t) => {
  const service = await startWithAll(t, "/printers/1", "/clients/1");
  await service.post("/clients", { name: "ALPHA" });

  const refused = await undo(service, 2);
  await service.post("/clients/2", { name: "Beta" });
  const done = await undo(service, 2);

  assert.equal(refused.status, 409);
  assert.match(refused.page, /Another client has the name “ALPHA” now\. Rename it/);
  assert.match(refused.page, /<a href="\/clients\/2">Rename the other client<\/a>/);
  assert.equal(done.path, "/clients/1?restored=2");
  const names = service.app.store.clients.list().map(({ id, name }) => `${id} ${name}`);
  assert.deepEqual(names, ["1 Alpha", "2 Beta"]);
});

test("a printer needs its client and its driver first, when they can be restored", async (t) => {
  const service = await startWithAll(t);
  const before = recordsOf(service);
  for (const path of ["/printers/1", "/clients/1", "/drivers/1"]) await remove(service, path);

  const answers: Awaited<ReturnType<typeof undo>>[] = [];
  for (const id of [1, 2, 1, 3, 1]) answers.push(await undo(service, id));

  const page = answers[0]?.page ?? "";
  assert.match(page, /“Office” needs “Alpha”, which was deleted later. Undo that deletion first\./);
  assert.match(
    page,
    /<form class="inline" method="post" action="\/deletions\/2\/undo"><button><span>Undo: <bdi>Alpha/,
  );
  assert.deepEqual(statusesOf(answers), [409, 303, 409, 303, 303]);
  assert.deepEqual(recordsOf(service), before);
});

test("a printer is restored without a finally deleted client and driver, and the page says so", async (t) => {
  const service = await startWithAll(t, "/printers/1", "/clients/1", "/drivers/1");
  for (const id of [2, 3]) await service.app.undo.makeFinal(id);

  const { page } = await undo(service, 1);

  assert.match(page, /Restored: .*The client “Alpha” is deleted: restored without a client\./s);
  assert.match(page, /The driver “Papyrus 100 PCL6 1\.2” is deleted\. Choose another driver\./);
  assert.deepEqual([printerOf(service).client_id, printerOf(service).driver_id], [null, null]);
});

test("a driver whose ZIP was uploaded again is only restored after the new driver is deleted", async (t) => {
  const service = await startWithAll(t, "/printers/1", "/drivers/1");
  const reuploaded = await service.addDriver();

  const refused = await undo(service, 2);
  await remove(service, `/drivers/${reuploaded}`);
  const [done, second] = [await undo(service, 2), await undo(service, 3)];

  assert.notEqual(reuploaded, 1);
  assert.match(refused.page, /The same ZIP was uploaded again as “Papyrus 100 PCL6 1\.2”/);
  assert.match(refused.page, new RegExp(`href="/drivers/${reuploaded}">Open the driver<`));
  assert.deepEqual(statusesOf([refused, done, second]), [409, 303, 409]);
  const ids = service.app.store.drivers.list().map(({ id }) => id);
  assert.deepEqual(ids, [1]);
});

test("a restored printer gets the driver with the same ZIP and keeps its revision", async (t) => {
  const service = await startWithAll(t);
  const script = async () => (await service.fetch("/printers/1/scripts/detect")).text();
  const revision = async () => /Revision = '(\w{12})'/.exec(await script())?.[1];
  const before = await revision();
  for (const path of ["/printers/1", "/drivers/1"]) await remove(service, path);
  const reuploaded = await service.addDriver();

  const { page } = await undo(service, 1);

  assert.match(page, /the same ZIP uploaded again/);
  assert.equal(printerOf(service).driver_id, reuploaded);
  assert.equal(await revision(), before);
});

test("a printer whose driver lost its model meanwhile is restored and blocked", async (t) => {
  const service = await startApp(t);
  const other = { name: "sub/other.inf", bytes: printerInf({ models: ["Papyrus 200"] }) };
  await service.addDriver(driverZip({ models: ["Papyrus 1", "Papyrus 2"], extra: [other] }));
  await service.addPrinter({ driver_id: "1", driver_desc: "Papyrus 2" });
  await remove(service, "/printers/1");
  await service.post("/drivers/1", { inf_path: "sub/other.inf" });

  await undo(service, 1);
  const { row } = await service.app.overview.printer(1);

  const kinds = row.findings.map(({ kind }) => kind);
  assert.equal(printerOf(service).driver_desc, "Papyrus 2");
  assert.ok(kinds.includes("lost-model"), kinds.join());
});

test("a replaced icon can be restored, and then the icon that replaced it", async (t) => {
  const service = await startWithAll(t);
  const { app, fetch, dataDir } = service;
  const fetchIcon = async () => Buffer.from(await (await fetch("/printers/1/icon")).arrayBuffer());
  await addIcon(service, 1);

  const said = await (await addIcon(service, 2)).text();
  const sent = (await addIcon(service, 2, navigation)).headers.get("location");
  const back = await undo(service, 1);
  const restored = await fetchIcon();
  const forth = await undo(service, 2);

  assert.match(said, /Saved: icon of .*action="\/deletions\/1\/undo"/s);
  assert.equal(sent, "/printers/1?done=icon", "the same picture replaces nothing");
  assert.deepEqual(statusesOf([back, forth]), [303, 303]);
  assert.match(
    back.page,
    /Restored: .*Icon of Office \(replaced\).*The icon that it replaced can be restored as well\./s,
  );
  assert.deepEqual([restored, await fetchIcon()], [makePng(256, 256, 1), makePng(256, 256, 2)]);
  const ids = app.undo.list().map(({ id }) => id);
  assert.deepEqual(ids, [3]);
  assert.equal(filesIn(dataDir).filter((name) => name.startsWith("icons/")).length, 2);
});

test("an icon is restored only to its own printer", async (t) => {
  const service = await startWithAll(t);
  await addIcon(service, 1);
  for (const path of ["/printers/1/icon", "/printers/1"]) await remove(service, path);

  const without = await undo(service, 1);
  await service.app.undo.makeFinal(2);
  const gone = await undo(service, 1);

  assert.match(without.page, /“Icon of Office” needs “Office”, which was deleted later/);
  assert.deepEqual(statusesOf([without, gone]), [409, 409]);
  assert.match(gone.page, /Its printer was permanently deleted\./);
});

test("a record in use is not deleted, and no deletion is kept", async (t) => {
  const service = await startWithAll(t);

  const answers = [await remove(service, "/clients/1"), await remove(service, "/drivers/1")];

  assert.deepEqual(statusesOf(answers), [409, 409]);
  assert.deepEqual(service.app.undo.list(), []);
});

test("names with markup, quotes or right-to-left text are escaped in messages and on the dashboard", async (t) => {
  const service = await startApp(t);
  const name = `O'Brien & <b>"x"</b> مرحبا`;
  await service.post("/clients", { name });

  const answer = await (await remove(service, "/clients/1")).text();
  const dashboard = await (await service.fetch("/")).text();
  await service.post("/clients", { name });
  const refused = await undo(service, 1);

  for (const text of [answer, dashboard, refused.page]) {
    assert.doesNotMatch(text, /<b>/);
    assert.match(text, /<bdi>[^<]*O&#39;Brien &amp; &lt;b&gt;&quot;x&quot;&lt;\/b&gt; مرحبا/);
  }
});
