import assert from "node:assert/strict";
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseClient } from "../../src/domain/printers/client.ts";
import { startApp, temporaryFolder } from "../support/app.ts";
import { openAt } from "../support/backup/backup.ts";
import { editDatabase } from "../support/database.ts";
import { selectCases } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { makeOnce } from "../support/filled.ts";
import { serve } from "../support/service.ts";

const day = 24 * 60 * 60_000;
const monday = Date.UTC(2026, 10, 16, 12);

/** A folder with a state of Monday (one client), a state of Tuesday (two clients), and a damaged database of Wednesday. */
async function damagedFolder(t: TestContext) {
  const { folder } = await makeOnce(t, makeDamaged);
  const dataDir = join(folder, "data");
  const path = join(dataDir, "platen.sqlite");
  const copies = () => readdirSync(dataDir).filter((name) => name.includes("damaged"));
  return { folder, dataDir, path, states: join(dataDir, "backups"), damaged: readFileSync(path), copies };
}

async function makeDamaged(t: TestContext, folder: string): Promise<void> {
  const dataDir = join(folder, "data");
  let now = monday;
  const service = await startApp(t, { dataDir, clock: () => now });
  for (const name of ["Monday", "Tuesday"]) {
    await service.app.store.clients.add(parseClient({ name }));
    now += day;
    service.app.backups.keepDue();
    await service.app.backups.waitForWork();
  }
  await service.addDriver();
  await service.stop();
  const path = join(dataDir, "platen.sqlite");
  writeFileSync(path, readFileSync(path).fill(7, 4200, 9000));
}

const openOnThursday = (dataDir: string, recover = false, lines: string[] = []) =>
  openAt(dataDir, monday + 3 * day, lines, recover);

/** Recovers. @returns the names of the clients */
async function recoveredNames(dataDir: string, recover = true, lines: string[] = []): Promise<string[]> {
  const store = await openOnThursday(dataDir, recover, lines);
  const names = store.clients.list().map(({ name }) => name);
  await store.close();
  return names;
}

test("a damaged database stops the start with an error that names the newest good backup and --recover", async (t) => {
  const { dataDir, path, damaged } = await damagedFolder(t);

  const started = openOnThursday(dataDir);

  await assert.rejects(started, ({ message }: Error) => {
    assert.match(message, /platen\.sqlite cannot be read as a database .*Nothing was changed\./s);
    assert.match(
      message,
      /newest good backup is platen-2026-11-17T120000\.000Z-2\.sqlite, the state of 2026-11-17T12:00:00\.000Z: 2 clients, 0 drivers, 0 printers\. Whatever was changed since then is not in it\./,
    );
    assert.match(message, /a full backup elsewhere, platen restore FILE\.tar replaces everything/);
    assert.match(message, /Started with --recover, .* the damaged file is set aside, never deleted/);
    assert.match(message, /docker compose run/);
    return true;
  });
  assert.ok(readFileSync(path).equals(damaged));
});

test("--recover keeps the damaged database, goes on from the newest good backup, and logs what is lost", async (t) => {
  const { dataDir, path, damaged, copies } = await damagedFolder(t);
  const lines: string[] = [];

  const found = await recoveredNames(dataDir, true, lines);
  await recoveredNames(dataDir, true, lines);

  assert.deepEqual(found, ["Monday", "Tuesday"]);
  const [copy = ""] = copies();
  assert.equal(copy, "platen.sqlite.damaged-2026-11-19T120000Z");
  assert.ok(readFileSync(join(dataDir, copy)).equals(damaged));
  assert.ok(!readFileSync(path).equals(damaged));
  assert.equal(statSync(path).mode & 0o77, 0, "others on the host may read it");
  assert.deepEqual(lines, [
    `recovered: the damaged database is kept as ${copy}`,
    "recovered: the database is platen-2026-11-17T120000.000Z-2.sqlite, the state of 2026-11-17T12:00:00.000Z: 2 clients, 0 drivers, 0 printers; what was changed after it is not in it",
    "recovered: accounts, sessions and tokens are those of that time; all links have ended: scripts that were downloaded without a package must be downloaded again",
    "files without a record that stay in place, because they are newer than the database: 1, of them 1 driver ZIP in drivers/: if a driver is missing now, upload its ZIP again, from there or from the vendor",
    "--recover: the database is sound: nothing was changed",
    "files without a record that stay in place, because they are newer than the database: 1, of them 1 driver ZIP in drivers/: if a driver is missing now, upload its ZIP again, from there or from the vendor",
  ]);
});

test("records made after a recovery get no id that a lost record may have had", async (t) => {
  const { dataDir } = await damagedFolder(t);

  const store = await openOnThursday(dataDir, true);
  const client = await store.clients.add(parseClient({ name: "Later" }));
  await store.close();

  const service = await startApp(t, { dataDir });
  const driver = await service.addDriver(driverZip({ version: "9.0.0.0" }));
  const printer = await service.addPrinter({ driver_id: String(driver) });
  assert.deepEqual([client, driver, printer], [1003, 1001, 10_001]);
});

test("a damaged backup is skipped", async (t) => {
  const { dataDir, damaged, states } = await damagedFolder(t);
  const newest = join(states, "platen-2026-11-17T120000.000Z-2.sqlite");
  writeFileSync(newest, damaged.subarray(0, readFileSync(newest).length));

  assert.deepEqual(await recoveredNames(dataDir), ["Monday"]);
});

test("--recover takes the state with the highest number whatever its time, and states of earlier versions last", async (t) => {
  const { dataDir, path, damaged, states } = await damagedFolder(t);
  const rename = (from: string, to: string) =>
    renameSync(join(states, `platen-${from}.sqlite`), join(states, `platen-${to}.sqlite`));

  rename("2026-11-16T120000.000Z-1", "2031-01-01T120000.000Z-1");
  const found = await recoveredNames(dataDir);
  rename("2031-01-01T120000.000Z-1", "2026-11-16T120000.000Z");
  rename("2026-11-17T120000.000Z-2", "2026-11-17T120000.000Z");
  rmSync(path);
  writeFileSync(path, damaged);
  const again = await recoveredNames(dataDir);

  assert.deepEqual([found, again], Array(2).fill(["Monday", "Tuesday"]));
});

test("without a good backup --recover changes nothing and says what else to do", async (t) => {
  const { dataDir, path, damaged, states, copies } = await damagedFolder(t);
  for (const name of readdirSync(states)) writeFileSync(join(states, name), "no database");

  const damagedToo = openOnThursday(dataDir, true);
  await assert.rejects(damagedToo, /platen restore FILE\.tar.*No good backup is in .*, of 2 states\./s);
  rmSync(states, { recursive: true });
  const none = openOnThursday(dataDir, true);
  await assert.rejects(none, /platen restore FILE\.tar.*No good backup is in .*, of 0 states\./s);
  const usual = openOnThursday(dataDir);
  await assert.rejects(usual, /Put a backup in its place, or move it away to start afresh/);

  assert.ok(readFileSync(path).equals(damaged));
  assert.deepEqual(copies(), []);
});

test("a missing database is restored with --recover, and made anew without it", async (t) => {
  const { dataDir, path } = await damagedFolder(t);

  rmSync(path);
  const found = await recoveredNames(dataDir);
  rmSync(path);
  const afresh = await recoveredNames(dataDir, false);

  assert.deepEqual([found, afresh], [["Monday", "Tuesday"], []]);
});

test("--recover does not replace a database of a newer version", async (t) => {
  const { dataDir, path, states } = await damagedFolder(t);
  cpSync(join(states, "platen-2026-11-17T120000.000Z-2.sqlite"), path);
  await editDatabase(path, (db) => db.exec("PRAGMA user_version = 9999"));
  const newer = readFileSync(path);

  const started = openOnThursday(dataDir, true);

  await assert.rejects(started, /was written by a newer Platen \(schema 9999/);
  assert.ok(readFileSync(path).equals(newer));
});

test("a recovered state with a missing archive starts, and the log names the driver", async (t) => {
  const dataDir = await temporaryFolder(t);
  const service = await startApp(t, { dataDir });
  const id = await service.addDriver();
  await service.app.backups.makeNow();
  await service.stop();
  const path = join(dataDir, "platen.sqlite");
  writeFileSync(path, "");
  rmSync(join(dataDir, "drivers"), { recursive: true });
  const lines: string[] = [];

  const store = await openOnThursday(dataDir, true, lines);

  assert.equal(store.drivers.get(id).id, id);
  assert.match(lines.join("\n"), /recovered: the archive of “[^”]+” is missing: upload the same ZIP again/);
  await store.close();
});

for (const args of selectCases([["--recover"], ["serve", "--recover"]], 1)) {
  test(`the program recovers with ${args.join(" ")}`, async (t) => {
    const { folder } = await damagedFolder(t);

    const refused = await serve(t, folder);
    const code = await refused.exited;
    const { url } = await serve(t, folder, {}, undefined, args);

    assert.equal(code, 1);
    assert.match(refused.output(), /newest good backup is platen-2026-11-17T/);
    assert.match(await (await fetch(`${url}/clients`)).text(), /Tuesday/);
  });
}
