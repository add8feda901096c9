import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseClient } from "../../src/domain/printers/client.ts";
import { startClosed } from "../support/access/people.ts";
import { navigation, startApp, temporaryFolder } from "../support/app.ts";
import { openAt } from "../support/backup/backup.ts";
import { remove } from "../support/backup/deletions.ts";
import { fill, freeBytes, smallDisk, withoutDisk } from "../support/durability/small-disk.ts";

const hour = 60 * 60_000;
const noon = Date.UTC(2026, 10, 21, 12);

/** A service that keeps backups, with a clock that the test advances. */
async function startShop(t: TestContext, options: { backups?: number; dataDir?: string } = {}) {
  let now = noon;
  const service = await startApp(t, { ...options, clock: () => now });
  const { backups, store } = service.app;
  const keepDue = () => {
    backups.keepDue();
    return backups.waitForWork();
  };
  return {
    ...service,
    backups,
    store,
    folder: join(service.dataDir, "backups"),
    advance: (ms: number) => {
      now += ms;
    },
    add: (name: string) => store.clients.add(parseClient({ name })),
    addAndKeep: async (name: string) => {
      await store.clients.add(parseClient({ name }));
      await keepDue();
    },
    /** The file names of the kept states, newest first. */
    names: () => backups.list().map(({ name }) => name),
    keepDue,
  };
}

/** A data folder with one kept state. @returns its folder and its name */
async function keptState(t: TestContext) {
  const shop = await startShop(t);
  await shop.addAndKeep("Only");
  await shop.stop();
  const [name = ""] = shop.names();
  return { ...shop, name, path: join(shop.folder, name) };
}

/** Starts the service on that folder again, until it has read all kept states. */
async function restart(t: TestContext, dataDir: string) {
  const shop = await startShop(t, { dataDir });
  shop.backups.start();
  await shop.backups.waitForWork();
  return shop;
}

test("the first state is kept at once, and then the newest state of each day when the day is over", async (t) => {
  const shop = await startShop(t);

  await shop.keepDue();
  const empty = shop.names();
  await shop.addAndKeep("First");
  const first = shop.names();
  shop.advance(hour);
  await shop.addAndKeep("Second");
  const sameDay = shop.names();
  shop.advance(12 * hour);
  await shop.addAndKeep("Third");

  assert.deepEqual(empty, []);
  assert.deepEqual(first, ["platen-2026-11-21T120000.000Z-1.sqlite"]);
  assert.deepEqual(sameDay, first);
  assert.deepEqual(shop.names(), ["platen-2026-11-21T130000.000Z-2.sqlite"]);
  const [state] = shop.backups.list();
  assert.deepEqual(state?.checked?.facts?.records, { clients: 2, drivers: 0, printers: 0 });
});

test("a day without a change has no state, and the oldest states are deleted", async (t) => {
  const shop = await startShop(t, { backups: 2 });

  for (const [i, day] of [1, 3, 1].entries()) {
    await shop.add(`Client ${i}`);
    shop.advance(day * 24 * hour);
    await shop.keepDue();
    await shop.keepDue();
  }

  assert.deepEqual(shop.names(), [
    "platen-2026-11-25T120000.000Z-3.sqlite",
    "platen-2026-11-22T120000.000Z-2.sqlite",
  ]);
  assert.equal(readdirSync(shop.folder).length, 2);
});

test("a kept state is an exact copy of the database, readable only by its owner, and opens as a database", async (t) => {
  const shop = await startShop(t);
  await shop.add("Only");
  const before = readFileSync(join(shop.dataDir, "platen.sqlite"));

  await shop.keepDue();
  await shop.add("Later");

  const path = join(shop.folder, shop.names()[0] ?? "");
  const dataDir = await temporaryFolder(t);
  cpSync(path, join(dataDir, "platen.sqlite"));
  const store = await openAt(dataDir);
  const names = store.clients.list().map(({ name }) => name);
  await store.close();
  assert.ok(readFileSync(path).equals(before));
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(names, ["Only"]);
});

test("a manual backup is made once for each state, and stays besides the newest state of its day", async (t) => {
  const shop = await startShop(t);
  await shop.addAndKeep("Only");

  const made = await shop.backups.makeNow();
  const second = await shop.backups.makeNow();
  shop.advance(hour);
  await shop.add("More");
  const third = await shop.backups.makeNow();
  shop.advance(hour);
  await shop.add("Most");
  shop.advance(24 * hour);
  await shop.keepDue();

  assert.deepEqual([made, second, third], [true, false, true]);
  assert.deepEqual(shop.names(), [
    "platen-2026-11-21T140000.000Z-4.sqlite",
    "platen-2026-11-21T130000.000Z-3-asked.sqlite",
    "platen-2026-11-21T120000.000Z-2-asked.sqlite",
  ]);
});

test("the last five manual backups stay, and the states of earlier days as well", async (t) => {
  const dataDir = await temporaryFolder(t);
  const before = await startShop(t, { backups: 2, dataDir });
  await before.add("Yesterday");
  before.advance(24 * hour);
  await before.keepDue();
  await before.add("Today");
  await before.backups.makeNow();
  await before.stop();
  const [first = ""] = before.names();
  for (const minute of [1, 2, 3, 4, 5]) {
    const name = first.replace("120000", `120${minute}00`);
    cpSync(join(dataDir, "backups", first), join(dataDir, "backups", name));
  }
  const shop = await startShop(t, { backups: 2, dataDir });
  shop.backups.start();
  shop.advance(24 * hour + 6 * 60_000);

  await shop.add("Later");
  await shop.backups.makeNow();

  const manual = [6, 5, 4, 3, 2, 1].map(
    (minute) => `platen-2026-11-22T120${minute}00.000Z-${minute === 6 ? 3 : 2}-asked.sqlite`,
  );
  assert.deepEqual(shop.names(), [...manual, "platen-2026-11-21T120000.000Z-1.sqlite"]);
  for (let day = 0; day < 3; day++) {
    shop.advance(24 * hour);
    await shop.addAndKeep(`Day ${day}`);
  }
  assert.deepEqual(shop.names().slice(2), manual.slice(0, 5));
});

test("BACKUPS=0 keeps no states, refuses a manual backup with that reason, and the page has no button", async (t) => {
  const shop = await startShop(t, { backups: 0 });
  await shop.add("Only");

  shop.advance(48 * hour);
  await shop.keepDue();
  const page = await (await shop.fetch("/backups")).text();
  const refused = await shop.post("/backups", {}, navigation);

  await assert.rejects(shop.backups.makeNow(), /turned off \(BACKUPS=0\)/);
  assert.equal(existsSync(shop.folder), false);
  assert.match(page, /Daily backups are turned off \(BACKUPS=0\)/);
  assert.doesNotMatch(page, /Back up now/);
  assert.equal(refused.status, 409);
  assert.match(await refused.text(), /turned off \(BACKUPS=0\)/);
});

test("a start finds and reads kept states, also of earlier versions, and deletes incomplete files that a crash left", async (t) => {
  const { dataDir, folder, path } = await keptState(t);
  const sound = readFileSync(path);
  const files: Readonly<Record<string, Uint8Array | string>> = {
    "19T000000.000Z.sqlite": sound,
    "18T000000.000Z.sqlite": sound.subarray(0, 5000),
    "17T000000.000Z.sqlite": sound,
    "17T000000.000Z.sqlite.json": '{"size":1}',
    "20T000000.000Z.sqlite.new": "half",
    "16T000000.000Z.sqlite.json": "{}",
  };
  for (const [name, bytes] of Object.entries(files))
    writeFileSync(join(folder, `platen-2026-11-${name}`), bytes);
  writeFileSync(join(folder, "mine.txt"), "somebody’s");
  mkdirSync(join(folder, "platen-2026-11-15T000000.000Z.sqlite"));

  const { backups } = await restart(t, dataDir);

  const found = backups.list().map(({ name, checked }) => [name.slice(7, 17), checked?.problem]);
  assert.match(String(found[2]), /^2026-11-18,.*a copy of it broke off/);
  assert.deepEqual(
    found.filter((_, i) => i !== 2),
    [21, 19, 17].map((day) => [`2026-11-${day}`, undefined]),
  );
  assert.deepEqual(
    readdirSync(folder).filter((file) => !/^platen-2026-11-(?:21|19|18|17)T/.test(file)),
    ["mine.txt", "platen-2026-11-15T000000.000Z.sqlite"],
  );
});

test("a damaged state is replaced by a new one", async (t) => {
  const { dataDir, name, path } = await keptState(t);
  truncateSync(path, 5000);

  const restarted = await restart(t, dataDir);

  assert.deepEqual(restarted.names(), [name.replace("-1.sqlite", "-2.sqlite"), name]);
  const [state, damaged] = restarted.backups.list();
  assert.equal(state?.checked?.facts?.records.clients, 1);
  assert.match(damaged?.checked?.problem ?? "", /a copy of it broke off/);
});

test("on a full disk no backup is made, writes go on, the failure is reported, and a retry follows after an hour", async (t) => {
  const disk = smallDisk(t, 32 << 20);
  if (disk === undefined) return t.skip(withoutDisk);
  const shop = await startShop(t, { dataDir: join(disk, "data") });
  await shop.add("First");
  const freeSpace = fill(disk);

  await shop.keepDue();
  const health = await shop.fetch("/health");
  const failure = shop.backups.failure();
  const dashboard = await (await shop.fetch("/")).text();
  freeSpace();
  await shop.addAndKeep("Second");
  const early = shop.names();
  shop.advance(hour);
  await shop.keepDue();

  assert.equal(health.status, 200);
  assert.deepEqual(failure, { at: noon, reason: "there is not enough room on the disk" });
  const warnings = shop.lines.filter((line) => !line.includes("audit log"));
  assert.deepEqual(warnings, [
    "warning: no backup was made: there is not enough room on the disk; all others are as they were, and so is the database",
  ]);
  assert.deepEqual([early.length, shop.names().length], [0, 1]);
  assert.equal(shop.backups.failure(), undefined);
  assert.match(dashboard, /href="\/backups">\s*<span class="figure">1<\/span> <span>failed backup/);
  assert.doesNotMatch(await (await shop.fetch("/")).text(), /failed backup/);
});

test("a state is refused when less than 8 MB, or four times its size, would stay free", async (t) => {
  const disk = smallDisk(t, 32 << 20);
  if (disk === undefined) return t.skip(withoutDisk);
  const shop = await startShop(t, { dataDir: join(disk, "data") });
  await shop.add("Only");
  const { backups, current } = shop.store;
  const filler = join(disk, "filler");

  writeFileSync(filler, Buffer.alloc(freeBytes(disk) - (8 << 20), 1));
  await assert.rejects(backups.write(current()), { code: "ENOSPC" });
  rmSync(filler);
  const large = { bytes: new Uint8Array(freeBytes(disk) / 5 + 4096), savedAt: noon };
  await assert.rejects(backups.write(large), { code: "ENOSPC" });
  const refused = shop.names();
  await backups.write(current());

  assert.deepEqual([refused.length, shop.names().length], [0, 1]);
});

test("a state that cannot be read back is deleted", async (t) => {
  const shop = await startShop(t);
  await shop.add("Only");
  const store = shop.store;
  const bytes = new Uint8Array(store.current().bytes).fill(7, 4200, 4201);

  const writing = store.backups.write({ bytes, savedAt: noon });

  await assert.rejects(writing, /it cannot be read back: its SHA-256 is not the one/);
  assert.deepEqual(shop.names(), []);
  assert.deepEqual(readdirSync(shop.folder), []);
});

test("numbers order the states, so a state made with the clock years ahead is not the newest for ever", async (t) => {
  const shop = await startShop(t);
  const years = 5 * 365 * 24 * hour;

  await shop.addAndKeep("Before");
  shop.advance(years);
  await shop.addAndKeep("Meanwhile");
  shop.advance(-years + 24 * hour);
  await shop.keepDue();
  await shop.add("After");
  shop.advance(24 * hour);
  await shop.keepDue();

  assert.deepEqual(shop.names(), [
    "platen-2026-11-22T120000.000Z-3.sqlite",
    "platen-2031-11-20T120000.000Z-2.sqlite",
    "platen-2026-11-21T120000.000Z-1.sqlite",
  ]);
});

test("the backups page lists backups with their contents and makes a new one", async (t) => {
  const { app, fetch, post, lines } = await startApp(t);
  await post("/clients", { name: "Contoso" });

  const before = await (await fetch("/backups")).text();
  const made = await post("/backups", {}, navigation);
  const after = await (await fetch(made.headers.get("location") ?? "")).text();
  const again = await post("/backups", {}, navigation);
  const fragment = await (await post("/backups", {}, { "hx-request": "true" })).text();

  assert.match(before, /Platen makes the first backup one minute after the first change/);
  assert.match(before, /The latest backup does not contain the latest changes/);
  assert.equal(made.headers.get("location"), "/backups?done=new");
  assert.match(after, /Backup created and verified/);
  assert.match(after, /1 client, 0 drivers, 0 printers/);
  assert.match(after, /The latest backup is up to date/);
  assert.match(after, /Next backup: <time datetime="2026-11-22T00:00:00\.000Z">/);
  assert.match(after, /href="\/help\/backup#restore"/);
  assert.equal(again.headers.get("location"), "/backups?done=same");
  assert.match(fragment, /Nothing changed since/);
  assert.equal(app.backups.list().length, 1);
  assert.deepEqual(lines, []);
});

test("a backup is downloaded unchanged, also in ranges, and only by the name of an existing backup", async (t) => {
  const { app, fetch, post, dataDir } = await startApp(t);
  await post("/clients", { name: "Contoso" });
  await app.backups.makeNow();
  const [{ name } = { name: "" }] = app.backups.list();

  const whole = await fetch(`/backups/${name}`);
  const bytes = Buffer.from(await whole.arrayBuffer());
  const some = await fetch(`/backups/${name}`, { headers: { range: "bytes=0-15" } });
  const others = ["platen.sqlite", `${name}.json`, "..%2Fsecret", "..%2Fplaten.sqlite", "files", "%00"];
  const refused = await Promise.all(others.map((other) => fetch(`/backups/${other}`)));

  assert.ok(bytes.equals(readFileSync(join(dataDir, "platen.sqlite"))));
  assert.match(
    whole.headers.get("content-disposition") ?? "",
    /filename="platen-2026-11-21T140500\.000Z-1-asked\.sqlite"/,
  );
  assert.deepEqual([some.status, await some.text()], [206, "SQLite format 3\0"]);
  assert.ok(refused.every(({ status }) => status === 404));
});

test("the page shows the size of files that only backups need, and a button deletes them", async (t) => {
  const service = await startApp(t);
  const { app, fetch, post } = service;
  const id = await service.addDriver();
  await app.backups.makeNow();
  await remove(service, `/drivers/${id}`);
  await remove(service, "/deletions/1");

  const before = await (await fetch("/backups")).text();
  const answer = await post("/backups/files/delete", {}, navigation);
  const after = await (await fetch("/backups")).text();

  assert.match(before, /Older backups need 1 file of deleted records \([\d.]+ (?:bytes|KB)\)\./);
  assert.equal(answer.headers.get("location"), "/backups?done=files");
  assert.doesNotMatch(after, /Files of deleted records/);
});

test("after sign-in is switched off, backups with password hashes cannot be downloaded", async (t) => {
  const dataDir = await temporaryFolder(t);
  const closed = await startClosed(t, { dataDir });
  await closed.app.backups.makeNow();
  const [{ name } = { name: "" }] = closed.app.backups.list();
  await closed.stop();
  const { fetch } = await startApp(t, { dataDir });

  const answer = await fetch(`/backups/${name}`);

  assert.equal(answer.status, 403);
  assert.match(await answer.text(), /contain password hashes/);
});
