import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { parseClient } from "../../src/domain/printers/client.ts";
import { Undo } from "../../src/services/backup/undo.ts";
import { deletedTables } from "../../src/store/deletions.ts";
import type { Store } from "../../src/store/store.ts";
import { navigation, startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { filesIn, lastId, recordsOf, remove, undo } from "../support/backup/deletions.ts";
import { readDatabase } from "../support/database.ts";
import { statusesOf } from "../support/deploy/answers.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { startFilled } from "../support/filled.ts";
import { makePng } from "../support/printers/png.ts";
import { until } from "../support/until.ts";

const addIcon = ({ upload }: TestApp, printer: number) =>
  upload(`/printers/${printer}/icon`, makePng(), "icon.png");

const deleteDriver = async (app: TestApp) => remove(app, `/drivers/${await app.addDriver()}`);
/** A service with a driver that is deleted, and can be restored. */
const startWithoutDriver = (t: TestContext) => startFilled(t, deleteDriver);
/** A service with a client, and two printers with the same icon. */
const startWithIcons = (t: TestContext) => startFilled(t, fillIcons);

async function fillIcons(app: TestApp): Promise<void> {
  await app.post("/clients", { name: "Ölmühle", notes: "Rear entrance\nRing twice" });
  for (const name of ["Office", "Hall"])
    await addIcon(app, await app.addPrinter({ name, client_id: "1", driver_id: "" }));
}

test("an undo restores a printer with its icon and its downloads, also one that was not saved yet", async (t) => {
  const service = await startWithIcons(t);
  const { post, fetch, app } = service;
  const id = await service.addPrinter({ client_id: "1", comment: "By the door" });
  await addIcon(service, id);
  const before = recordsOf(service);
  await (await fetch(`/printers/${id}/packages/rmm`)).arrayBuffer();
  await until(() => app.deployments.lastDeployed(id) !== undefined);

  const deleted = await post(`/printers/${id}/delete`, {}, navigation);
  const [gone, meanwhile] = [await fetch(`/printers/${id}`), app.deployments.lastDeployed(id)];
  const list = await (await fetch(deleted.headers.get("location") ?? "")).text();
  const { path, page } = await undo(service);
  const after = recordsOf(service);
  const [download] =
    after.printers.find(({ printer }) => printer.printer.id === id)?.downloads.splice(0) ?? [];

  assert.equal(deleted.headers.get("location"), "/printers?undo=1");
  assert.deepEqual([gone.status, meanwhile], [404, undefined]);
  assert.match(list, /Deleted: <bdi>Office<\/bdi>.*action="\/deletions\/1\/undo"/s);
  assert.equal(path, `/printers/${id}?restored=1`);
  assert.match(page, /Restored: /);
  assert.deepEqual(after, before);
  assert.equal(download?.count, 1);
  assert.match(app.deployments.lastDeployed(id)?.revision ?? "", /^\w{12}$/);
  assert.equal(app.deployments.lastDeployed(id)?.revision, download?.revision);
  assert.equal((await fetch(`/printers/${id}/icon`)).status, 200);
});

test("an undo restores a client, a driver with its archive, and an icon", async (t) => {
  const service = await startWithIcons(t);
  const { post, fetch } = service;
  await post("/clients", { name: "Empty", notes: "Rear entrance\nRing twice" });
  const driver = await service.addDriver();
  await post(`/drivers/${driver}`, { name: "Ours", trust_publisher: "on" });
  const before = recordsOf(service);
  const archive = await (await fetch(`/drivers/${driver}/archive`)).arrayBuffer();

  const paths: string[] = [];
  for (const path of ["/clients/2", `/drivers/${driver}`, "/printers/1/icon"]) {
    await remove(service, path);
    assert.notDeepEqual(recordsOf(service), before);
    paths.push((await undo(service)).path);
  }

  assert.deepEqual(paths, [
    "/clients/2?restored=2",
    `/drivers/${driver}?restored=3`,
    "/printers/1?restored=4",
  ]);
  assert.deepEqual(recordsOf(service), before);
  assert.deepEqual(await (await fetch(`/drivers/${driver}/archive`)).arrayBuffer(), archive);
});

test("many printers are deleted and restored as one deletion", async (t) => {
  const service = await startWithIcons(t);
  const { app } = service;
  for (let i = 0; i < 6; i++) await service.addPrinter({ name: `P${i}`, driver_id: "" });
  const ids = app.store.printers.list().map(({ printer }) => printer.id);
  const before = recordsOf(service);

  const deletion = await app.undo.removePrinters(ids);
  const [kept] = app.undo.list();
  const { path } = await undo(service);

  assert.equal(deletion, 1);
  assert.equal(kept?.name, "8 printers");
  assert.equal(path, "/printers?restored=1");
  assert.deepEqual(recordsOf(service), before);
  assert.equal(app.store.deletions.list().length, 0);
});

test("a driver whose archive is missing or damaged is restored with a warning that says what to do", async (t) => {
  const service = await startWithoutDriver(t);
  const path = join(service.dataDir, filesIn(service.dataDir)[0] ?? "");
  const whole = readFileSync(path);
  const wrong: readonly (readonly [() => void, RegExp])[] = [
    [() => rmSync(path), /Its ZIP is missing on the server\. Upload driver\.zip again\./],
    [() => truncateSync(path, 100), /Its ZIP is damaged on the server\. Upload driver\.zip again/],
    [
      () => writeFileSync(path, Buffer.alloc(statSync(path).size)),
      /Its ZIP is damaged on the server\. Upload/,
    ],
  ];

  for (const [spoil, warning] of wrong) {
    spoil();
    const text = await (await service.post(`/deletions/${lastId(service)}/undo`, {})).text();
    assert.equal(/class="[^"]*\b(good|warn|bad)\b/.exec(text)?.[1], "warn");
    assert.match(text, warning);
    writeFileSync(path, whole);
    await remove(service, "/drivers/1");
  }
});

test("deletions whose time is over free their files and space, and shared files stay", async (t) => {
  const service = await startWithIcons(t);
  const { dataDir } = service;
  const { store, undo } = service.app;
  const size = () => statSync(join(dataDir, "platen.sqlite")).size;
  const empty = size();
  const large = Array.from({ length: 80 }, (_, i) => parseClient({ name: `C${i}`, notes: "n".repeat(9000) }));
  const clients = await Promise.all(large.map((client) => store.clients.add(client)));
  await Promise.all(clients.map((id) => undo.removeClient(id)));
  await remove(service, `/drivers/${await service.addDriver()}`);

  await remove(service, "/printers/1");
  const kept = { files: filesIn(dataDir).length, size: size() };
  await service.stop();
  const later = await startApp(t, { dataDir, undoMs: 300, clock: Date.now });
  await until(() => later.app.undo.list().length === 0 && filesIn(dataDir).length === 1);

  assert.equal(kept.files, 2);
  assert.match(filesIn(dataDir).join(), /^icons\//);
  assert.ok(size() < empty + (kept.size - empty) / 3, `${empty}, ${kept.size}, ${size()}`);
  assert.deepEqual([...service.lines, ...later.lines], []);
});

for (const isSoon of [true, false])
  test(`a file that cannot be deleted is deleted ${isSoon ? "a minute later, even when no other deletion is due" : "by a later start"}`, async (t) => {
    const { app, lines, dataDir, stop } = await startWithoutDriver(t);
    const path = join(dataDir, filesIn(dataDir)[0] ?? "");
    rmSync(path);
    // A folder in the place of a file cannot be deleted as a file.
    mkdirSync(path);
    const unblock = () => {
      rmdirSync(path);
      writeFileSync(path, "as it was");
    };
    t.mock.timers.enable({ apis: ["setTimeout"] });

    await app.undo.makeFinal(1);
    const once = [...lines];
    if (isSoon) unblock();
    t.mock.timers.tick(60_000);
    await app.undo.close();
    t.mock.timers.reset();
    const isLeft = existsSync(path);
    await stop();
    if (!isSoon) unblock();
    const second = await startApp(t, { dataDir });

    assert.match(once.join(), /^warning: files of deleted records are still there: [^,]*$/);
    assert.deepEqual([isLeft, lines], [!isSoon, isSoon ? once : [...once, ...once]]);
    assert.deepEqual([filesIn(dataDir), second.app.store.deletions.listFinal(), second.lines], [[], [], []]);
  });

test("a start keeps deletions with time left and their files, and makes the others final", async (t) => {
  const dataDir = await temporaryFolder(t);
  const minute = 60_000;
  let now = 1_800_000_000_000;
  const clock = () => now;
  const first = await startApp(t, { dataDir, clock });
  for (const [version, minutes] of [["1.0", 9] as const, ["2.0", 2] as const]) {
    await remove(first, `/drivers/${await first.addDriver(driverZip({ version }))}`);
    now += minutes * minute;
  }
  await first.stop();

  const second = await startApp(t, { dataDir, clock });
  const kept = second.app.undo.list().map(({ id, leftMs }) => [id, Math.round(leftMs / minute)]);
  const files = filesIn(dataDir);
  await undo(second);

  assert.deepEqual(kept, [[2, 8]]);
  assert.equal(files.length, 1);
  assert.equal((await second.fetch("/drivers/2/archive")).status, 200);
  assert.deepEqual(second.lines, []);
});

test("changes shortly after one another become final in one write", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 0;
  let kept = [0, 50].map((deleted_at, i) => ({ id: i + 1, deleted_at }));
  const writes: (readonly number[])[] = [];
  const makeFinal = async (ids: readonly number[]) => {
    writes.push(ids);
    kept = kept.filter(({ id }) => !ids.includes(id));
    return { count: ids.length, finalDeletions: [] };
  };
  const store = { deletions: { list: () => kept, makeFinal } } as unknown as Store;
  const services = { store, clock: () => now, undoMs: 1000 } as ConstructorParameters<typeof Undo>[0];

  await new Undo(services).keep(Promise.resolve());
  for (const step of [1000, 100]) {
    now += step;
    t.mock.timers.tick(step);
    await setImmediate();
  }

  assert.deepEqual(writes, [[1, 2]]);
});

test("a user can make a deletion final, with a button in a closed section with a warning, and cannot undo it then", async (t) => {
  const service = await startWithoutDriver(t);
  const { post, fetch, dataDir } = service;

  const dashboard = await (await fetch("/")).text();
  const answer = await post("/deletions/1/delete", {}, navigation);
  const page = await (await fetch(answer.headers.get("location") ?? "")).text();
  const [later, unknown] = [await undo(service, 1), await undo(service, 99)];
  const again = await post("/deletions/1/delete", {});

  const [fold = ""] = /<details class="delete">.*?<\/details>/s.exec(dashboard) ?? [];
  assert.match(fold, /You cannot undo this/);
  assert.match(fold, /action="\/deletions\/1\/delete"/);
  assert.equal(dashboard.split('action="/deletions/1/delete"').length, 2, "nowhere else");
  assert.match(page, /Permanently deleted: <bdi>Papyrus 100 PCL6 1\.2<\/bdi>\./);
  assert.doesNotMatch(page, /Changed or deleted in the last ten minutes/);
  assert.deepEqual(statusesOf([later, unknown, again]), [404, 404, 404]);
  for (const refused of [later, unknown])
    assert.match(
      refused.page,
      /You cannot undo this any more: it is undone already, or ten minutes are over\./,
    );
  assert.deepEqual(filesIn(dataDir), []);
});

test("each of many small deletions can be undone, and the dashboard shows 100 and links to earlier ones", async (t) => {
  const { app, fetch } = await startApp(t);
  const names = Array.from({ length: 203 }, (_, i) => `Client ${i}`);
  const clients = await Promise.all(names.map((name) => app.store.clients.add(parseClient({ name }))));
  const promised = await Promise.all(clients.map((id) => app.undo.removeClient(id)));

  const newest = await (await fetch("/")).text();
  const earlierThan = async (page: string, count: number) => {
    const path = new RegExp(`<a href="([^"#]*)#deleted">${count} earlier`).exec(page)?.[1] ?? "";
    return (await fetch(path)).text();
  };
  const earlier = await earlierThan(newest, 103);
  const earliest = await earlierThan(earlier, 3);
  const odd = await (await fetch("/?before=-1")).text();
  const kept = app.undo.list().map(({ id }) => id);
  const restored = await app.undo.restore(promised[0] ?? 0);

  const undone = (page: string) =>
    [...page.matchAll(/"\/deletions\/(\d+)\/undo"/g)].map(([, id]) => Number(id));
  assert.deepEqual([undone(newest).length, undone(newest)[0]], [100, 203]);
  assert.deepEqual([undone(earlier).length, undone(earlier)[0]], [100, 103]);
  assert.deepEqual(undone(earliest), [3, 2, 1]);
  assert.deepEqual(undone(odd), undone(newest));
  assert.deepEqual(new Set(kept), new Set(promised));
  assert.equal(restored.name, "Client 0");
});

test("each table of deleted rows has the columns of the original table in the same order", async (t) => {
  const { dataDir, stop } = await startApp(t);
  await stop();

  await readDatabase(join(dataDir, "platen.sqlite"), (db) => {
    const columnsOf = (table: string) =>
      (db.exec(`PRAGMA table_info(${table})`)[0]?.values ?? []).map((row) => String(row[1]));
    for (const table of deletedTables)
      assert.deepEqual(columnsOf(`deleted_${table}`), ["deletion_id", ...columnsOf(table)]);
  });
});
