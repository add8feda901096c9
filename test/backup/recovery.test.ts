import assert from "node:assert/strict";
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openStore } from "../../src/store/store.ts";
import { startApp, temporaryFolder } from "../support/app.ts";
import { editDatabase } from "../support/database.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { madeOnce } from "../support/filled.ts";
import { serve } from "../support/service.ts";

const day = 24 * 60 * 60_000;
const monday = Date.UTC(2026, 10, 16, 12);

interface Damaged {
  readonly dataDir: string;
  readonly path: string;
  readonly damaged: Buffer;
}

/** A folder with a state of Monday (one client), one of Tuesday (two), and a damaged database of Wednesday. */
async function damagedFolder(t: TestContext): Promise<Damaged> {
  const { folder } = await madeOnce(t, makeDamaged);
  const dataDir = join(folder, "data");
  const path = join(dataDir, "platen.sqlite");
  return { dataDir, path, damaged: readFileSync(path) };
}

async function makeDamaged(t: TestContext, folder: string): Promise<void> {
  const dataDir = join(folder, "data");
  let now = monday;
  const service = await startApp(t, { dataDir, clock: () => now });
  for (const name of ["Monday", "Tuesday"]) {
    await service.app.store.clients.add({ name, notes: "", subnets: [] });
    now += day;
    service.app.backups.look();
    await service.app.backups.settled();
  }
  await service.addDriver();
  await service.stop();
  const path = join(dataDir, "platen.sqlite");
  writeFileSync(path, readFileSync(path).fill(7, 4200, 9000));
}

const opening = (dataDir: string, recover = false, lines: string[] = []) =>
  openStore(
    dataDir,
    () => monday + 3 * day,
    (line) => lines.push(line),
    { recover },
  );

const names = (store: Awaited<ReturnType<typeof openStore>>) => store.clients.list().map(({ name }) => name);

test("a damaged database stops the start, which names the newest good backup and the way to it", async (t) => {
  const { dataDir, path, damaged } = await damagedFolder(t);

  const started = opening(dataDir);

  await assert.rejects(started, ({ message }: Error) => {
    assert.match(message, /platen\.sqlite cannot be read as a database .*Nothing was changed\./s);
    assert.match(
      message,
      /newest good backup is platen-2026-11-17T120000\.000Z-2\.sqlite, the state of 2026-11-17T12:00:00\.000Z: 2 clients, 0 drivers, 0 printers\. Whatever was changed since then is not in it\./,
    );
    assert.match(message, /a backup elsewhere, platen restore FILE\.tar is the other way/);
    assert.match(message, /Started with --recover, .* the damaged file is set aside, never deleted/);
    assert.match(message, /docker compose run/);
    return true;
  });
  assert.ok(readFileSync(path).equals(damaged));
});

test("--recover sets the damaged database aside, goes on from the newest good backup, and names what it lacks", async (t) => {
  const { dataDir, path, damaged } = await damagedFolder(t);
  const lines: string[] = [];

  const store = await opening(dataDir, true, lines);
  const found = names(store);
  await store.close();
  const again = await opening(dataDir, true, lines);
  await again.close();

  assert.deepEqual(found, ["Monday", "Tuesday"]);
  const [aside = ""] = readdirSync(dataDir).filter((name) => name.includes("damaged"));
  assert.equal(aside, "platen.sqlite.damaged-2026-11-19T120000Z");
  assert.ok(readFileSync(join(dataDir, aside)).equals(damaged));
  assert.ok(!readFileSync(path).equals(damaged));
  assert.equal(statSync(path).mode & 0o77, 0, "others on the host may read it");
  assert.deepEqual(lines, [
    `recovered: the damaged database is kept as ${aside}`,
    "recovered: the database is platen-2026-11-17T120000.000Z-2.sqlite, the state of 2026-11-17T12:00:00.000Z: 2 clients, 0 drivers, 0 printers; what was changed after it is not in it",
    "recovered: accounts, sessions and tokens are those of that time; links have ended: scripts that were downloaded by themselves have to be fetched anew",
    "files of no record that stay where they are, because they are younger than the database: 1, of them 1 driver ZIP in drivers/: where a driver is missed now, upload its ZIP again, from there or from the vendor",
    "--recover: the database is sound: nothing was changed",
    "files of no record that stay where they are, because they are younger than the database: 1, of them 1 driver ZIP in drivers/: where a driver is missed now, upload its ZIP again, from there or from the vendor",
  ]);
});

test("records made after going back get no number that another one may have had meanwhile", async (t) => {
  const { dataDir } = await damagedFolder(t);

  const store = await opening(dataDir, true);
  const client = await store.clients.add({ name: "Later", notes: "", subnets: [] });
  await store.close();

  const service = await startApp(t, { dataDir });
  const driver = await service.addDriver(driverZip({ version: "9.0.0.0" }));
  const printer = await service.addPrinter({ driver_id: String(driver) });
  assert.deepEqual([client, driver, printer], [1003, 1001, 10_001]);
});

test("a backup that is damaged itself is passed over", async (t) => {
  const { dataDir, damaged } = await damagedFolder(t);
  const folder = join(dataDir, "backups");
  const newest = join(folder, "platen-2026-11-17T120000.000Z-2.sqlite");
  writeFileSync(newest, damaged.subarray(0, readFileSync(newest).length));

  const store = await opening(dataDir, true);

  assert.deepEqual(names(store), ["Monday"]);
  await store.close();
});

test("--recover takes the state with the highest number, whatever the clock said, and one of an earlier version where there is no other", async (t) => {
  const { dataDir, path, damaged } = await damagedFolder(t);
  const folder = join(dataDir, "backups");
  const [first, second] = ["platen-2026-11-16T120000.000Z", "platen-2026-11-17T120000.000Z"];
  renameSync(join(folder, `${first}-1.sqlite`), join(folder, "platen-2031-01-01T120000.000Z-1.sqlite"));

  const store = await opening(dataDir, true);
  const found = names(store);
  await store.close();
  renameSync(join(folder, "platen-2031-01-01T120000.000Z-1.sqlite"), join(folder, `${first}.sqlite`));
  renameSync(join(folder, `${second}-2.sqlite`), join(folder, `${second}.sqlite`));
  rmSync(path);
  writeFileSync(path, damaged);
  const again = await openStore(
    dataDir,
    () => monday + 4 * day,
    () => {},
    { recover: true },
  );

  assert.deepEqual(found, ["Monday", "Tuesday"]);
  assert.deepEqual(names(again), ["Monday", "Tuesday"]);
  await again.close();
});

test("without a good backup --recover changes nothing and says what else can be done", async (t) => {
  const { dataDir, path, damaged } = await damagedFolder(t);
  const folder = join(dataDir, "backups");
  for (const name of readdirSync(folder)) writeFileSync(join(folder, name), "no database");

  const damagedToo = opening(dataDir, true);
  await assert.rejects(damagedToo, /platen restore FILE\.tar.*No good backup is in .*, of 2 states\./s);
  rmSync(folder, { recursive: true });
  const none = opening(dataDir, true);
  await assert.rejects(none, /platen restore FILE\.tar.*No good backup is in .*, of 0 states\./s);
  const usual = opening(dataDir);
  await assert.rejects(usual, /Put a backup in its place, or move it away to start afresh/);

  assert.ok(readFileSync(path).equals(damaged));
  assert.deepEqual(
    readdirSync(dataDir).filter((name) => name.includes("damaged")),
    [],
  );
});

test("a database that is missing comes back with --recover, and is made anew without", async (t) => {
  const { dataDir, path } = await damagedFolder(t);
  rmSync(path);

  const recovered = await opening(dataDir, true);
  const found = names(recovered);
  await recovered.close();
  rmSync(path);
  const afresh = await opening(dataDir);

  assert.deepEqual(found, ["Monday", "Tuesday"]);
  assert.deepEqual(names(afresh), []);
  await afresh.close();
});

test("a database of a newer version is not damaged: --recover leaves it alone", async (t) => {
  const { dataDir, path } = await damagedFolder(t);
  const backup = readFileSync(join(dataDir, "backups", "platen-2026-11-17T120000.000Z-2.sqlite"));
  writeFileSync(path, backup);
  await editDatabase(path, (db) => db.exec("PRAGMA user_version = 9999"));
  const newer = readFileSync(path);

  const started = opening(dataDir, true);

  await assert.rejects(started, /was written by a newer Platen \(schema 9999/);
  assert.ok(readFileSync(path).equals(newer));
});

test("a state that went back to a driver whose archive is gone starts, and names the driver", async (t) => {
  const dataDir = await temporaryFolder(t);
  const service = await startApp(t, { dataDir });
  const id = await service.addDriver();
  await service.app.backups.makeNow();
  await service.stop();
  const path = join(dataDir, "platen.sqlite");
  writeFileSync(path, "");
  rmSync(join(dataDir, "drivers"), { recursive: true });
  const lines: string[] = [];

  const store = await opening(dataDir, true, lines);

  assert.equal(store.drivers.get(id).id, id);
  assert.match(lines.join("\n"), /recovered: the archive of “[^”]+” is missing: upload the same ZIP again/);
  await store.close();
});

test("the program itself recovers, with --recover and with serve --recover", async (t) => {
  const { dataDir, damaged, path } = await damagedFolder(t);
  const folder = join(dataDir, "..");

  const refused = await serve(t, folder);
  const code = await refused.exited;
  const first = await serve(t, folder, {}, undefined, ["--recover"]);
  const page = await (await fetch(`${first.url}/clients`)).text();
  first.process.kill("SIGKILL");
  await first.exited;
  writeFileSync(path, damaged);
  const second = await serve(t, folder, {}, undefined, ["serve", "--recover"]);

  assert.equal(code, 1);
  assert.match(refused.output(), /newest good backup is platen-2026-11-17T/);
  assert.match(page, /Tuesday/);
  assert.notEqual(second.url, "", second.output());
});
