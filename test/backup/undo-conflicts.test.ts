import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { filesIn, recordsOf } from "../support/backup/deletions.ts";
import { driverZip, printerInf } from "../support/drivers/driver-zip.ts";
import { startFilled } from "../support/filled.ts";
import { makePng } from "../support/printers/png.ts";

async function addAll({ post, addDriver, addPrinter }: TestApp): Promise<void> {
  await post("/clients", { name: "Alpha" });
  await addDriver();
  await addPrinter({ client_id: "1", driver_id: "1" });
}

/** A service with a printer that has a client and a driver, and functions to delete and restore them. */
async function startWithAll(t: TestContext) {
  const app = await startFilled(t, addAll);
  const [driver, printer] = [1, 1];
  const remove = (path: string) => app.fetch(path, { method: "DELETE" });
  const undo = (id: number) => app.post(`/deletions/${id}/undo`, {}, navigation);
  const found = () => app.app.store.printers.get(printer).printer;
  return { ...app, driver, printer, remove, undo, found };
}

test("a client whose name is in use is restored after the other client is renamed", async (t) => {
  const { post, remove, undo, app, printer } = await startWithAll(t);
  await remove(`/printers/${printer}`);
  await remove("/clients/1");
  await post("/clients", { name: "ALPHA" });

  const refused = await undo(2);
  const page = await refused.text();
  await post("/clients/2", { name: "Beta" });
  const done = await undo(2);

  assert.equal(refused.status, 409);
  assert.match(page, /Another client has the name “ALPHA” now\. Rename it/);
  assert.match(page, /<a href="\/clients\/2">Rename the other client<\/a>/);
  assert.equal(done.headers.get("location"), "/clients/1?restored=2");
  assert.deepEqual(
    app.store.clients.list().map(({ id, name }) => [id, name]),
    [
      [1, "Alpha"],
      [2, "Beta"],
    ],
  );
});

test("a printer needs its client and its driver first, when they can be restored", async (t) => {
  const { remove, undo, printer, driver, ...app } = await startWithAll(t);
  const before = recordsOf(app);
  await remove(`/printers/${printer}`);
  await remove("/clients/1");
  await remove(`/drivers/${driver}`);

  const statuses: number[] = [];
  const first = await undo(1);
  const text = await first.text();
  statuses.push(first.status, (await undo(2)).status, (await undo(1)).status, (await undo(3)).status);
  const last = await undo(1);

  assert.match(text, /“Office” needs “Alpha”, which was deleted later. Undo that deletion first\./);
  assert.match(
    text,
    /<form class="inline" method="post" action="\/deletions\/2\/undo"><button><span>Undo: <bdi>Alpha/,
  );
  assert.deepEqual([...statuses, last.status], [409, 303, 409, 303, 303]);
  assert.deepEqual(recordsOf(app), before);
});

test("a printer is restored without a finally deleted client and driver, and the page says so", async (t) => {
  const { remove, undo, printer, driver, fetch, app, found } = await startWithAll(t);
  await remove(`/printers/${printer}`);
  await remove("/clients/1");
  await remove(`/drivers/${driver}`);
  for (const id of [2, 3]) await app.undo.makeFinal(id);

  const done = await undo(1);
  const page = await (await fetch(done.headers.get("location") ?? "")).text();

  assert.match(page, /Restored: .*The client “Alpha” is deleted: restored without a client\./s);
  assert.match(page, /The driver “Papyrus 100 PCL6 1\.2” is deleted\. Choose another driver\./);
  assert.deepEqual([found().client_id, found().driver_id], [null, null]);
});

test("a driver whose ZIP was uploaded again is only restored after the new driver is deleted", async (t) => {
  const { remove, undo, addDriver, app, driver, printer } = await startWithAll(t);
  await remove(`/printers/${printer}`);
  await remove(`/drivers/${driver}`);
  const reuploaded = await addDriver();

  const refused = await undo(2);
  const page = await refused.text();
  await remove(`/drivers/${reuploaded}`);
  const done = await undo(2);
  const second = await undo(3);

  assert.notEqual(reuploaded, driver);
  assert.equal(refused.status, 409);
  assert.match(page, /The same ZIP was uploaded again as “Papyrus 100 PCL6 1\.2”/);
  assert.match(page, new RegExp(`href="/drivers/${reuploaded}">Open the driver<`));
  assert.deepEqual([done.status, second.status], [303, 409]);
  assert.deepEqual(
    app.store.drivers.list().map(({ id }) => id),
    [driver],
  );
});

test("a restored printer gets the driver with the same ZIP and keeps its revision", async (t) => {
  const { remove, undo, addDriver, fetch, driver, printer, found } = await startWithAll(t);
  const revision = async () =>
    /Revision = '(\w{12})'/.exec(await (await fetch(`/printers/${printer}/scripts/detect`)).text())?.[1];
  const before = await revision();
  await remove(`/printers/${printer}`);
  await remove(`/drivers/${driver}`);
  const reuploaded = await addDriver();

  const done = await undo(1);
  const page = await (await fetch(done.headers.get("location") ?? "")).text();

  assert.match(page, /the same ZIP uploaded again/);
  assert.equal(found().driver_id, reuploaded);
  assert.equal(await revision(), before);
});

test("a printer whose driver lost its model meanwhile is restored and blocked", async (t) => {
  const app = await startApp(t);
  const { post, fetch } = app;
  const other = { name: "sub/other.inf", bytes: printerInf({ models: ["Papyrus 200"] }) };
  const driver = await app.addDriver(driverZip({ models: ["Papyrus 1", "Papyrus 2"], extra: [other] }));
  const printer = await app.addPrinter({ driver_id: String(driver), driver_desc: "Papyrus 2" });
  await fetch(`/printers/${printer}`, { method: "DELETE" });
  await post(`/drivers/${driver}`, { inf_path: "sub/other.inf" });

  await post("/deletions/1/undo", {}, navigation);
  const { row } = await app.app.overview.printer(printer);

  const kinds = row.findings.map(({ kind }) => kind);
  assert.equal(app.app.store.printers.get(printer).printer.driver_desc, "Papyrus 2");
  assert.ok(kinds.includes("lost-model"), kinds.join());
});

test("a replaced icon can be restored, and then the icon that replaced it", async (t) => {
  const { undo, upload, printer, app, fetch, dataDir } = await startWithAll(t);
  const icon = `/printers/${printer}/icon`;
  const [first, second] = [makePng(256, 256, 1), makePng(256, 256, 2)];
  const fetchIcon = async () => Buffer.from(await (await fetch(icon)).arrayBuffer());
  await upload(icon, first, "icon.png");

  const said = await (await upload(icon, second, "icon.png")).text();
  const sent = (await upload(icon, second, "icon.png", navigation)).headers.get("location");
  const back = await undo(1);
  const page = await (await fetch(back.headers.get("location") ?? "")).text();
  const restored = await fetchIcon();
  const forth = await undo(2);

  assert.match(said, /Saved: icon of .*action="\/deletions\/1\/undo"/s);
  assert.equal(sent, `/printers/${printer}?done=icon`, "the same picture replaces nothing");
  assert.deepEqual([back.status, forth.status], [303, 303]);
  assert.match(
    page,
    /Restored: .*Icon of Office \(replaced\).*The icon that it replaced can be restored as well\./s,
  );
  assert.deepEqual(restored, first);
  assert.deepEqual(await fetchIcon(), second);
  assert.deepEqual(
    app.undo.list().map(({ id }) => id),
    [3],
  );
  assert.equal(filesIn(dataDir).filter((name) => name.startsWith("icons/")).length, 2);
});

test("an icon is restored only to its own printer", async (t) => {
  const { remove, undo, upload, printer, app } = await startWithAll(t);
  const icon = `/printers/${printer}/icon`;
  await upload(icon, makePng(256, 256, 1), "icon.png");
  await remove(icon);
  await remove(`/printers/${printer}`);

  const without = await undo(1);
  const text = await without.text();
  await app.undo.makeFinal(2);
  const gone = await undo(1);

  assert.match(text, /“Icon of Office” needs “Office”, which was deleted later/);
  assert.deepEqual([without.status, gone.status], [409, 409]);
  assert.match(await gone.text(), /Its printer was permanently deleted\./);
});

test("a record in use is not deleted, and no deletion is kept", async (t) => {
  const { remove, app } = await startWithAll(t);

  const answers = [await remove("/clients/1"), await remove("/drivers/1")];

  assert.deepEqual(
    answers.map(({ status }) => status),
    [409, 409],
  );
  assert.deepEqual(app.undo.list(), []);
});

test("names with markup, quotes or right-to-left text are escaped in messages and on the dashboard", async (t) => {
  const { post, fetch } = await startApp(t);
  const name = `O'Brien & <b>"x"</b> مرحبا`;
  await post("/clients", { name });

  const answer = await (await fetch("/clients/1", { method: "DELETE" })).text();
  const dashboard = await (await fetch("/")).text();
  await post("/clients", { name });
  const refused = await (await post("/deletions/1/undo", {}, navigation)).text();

  for (const text of [answer, dashboard, refused]) {
    assert.doesNotMatch(text, /<b>/);
    assert.match(text, /<bdi>[^<]*O&#39;Brien &amp; &lt;b&gt;&quot;x&quot;&lt;\/b&gt; مرحبا/);
  }
});
