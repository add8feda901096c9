import assert from "node:assert/strict";
import {
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
    addAndKeep: (name: string) => store.clients.add(parseClient({ name })).then(keepDue),
    /** The file names of the kept states, newest first. */
    names: () => backups.list().map(({ name }) => name),
    keepDue,
  };
}

test("the first state is kept at once as an exact copy for its owner only, and then the newest of each day when the day is over", async (t) => {
  const shop = await startShop(t);

  await shop.keepDue();
  const empty = shop.names();
  await shop.add("First");
  const database = readFileSync(join(shop.dataDir, "platen.sqlite"));
  await shop.keepDue();
  const first = shop.names();
  const path = join(shop.folder, first[0] ?? "");
  const kept = { isSame: readFileSync(path).equals(database), mode: statSync(path).mode & 0o777 };
  shop.advance(hour);
  await shop.addAndKeep("Second");
  const sameDay = shop.names();
  shop.advance(12 * hour);
  await shop.addAndKeep("Third");

  assert.deepEqual(empty, []);
  assert.deepEqual(first, ["platen-2026-11-21T120000.000Z-1.sqlite"]);
  assert.deepEqual(kept, { isSame: true, mode: 0o600 });
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

test("the last five manual backups stay besides the daily states, and those of earlier days as well", async (t) => {
  const shop = await startShop(t, { backups: 2 });
  await shop.add("Yesterday");
  shop.advance(24 * hour);
  await shop.keepDue();

  for (let i = 1; i <= 7; i++) {
    shop.advance(60_000);
    await shop.add(`Minute ${i}`);
    await shop.backups.makeNow();
  }

  const manual = [7, 6, 5, 4, 3, 2].map((i) => `platen-2026-11-22T120${i}00.000Z-${i + 1}-asked.sqlite`);
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

test("a start finds and reads kept states, also of earlier versions, replaces a damaged one, and deletes incomplete files", async (t) => {
  const { dataDir, folder, ...before } = await startShop(t);
  await before.addAndKeep("Only");
  await before.stop();
  const [name = ""] = before.names();
  const sound = readFileSync(join(folder, name));
  truncateSync(join(folder, name), 5000);
  const files: Readonly<Record<string, Uint8Array | string>> = {
    "19T000000.000Z.sqlite": sound,
    "18T000000.000Z.sqlite": sound.subarray(0, 5000),
    "17T000000.000Z.sqlite": sound,
    "17T000000.000Z.sqlite.json": '{"size":1}',
    "20T000000.000Z.sqlite.new": "half",
    "16T000000.000Z.sqlite.json": "{}",
  };
  for (const [end, bytes] of Object.entries(files))
    writeFileSync(join(folder, `platen-2026-11-${end}`), bytes);
  writeFileSync(join(folder, "mine.txt"), "somebody’s");
  mkdirSync(join(folder, "platen-2026-11-15T000000.000Z.sqlite"));

  const { backups } = await startShop(t, { dataDir });
  backups.start();
  await backups.waitForWork();

  const kept = name.replace("-1.sqlite", "-2.sqlite");
  const old = [19, 18, 17].map((day) => `platen-2026-11-${day}T000000.000Z.sqlite`);
  const states = backups.list();
  const names = states.map((state) => state.name);
  assert.deepEqual(names, [kept, name, ...old]);
  assert.deepEqual(
    states.map(({ checked }) => checked?.problem?.includes("a copy of it broke off")),
    [undefined, true, undefined, true, undefined],
  );
  const clients = states.map(({ checked }) => checked?.facts?.records.clients);
  assert.deepEqual(clients, [1, undefined, 1, undefined, 1]);
  const others = readdirSync(folder).filter((file) => states.every((state) => state.name !== file));
  assert.deepEqual(others, ["mine.txt", "platen-2026-11-15T000000.000Z.sqlite"]);
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

test("the page lists backups with their contents, makes a new one, and gives back only existing ones unchanged, also in ranges", async (t) => {
  const { app, fetch, post, lines, dataDir } = await startApp(t);
  await post("/clients", { name: "Contoso" });
  const database = readFileSync(join(dataDir, "platen.sqlite"));

  const before = await (await fetch("/backups")).text();
  const made = await post("/backups", {}, navigation);
  const after = await (await fetch(made.headers.get("location") ?? "")).text();
  const again = await post("/backups", {}, navigation);
  const fragment = await (await post("/backups", {}, { "hx-request": "true" })).text();
  const [name, ...others] = app.backups.list().map((state) => state.name);
  const whole = await fetch(`/backups/${name}`);
  const bytes = Buffer.from(await whole.arrayBuffer());
  const some = await fetch(`/backups/${name}`, { headers: { range: "bytes=0-15" } });
  const wrong = ["platen.sqlite", `${name}.json`, "..%2Fsecret", "..%2Fplaten.sqlite", "files", "%00"];
  const refused = await Promise.all(wrong.map((other) => fetch(`/backups/${other}`)));

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
  assert.deepEqual([others, lines], [[], []]);
  assert.ok(bytes.equals(database));
  const disposition = whole.headers.get("content-disposition") ?? "";
  assert.match(disposition, /filename="platen-2026-11-21T140500\.000Z-1-asked\.sqlite"/);
  assert.deepEqual([some.status, await some.text()], [206, "SQLite format 3\0"]);
  assert.ok(refused.every(({ status }) => status === 404));
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
