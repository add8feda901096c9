import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseClient } from "../../src/domain/printers/client.ts";
import { deletedTables } from "../../src/store/deletions.ts";
import { navigation, startApp } from "../support/app.ts";
import { filesIn, recordsOf, undoLast } from "../support/backup/deletions.ts";
import { editDatabase } from "../support/database.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { makePng } from "../support/printers/png.ts";
import { until } from "../support/until.ts";

test("an undo restores a printer with its icon and its downloads", async (t) => {
  const app = await startApp(t);
  const { post, upload, fetch, addPrinter } = app;
  await post("/clients", { name: "Alpha" });
  const id = await addPrinter({ client_id: "1", comment: "By the door" });
  await upload(`/printers/${id}/icon`, makePng(), "icon.png");
  await (await fetch(`/printers/${id}/packages/rmm`)).arrayBuffer();
  await until(() => app.app.deployments.lastDeployed(id) !== undefined);
  await app.app.deployments.flush();
  const before = recordsOf(app);

  const deleted = await post(`/printers/${id}/delete`, {}, navigation);
  const gone = await fetch(`/printers/${id}`);
  const list = await (await fetch(deleted.headers.get("location") ?? "")).text();
  const path = await undoLast(app);
  const page = await (await fetch(path)).text();

  assert.equal(deleted.headers.get("location"), "/printers?undo=1");
  assert.equal(gone.status, 404);
  assert.match(list, /Deleted: <bdi>Office<\/bdi>.*action="\/deletions\/1\/undo"/s);
  assert.equal(path, `/printers/${id}?restored=1`);
  assert.match(page, /Restored: /);
  assert.deepEqual(recordsOf(app), before);
  assert.deepEqual(
    app.app.deployments.lastDeployed(id)?.revision,
    before.printers[0]?.downloads[0]?.revision,
  );
  assert.equal((await fetch(`/printers/${id}/icon`)).status, 200);
});

test("an undo restores a client, a driver with its archive, and an icon", async (t) => {
  const app = await startApp(t);
  const { post, upload, fetch, addPrinter, addDriver } = app;
  await post("/clients", { name: "Ölmühle", notes: "Rear entrance\nRing twice" });
  const printer = await addPrinter({ driver_id: "" });
  await upload(`/printers/${printer}/icon`, makePng(), "icon.png");
  const driver = await addDriver();
  await post(`/drivers/${driver}`, { name: "Ours", trust_publisher: "on" });
  const before = recordsOf(app);
  const archive = await (await fetch(`/drivers/${driver}/archive`)).arrayBuffer();

  const paths: string[] = [];
  for (const path of ["/clients/1", `/drivers/${driver}`, `/printers/${printer}/icon`]) {
    await fetch(path, { method: "DELETE" });
    assert.notDeepEqual(recordsOf(app), before);
    paths.push(await undoLast(app));
  }

  assert.deepEqual(paths, [
    "/clients/1?restored=2",
    `/drivers/${driver}?restored=3`,
    `/printers/${printer}?restored=4`,
  ]);
  assert.deepEqual(recordsOf(app), before);
  assert.deepEqual(await (await fetch(`/drivers/${driver}/archive`)).arrayBuffer(), archive);
});

test("many printers are deleted and restored as one deletion", async (t) => {
  const app = await startApp(t);
  const { store, undo } = app.app;
  const driver = await app.addDriver();
  const ids = await Promise.all(
    Array.from({ length: 12 }, (_, i) => app.addPrinter({ name: `P${i}`, driver_id: String(driver) })),
  );
  for (const id of ids.slice(0, 3)) await app.upload(`/printers/${id}/icon`, makePng(), "icon.png");
  const before = recordsOf(app);

  const deletion = await undo.removePrinters(ids);
  const [kept] = undo.list();
  const path = await undoLast(app);

  assert.equal(deletion, 1);
  assert.equal(kept?.name, "12 printers");
  assert.equal(path, "/printers?restored=1");
  assert.deepEqual(recordsOf(app), before);
  assert.equal(store.deletions.list().length, 0);
  await assert.rejects(undo.removePrinters([...ids, 999]), { code: "invalid" });
  assert.deepEqual(recordsOf(app), before);
});

test("a deleted printer keeps a download that was not saved yet", async (t) => {
  const app = await startApp(t);
  const id = await app.addPrinter();
  await (await app.fetch(`/printers/${id}/scripts/install`)).text();
  await until(() => app.app.deployments.lastDeployed(id) !== undefined);

  await app.fetch(`/printers/${id}`, { method: "DELETE" });
  const meanwhile = app.app.deployments.lastDeployed(id);
  await undoLast(app);

  assert.equal(meanwhile, undefined);
  assert.match(app.app.deployments.lastDeployed(id)?.revision ?? "", /^\w{12}$/);
  assert.equal(app.app.store.downloads.ofPrinter(id)[0]?.count, 1);
});

test("a driver whose archive is missing or damaged is restored with a warning that says what to do", async (t) => {
  const { app, dataDir, fetch, post, addDriver } = await startApp(t);
  const tones: string[] = [];
  const texts: string[] = [];
  const id = await addDriver();
  const path = join(dataDir, "drivers", `${app.store.drivers.get(id).sha256}.zip`);
  const whole = readFileSync(path);

  for (const spoil of [
    (path: string) => rmSync(path),
    (path: string) => truncateSync(path, 100),
    (path: string) => writeFileSync(path, Buffer.alloc(statSync(path).size)),
  ]) {
    await fetch(`/drivers/${id}`, { method: "DELETE" });
    spoil(path);
    const text = await (await post(`/deletions/${app.undo.list()[0]?.id}/undo`, {})).text();
    tones.push(/class="[^"]*\b(good|warn|bad)\b/.exec(text)?.[1] ?? "none");
    texts.push(text);
    writeFileSync(path, whole);
  }

  assert.deepEqual(tones, ["warn", "warn", "warn"]);
  assert.match(texts[0] ?? "", /Its ZIP is missing on the server\. Upload driver\.zip again\./);
  for (const text of texts.slice(1))
    assert.match(text, /Its ZIP is damaged on the server\. Upload driver\.zip again/);
});

test("a second undo and an unknown deletion change nothing and say why", async (t) => {
  const app = await startApp(t);
  const { post, fetch } = app;
  await post("/clients", { name: "Alpha" });
  await fetch("/clients/1", { method: "DELETE" });

  const [first, second] = await Promise.all([post("/deletions/1/undo", {}), post("/deletions/1/undo", {})]);
  const third = await post("/deletions/1/undo", {}, navigation);
  const unknown = await post("/deletions/99/undo", {}, navigation);
  const forGood = await post("/deletions/1/delete", {});

  assert.deepEqual(
    [first, second, third, unknown, forGood].map(({ status }) => status),
    [200, 404, 404, 404, 404],
  );
  for (const answer of [third, unknown])
    assert.match(
      await answer.text(),
      /You cannot undo this any more: it is undone already, or ten minutes are over\./,
    );
  assert.equal(app.app.store.clients.count(), 1);
});

test("deletions whose time is over free their files and space, and shared files stay", async (t) => {
  const app = await startApp(t);
  const { upload, fetch, addPrinter, addDriver, dataDir } = app;
  const models = Array.from(
    { length: 6000 },
    (_, i) => `Papyrus ${(i * 7919 * 104_729) % 1_000_003} ${i * i}`,
  );
  const size = () => statSync(join(dataDir, "platen.sqlite")).size;
  const empty = size();
  const [one, other] = [await addPrinter({ driver_id: "" }), await addPrinter({ driver_id: "" })];
  for (const id of [one, other]) await upload(`/printers/${id}/icon`, makePng(), "icon.png");
  const drivers = await Promise.all(
    [1, 2, 3].map((i) => addDriver(driverZip({ models, version: `${i}.0` }))),
  );

  for (const id of drivers) await fetch(`/drivers/${id}`, { method: "DELETE" });
  await fetch(`/printers/${one}`, { method: "DELETE" });
  const kept = [filesIn(dataDir).length, size()];
  await app.stop();
  const later = await startApp(t, { dataDir, undoMs: 300, clock: Date.now });
  await until(() => later.app.undo.list().length === 0 && filesIn(dataDir).length === 1);

  const after = [filesIn(dataDir), size()] as const;
  assert.equal(kept[0], 4);
  assert.match(after[0].join(), /^icons\//);
  assert.ok(after[1] < empty + (Number(kept[1]) - empty) / 3, `${empty}, ${kept[1]}, ${after[1]}`);
  assert.deepEqual([...app.lines, ...later.lines], []);
});

test("a file of two deletions stays when one is made final, and the other is restored with it", async (t) => {
  const app = await startApp(t);
  const { upload, fetch, addPrinter, dataDir } = app;
  const printers = [await addPrinter({ driver_id: "" }), await addPrinter({ driver_id: "" })];
  for (const id of printers) await upload(`/printers/${id}/icon`, makePng(), "icon.png");
  for (const id of printers) await fetch(`/printers/${id}`, { method: "DELETE" });

  await app.app.undo.makeFinal(1);
  const kept = filesIn(dataDir);
  const path = await undoLast(app);
  const icon = await fetch(`/printers/${printers[1]}/icon`);

  assert.match(kept.join(), /^icons\/[^,]*$/);
  assert.equal(path, `/printers/${printers[1]}?restored=2`);
  assert.equal(icon.status, 200);
});

test("deleting a file is retried after a minute, even when no other deletion is due", async (t) => {
  const before = await startApp(t);
  const driver = await before.addDriver();
  // The connection of the upload ends, because fetch has timers of its own, which must not be mocked.
  await before.stop();
  const { dataDir } = before;
  const { app, lines } = await startApp(t, { dataDir });
  const path = join(dataDir, filesIn(dataDir)[0] ?? "");
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const deletion = Number(await app.undo.removeDriver(driver));
  rmSync(path);
  mkdirSync(path);
  await app.undo.makeFinal(deletion);
  rmdirSync(path);
  writeFileSync(path, "as it was");

  t.mock.timers.tick(60_000);
  await app.undo.close();

  assert.match(lines.join(), /^warning: files of deleted records are still there: [^,]*$/);
  assert.deepEqual(filesIn(dataDir), []);
  assert.deepEqual(app.store.deletions.listFinal(), []);
});

test("a user can make a deletion final", async (t) => {
  const app = await startApp(t);
  const { post, fetch, addDriver, dataDir } = app;
  await fetch(`/drivers/${await addDriver()}`, { method: "DELETE" });

  const answer = await post("/deletions/1/delete", {}, navigation);
  const page = await (await fetch(answer.headers.get("location") ?? "")).text();
  const later = await post("/deletions/1/undo", {});

  assert.match(page, /Permanently deleted: <bdi>Papyrus 100 PCL6 1\.2<\/bdi>\./);
  assert.doesNotMatch(page, /Changed or deleted in the last ten minutes/);
  assert.equal(later.status, 404);
  assert.deepEqual(filesIn(dataDir), []);
});

test("each table of deleted rows has the columns of the original table in the same order", async (t) => {
  const { app, dataDir, stop } = await startApp(t);
  const columns = new Map<string, string[]>();
  assert.ok(app.store);
  await stop();

  await editDatabase(join(dataDir, "platen.sqlite"), (db) => {
    for (const table of deletedTables)
      for (const name of [table, `deleted_${table}`])
        columns.set(
          name,
          (db.exec(`PRAGMA table_info(${name})`)[0]?.values ?? []).map((row) => String(row[1])),
        );
  });

  for (const table of deletedTables)
    assert.deepEqual(columns.get(`deleted_${table}`), ["deletion_id", ...(columns.get(table) ?? [])]);
});

test("the dashboard shows 100 deletions and a link to earlier ones", async (t) => {
  const { app, fetch } = await startApp(t);
  const names = Array.from({ length: 103 }, (_, i) => `Client ${i}`);
  const clients = await Promise.all(names.map((name) => app.store.clients.add(parseClient({ name }))));
  await Promise.all(clients.map((id) => app.undo.removeClient(id)));

  const newest = await (await fetch("/")).text();
  const path = /<a href="([^"#]*)#deleted">3 earlier/.exec(newest)?.[1] ?? "";
  const earlier = await (await fetch(path)).text();
  const odd = await (await fetch("/?before=-1")).text();

  const undone = (page: string) =>
    [...page.matchAll(/"\/deletions\/(\d+)\/undo"/g)].map(([, id]) => Number(id));
  assert.deepEqual([undone(newest).length, undone(newest)[0]], [100, 103]);
  assert.deepEqual(undone(earlier), [3, 2, 1]);
  assert.deepEqual(undone(odd), undone(newest));
});

test("the button for a final deletion is in a closed section with a warning", async (t) => {
  const { app, fetch } = await startApp(t);
  await app.undo.removeClient(await app.store.clients.add(parseClient({ name: "Alpha" })));

  const page = await (await fetch("/")).text();

  const [fold = ""] = /<details class="delete">.*?<\/details>/s.exec(page) ?? [];
  assert.match(fold, /You cannot undo this/);
  assert.match(fold, /action="\/deletions\/1\/delete"/);
  assert.equal(page.split('action="/deletions/1/delete"').length, 2, "nowhere else");
});
