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
import { openStore } from "../../src/store/store.ts";
import { startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { fill, freeBytes, smallDisk, withoutDisk } from "../support/durability/small-disk.ts";

const hour = 60 * 60_000;
const noon = Date.UTC(2026, 10, 21, 12);

interface Shop extends TestApp {
  /** Advances the clock. */
  readonly advance: (ms: number) => void;
  readonly add: (name: string) => Promise<unknown>;
  /** The file names of the kept states, newest first. */
  readonly names: () => string[];
}

/** A service that keeps backups, with a clock that the test advances. */
async function startShop(
  t: TestContext,
  options: { backups?: number; dataDir?: string } = {},
): Promise<Shop> {
  let now = noon;
  const app = await startApp(t, { ...options, clock: () => now });
  const names = () => app.app.backups.list().map(({ name }) => name);
  const add = (name: string) => app.app.store.clients.add(parseClient({ name }));
  const advance = (ms: number) => {
    now += ms;
  };
  return { ...app, advance, add, names };
}

const keepDue = async ({ app }: TestApp) => {
  app.backups.keepDue();
  await app.backups.waitForWork();
};

test("the first state is kept at once, and then the newest state of each day when the day is over", async (t) => {
  const shop = await startShop(t);

  await keepDue(shop);
  const empty = shop.names();
  await shop.add("First");
  await keepDue(shop);
  const first = shop.names();
  shop.advance(hour);
  await shop.add("Second");
  await keepDue(shop);
  const sameDay = shop.names();
  shop.advance(12 * hour);
  await shop.add("Third");
  await keepDue(shop);

  assert.deepEqual(empty, []);
  assert.deepEqual(first, ["platen-2026-11-21T120000.000Z-1.sqlite"]);
  assert.deepEqual(sameDay, first);
  assert.deepEqual(shop.names(), ["platen-2026-11-21T130000.000Z-2.sqlite"]);
  const [state] = shop.app.backups.list();
  assert.deepEqual(state?.checked?.facts?.records, { clients: 2, drivers: 0, printers: 0 });
});

test("a day without a change has no state, and the oldest states are deleted", async (t) => {
  const shop = await startShop(t, { backups: 2 });

  for (const [i, day] of [1, 3, 1].entries()) {
    await shop.add(`Client ${i}`);
    shop.advance(day * 24 * hour);
    await keepDue(shop);
    await keepDue(shop);
  }

  assert.deepEqual(shop.names(), [
    "platen-2026-11-25T120000.000Z-3.sqlite",
    "platen-2026-11-22T120000.000Z-2.sqlite",
  ]);
  assert.equal(readdirSync(join(shop.dataDir, "backups")).length, 2);
});

test("a kept state is an exact copy of the database, readable only by its owner, and opens as a database", async (t) => {
  const shop = await startShop(t);
  await shop.add("Only");
  const before = readFileSync(join(shop.dataDir, "platen.sqlite"));

  await keepDue(shop);
  await shop.add("Later");

  const path = join(shop.dataDir, "backups", shop.names()[0] ?? "");
  const kept = readFileSync(path);
  const dataDir = await temporaryFolder(t);
  writeFileSync(join(dataDir, "platen.sqlite"), kept);
  const store = await openStore(dataDir, Date.now, () => {});
  assert.ok(kept.equals(before));
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(
    store.clients.list().map(({ name }) => name),
    ["Only"],
  );
  await store.close();
});

test("a manual backup is made once for each state, and stays besides the newest state of its day", async (t) => {
  const shop = await startShop(t);
  await shop.add("Only");
  await keepDue(shop);

  const made = await shop.app.backups.makeNow();
  const second = await shop.app.backups.makeNow();
  shop.advance(hour);
  await shop.add("More");
  const third = await shop.app.backups.makeNow();
  shop.advance(hour);
  await shop.add("Most");
  shop.advance(24 * hour);
  await keepDue(shop);

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
  await keepDue(before);
  await before.add("Today");
  await before.app.backups.makeNow();
  await before.stop();
  const [first = ""] = before.names();
  for (const minute of [1, 2, 3, 4, 5]) {
    const name = first.replace("120000", `120${minute}00`);
    cpSync(join(dataDir, "backups", first), join(dataDir, "backups", name));
  }
  const shop = await startShop(t, { backups: 2, dataDir });
  shop.app.backups.start();
  shop.advance(24 * hour + 6 * 60_000);

  await shop.add("Later");
  await shop.app.backups.makeNow();

  const manual = [6, 5, 4, 3, 2, 1].map(
    (minute) => `platen-2026-11-22T120${minute}00.000Z-${minute === 6 ? 3 : 2}-asked.sqlite`,
  );
  assert.deepEqual(shop.names(), [...manual, "platen-2026-11-21T120000.000Z-1.sqlite"]);
  for (let day = 0; day < 3; day++) {
    shop.advance(24 * hour);
    await shop.add(`Day ${day}`);
    await keepDue(shop);
  }
  assert.deepEqual(shop.names().slice(2), manual.slice(0, 5));
});

test("BACKUPS=0 keeps no states, and refuses a manual backup with that reason", async (t) => {
  const shop = await startShop(t, { backups: 0 });
  await shop.add("Only");

  shop.advance(48 * hour);
  await keepDue(shop);
  const refused = shop.app.backups.makeNow();

  await assert.rejects(refused, /turned off \(BACKUPS=0\)/);
  assert.equal(existsSync(join(shop.dataDir, "backups")), false);
});

test("a start finds and reads kept states, also of earlier versions, and deletes incomplete files that a crash left", async (t) => {
  const dataDir = await temporaryFolder(t);
  const shop = await startShop(t, { dataDir });
  await shop.add("Only");
  await keepDue(shop);
  await shop.stop();
  const folder = join(dataDir, "backups");
  const [name = ""] = shop.names();
  const sound = readFileSync(join(folder, name));
  writeFileSync(join(folder, "platen-2026-11-19T000000.000Z.sqlite"), sound);
  writeFileSync(join(folder, "platen-2026-11-18T000000.000Z.sqlite"), sound.subarray(0, 5000));
  writeFileSync(join(folder, "platen-2026-11-17T000000.000Z.sqlite"), sound);
  writeFileSync(join(folder, "platen-2026-11-17T000000.000Z.sqlite.json"), '{"size":1}');
  writeFileSync(join(folder, "platen-2026-11-20T000000.000Z.sqlite.new"), "half");
  writeFileSync(join(folder, "platen-2026-11-16T000000.000Z.sqlite.json"), "{}");
  writeFileSync(join(folder, "mine.txt"), "somebody’s");
  mkdirSync(join(folder, "platen-2026-11-15T000000.000Z.sqlite"));

  const restarted = await startShop(t, { dataDir });
  restarted.app.backups.start();
  await restarted.app.backups.waitForWork();

  const found = restarted.app.backups
    .list()
    .map(({ name, checked }) => [name.slice(7, 17), checked?.problem]);
  assert.deepEqual(found.slice(0, 2), [
    ["2026-11-21", undefined],
    ["2026-11-19", undefined],
  ]);
  assert.match(String(found[2]), /^2026-11-18,.*a copy of it broke off/);
  assert.deepEqual(found.slice(3), [["2026-11-17", undefined]]);
  assert.deepEqual(
    readdirSync(folder).filter((file) => !/^platen-2026-11-(?:21|19|18|17)T/.test(file)),
    ["mine.txt", "platen-2026-11-15T000000.000Z.sqlite"],
  );
});

test("a damaged state is replaced by a new one", async (t) => {
  const dataDir = await temporaryFolder(t);
  const shop = await startShop(t, { dataDir });
  await shop.add("Only");
  await keepDue(shop);
  const [name = ""] = shop.names();
  await shop.stop();
  truncateSync(join(dataDir, "backups", name), 5000);

  const restarted = await startShop(t, { dataDir });
  restarted.app.backups.start();
  await restarted.app.backups.waitForWork();

  assert.deepEqual(restarted.names(), [name.replace("-1.sqlite", "-2.sqlite"), name]);
  const [state, damaged] = restarted.app.backups.list();
  assert.equal(state?.checked?.facts?.records.clients, 1);
  assert.match(damaged?.checked?.problem ?? "", /a copy of it broke off/);
});

test("on a full disk no backup is made, writes go on, the failure is reported, and a retry follows after an hour", async (t) => {
  const disk = smallDisk(t, 32 << 20);
  if (disk === undefined) return t.skip(withoutDisk);
  const dataDir = join(disk, "data");
  mkdirSync(dataDir);
  const shop = await startShop(t, { dataDir });
  await shop.add("First");
  const freeSpace = fill(disk);

  await keepDue(shop);
  const health = await shop.fetch("/health");
  const failure = shop.app.backups.failure();
  const dashboard = await (await shop.fetch("/")).text();
  freeSpace();
  await shop.add("Second");
  await keepDue(shop);
  const early = shop.names();
  shop.advance(hour);
  await keepDue(shop);

  assert.equal(health.status, 200);
  assert.deepEqual(failure, { at: noon, reason: "there is not enough room on the disk" });
  const warnings = shop.lines.filter((line) => !line.includes("audit log"));
  assert.deepEqual(warnings, [
    "warning: no backup was made: there is not enough room on the disk; all others are as they were, and so is the database",
  ]);
  assert.deepEqual(early, []);
  assert.equal(shop.names().length, 1);
  assert.equal(shop.app.backups.failure(), undefined);
  assert.match(dashboard, /href="\/backups">\s*<span class="figure">1<\/span> <span>failed backup/);
  assert.doesNotMatch(await (await shop.fetch("/")).text(), /failed backup/);
});

test("a state is refused when less than 8 MB, or four times its size, would stay free", async (t) => {
  const disk = smallDisk(t, 32 << 20);
  if (disk === undefined) return t.skip(withoutDisk);
  const shop = await startShop(t, { dataDir: join(disk, "data") });
  await shop.add("Only");
  const { backups, current } = shop.app.store;
  const filler = join(disk, "filler");

  writeFileSync(filler, Buffer.alloc(freeBytes(disk) - (8 << 20), 1));
  await assert.rejects(backups.write(current()), { code: "ENOSPC" });
  rmSync(filler);
  const large = { bytes: new Uint8Array(freeBytes(disk) / 5 + 4096), savedAt: noon };
  await assert.rejects(backups.write(large), { code: "ENOSPC" });
  const refused = shop.names();
  await backups.write(current());

  assert.deepEqual(refused, []);
  assert.equal(shop.names().length, 1);
});

test("a state that cannot be read back is deleted", async (t) => {
  const shop = await startShop(t);
  await shop.add("Only");
  const store = shop.app.store;
  const bytes = new Uint8Array(store.current().bytes).fill(7, 4200, 4201);

  const writing = store.backups.write({ bytes, savedAt: noon });

  await assert.rejects(writing, /it cannot be read back: its SHA-256 is not the one/);
  assert.deepEqual(shop.names(), []);
  assert.deepEqual(readdirSync(join(shop.dataDir, "backups")), []);
});

test("numbers order the states, so a state made with the clock years ahead is not the newest for ever", async (t) => {
  const shop = await startShop(t);
  const years = 5 * 365 * 24 * hour;

  await shop.add("Before");
  await keepDue(shop);
  shop.advance(years);
  await shop.add("Meanwhile");
  await keepDue(shop);
  shop.advance(-years + 24 * hour);
  await keepDue(shop);
  await shop.add("After");
  shop.advance(24 * hour);
  await keepDue(shop);

  assert.deepEqual(shop.names(), [
    "platen-2026-11-22T120000.000Z-3.sqlite",
    "platen-2031-11-20T120000.000Z-2.sqlite",
    "platen-2026-11-21T120000.000Z-1.sqlite",
  ]);
});
