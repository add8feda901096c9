import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { type TestContext, test } from "node:test";
import { addDriver } from "../../src/services/drivers/drivers.ts";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { filesIn, recordsOf, remove, undo } from "../support/backup/deletions.ts";
import { statusesOf } from "../support/deploy/answers.ts";
import { rounds } from "../support/depth.ts";
import { driverZip, printerInf } from "../support/drivers/driver-zip.ts";
import { fileProblems, savedRows } from "../support/durability/disk-state.ts";
import { startFilled } from "../support/filled.ts";
import { makePng } from "../support/printers/png.ts";
import { makeDriver } from "../support/records.ts";

async function addAll({ post, addPrinter }: TestApp): Promise<void> {
  await post("/clients", { name: "Alpha" });
  await addPrinter({ client_id: "1" });
}

const printerOf = ({ app }: TestApp) => app.store.printers.get(1).printer;
const addIcon = ({ upload }: TestApp, seed: number, headers?: Record<string, string>) =>
  upload("/printers/1/icon", makePng(256, 256, seed), "icon.png", headers);

test("a client whose name is in use is restored after the other client is renamed, and markup in names is escaped", async (t) => {
  const service = await startApp(t);
  const name = `O'Brien & <b>"x"</b> مرحبا`;
  await service.post("/clients", { name });
  const answer = await (await remove(service, "/clients/1")).text();
  const dashboard = await (await service.fetch("/")).text();
  await service.post("/clients", { name: name.toUpperCase() });

  const refused = await undo(service, 1);
  await service.post("/clients/2", { name: "Beta" });
  const done = await undo(service, 1);

  for (const text of [answer, dashboard, refused.page]) {
    assert.doesNotMatch(text, /<b>/i);
    assert.match(text, /<bdi>[^<]*O&#39;Brien &amp; &lt;b&gt;&quot;x&quot;&lt;\/b&gt; مرحبا/i);
  }
  assert.equal(refused.status, 409);
  assert.match(refused.page, /Another client has the name “.+” now\. Rename it/);
  assert.match(refused.page, /<a href="\/clients\/2">Rename the other client<\/a>/);
  assert.equal(done.path, "/clients/1?restored=1");
  const names = service.app.store.clients.list().map((client) => `${client.id} ${client.name}`);
  assert.deepEqual(names.sort(), [`1 ${name}`, "2 Beta"]);
});

test("a printer needs its client and its driver first, and is restored without them only when they are deleted for good", async (t) => {
  const service = await startFilled(t, addAll);
  const before = recordsOf(service);
  const removeAll = async () => {
    for (const path of ["/printers/1", "/clients/1", "/drivers/1"]) await remove(service, path);
  };

  await removeAll();
  const answers: Awaited<ReturnType<typeof undo>>[] = [];
  for (const id of [1, 2, 1, 3, 1]) answers.push(await undo(service, id));
  const restored = recordsOf(service);
  await removeAll();
  for (const id of [5, 6]) await service.app.undo.makeFinal(id);
  const without = await undo(service, 4);

  const page = answers[0]?.page ?? "";
  assert.match(page, /“Office” needs “Alpha”, which was deleted later. Undo that deletion first\./);
  const button =
    /<form class="inline" method="post" action="\/deletions\/2\/undo"><button><span>Undo: <bdi>Alpha/;
  assert.match(page, button);
  assert.deepEqual(statusesOf(answers), [409, 303, 409, 303, 303]);
  assert.deepEqual(restored, before);
  assert.match(without.page, /Restored: .*The client “Alpha” is deleted: restored without a client\./s);
  assert.match(without.page, /The driver “Papyrus 100 PCL6 1\.2” is deleted\. Choose another driver\./);
  assert.deepEqual([printerOf(service).client_id, printerOf(service).driver_id], [null, null]);
});

test("while the same ZIP is there as a new driver, a restored printer gets that, and the old driver stays deleted", async (t) => {
  const service = await startFilled(t, addAll);
  const script = async () => (await service.fetch("/printers/1/scripts/detect")).text();
  const revision = async () => /Revision = '(\w{12})'/.exec(await script())?.[1];
  const before = await revision();
  for (const path of ["/printers/1", "/drivers/1"]) await remove(service, path);
  const reuploaded = await service.addDriver();

  const refused = await undo(service, 2);
  const { page } = await undo(service, 1);
  const found = { driver: printerOf(service).driver_id, revision: await revision() };
  for (const path of ["/printers/1", `/drivers/${reuploaded}`]) await remove(service, path);
  const [done, second] = [await undo(service, 2), await undo(service, 4)];

  assert.notEqual(reuploaded, 1);
  assert.match(refused.page, /The same ZIP was uploaded again as “Papyrus 100 PCL6 1\.2”/);
  assert.match(refused.page, new RegExp(`href="/drivers/${reuploaded}">Open the driver<`));
  assert.match(page, /the same ZIP uploaded again/);
  assert.deepEqual(found, { driver: reuploaded, revision: before });
  assert.deepEqual(statusesOf([refused, done, second]), [409, 303, 409]);
  const ids = service.app.store.drivers.list().map(({ id }) => id);
  assert.deepEqual(ids, [1]);
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

test("a replaced icon can be restored, then the icon that replaced it, and only to its own printer", async (t) => {
  const service = await startFilled(t, addAll);
  const { app, fetch, dataDir } = service;
  const fetchIcon = async () => Buffer.from(await (await fetch("/printers/1/icon")).arrayBuffer());
  await addIcon(service, 1);

  const said = await (await addIcon(service, 2)).text();
  const sent = (await addIcon(service, 2, navigation)).headers.get("location");
  const back = await undo(service, 1);
  const restored = await fetchIcon();
  const forth = await undo(service, 2);
  const second = await fetchIcon();
  const ids = app.undo.list().map(({ id }) => id);
  const icons = filesIn(dataDir).filter((name) => name.startsWith("icons/"));
  for (const path of ["/printers/1/icon", "/printers/1"]) await remove(service, path);
  const without = await undo(service, 4);
  await app.undo.makeFinal(5);
  const gone = await undo(service, 4);

  assert.match(said, /Saved: icon of .*action="\/deletions\/1\/undo"/s);
  assert.equal(sent, "/printers/1?done=icon", "the same picture replaces nothing");
  assert.deepEqual(statusesOf([back, forth, without, gone]), [303, 303, 409, 409]);
  assert.match(
    back.page,
    /Restored: .*Icon of Office \(replaced\).*The icon that it replaced can be restored as well\./s,
  );
  assert.deepEqual([restored, second], [makePng(256, 256, 1), makePng(256, 256, 2)]);
  assert.deepEqual([ids, icons.length], [[3], 2]);
  assert.match(without.page, /“Icon of Office” needs “Office”, which was deleted later/);
  assert.match(gone.page, /Its printer was permanently deleted\./);
});

// Two calls meet at a different point in every round.
const count = rounds(4, 40);

/** Does work after `turns` turns of the event loop. */
async function after<T>(turns: number, work: () => Promise<T>): Promise<T> {
  for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
  return work();
}

/** A service that does not inspect drivers, so that uploads and deletions meet. */
async function startWithFastUploads(t: TestContext) {
  const started = await startApp(t);
  const { app } = started;
  const services = { ...app, inspections: { inspect: async () => ({ report: makeDriver().report }) } };
  const add = async (zip: Buffer) =>
    (await addDriver(services, await app.store.blobs.receive(Readable.from([zip])), "a.zip")).driver.id;
  const removeDriver = async (id: number) => (await app.undo.removeDriver(id)) ?? 0;
  return { ...started, add, removeDriver };
}

/** Files that no record or deletion needs, and needed files that are missing. */
const problemsOf = async ({ dataDir }: TestApp) => fileProblems(dataDir, await savedRows(dataDir));

for (const [what, isSame] of [["it", true] as const, ["another one with the same archive", false] as const])
  test(`while a deletion is made final, ${what} is undone, and archives stay exactly as long as they are needed`, async (t) => {
    const started = await startWithFastUploads(t);
    const { app, add, removeDriver } = started;
    const odd: string[] = [];
    const results = new Set<string>();

    for (let round = 0; round < count; round++) {
      const zip = driverZip({ version: `${round}.0` });
      const first = await removeDriver(await add(zip));
      const second = isSame ? first : await removeDriver(await add(zip));
      const [ended, restored] = await Promise.allSettled([
        after(round % 5, () => app.undo.makeFinal(first)),
        after((round * 7) % 5, () => app.undo.restore(second)),
      ]);
      const left = app.store.drivers.list();
      if (left.length !== Number(restored.status === "fulfilled"))
        odd.push(`${round}: ${left.length} records`);
      odd.push(...(await problemsOf(started)).map((problem) => `${round}: ${problem}`));
      results.add(`${ended.status} ${restored.status}`);
      for (const { id } of left) await app.undo.makeFinal(await removeDriver(id));
    }

    assert.deepEqual(odd, []);
    const expected = isSame ? ["fulfilled rejected", "rejected fulfilled"] : ["fulfilled fulfilled"];
    assert.deepEqual([...results].sort(), expected);
    assert.deepEqual(filesIn(started.dataDir), []);
  });

test("an icon that is uploaded while its last deletion is made final stays", async (t) => {
  const started = await startApp(t);
  const { app, upload, addPrinter } = started;
  const printer = await addPrinter({ driver_id: "" });
  const odd: string[] = [];

  for (let round = 0; round < count; round++) {
    const png = makePng(256, 256, 1 + (round % 3));
    const send = () => upload(`/printers/${printer}/icon`, png, "icon.png");
    await send();
    const deletion = (await app.undo.removeFile("icons", printer)) ?? 0;
    await Promise.all([send(), after(round % 40, () => app.undo.makeFinal(deletion))]);
    odd.push(...(await problemsOf(started)).map((what) => `${round}: ${what}`));
  }

  assert.deepEqual(odd, []);
});
