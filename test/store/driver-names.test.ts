import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { migrations } from "../../src/store/database/migrations.ts";
import { navigation, startApp, temporaryFolder } from "../support/app.ts";
import { dropLaterColumns } from "../support/backup/deletions.ts";
import { editDatabase, makeOldDatabase, oldReport } from "../support/database.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { makeOnce } from "../support/filled.ts";

const ownVersion = migrations.findIndex((migration) => String(migration).includes("keepTitles"));

/** Takes the names of drivers back to what earlier versions of Platen stored, with the names that people gave. */
async function forgetNames(dataDir: string, given: Readonly<Record<number, string>>, listed?: string) {
  await editDatabase(join(dataDir, "platen.sqlite"), (db) => {
    dropLaterColumns(db, ["", "deleted_"]);
    for (const table of ["preferences", "deleted_preferences"]) db.run(`DROP TABLE ${table}`);
    for (const table of ["clients", "drivers", "reports", "printers", "icons", "downloads"])
      db.run(`DROP INDEX deleted_${table}_by_deletion`);
    for (const table of ["drivers", "deleted_drivers"])
      db.run(`UPDATE ${table} SET name = '' WHERE origin = 'upload'`);
    for (const [id, name] of Object.entries(given))
      db.run("UPDATE drivers SET name = ? WHERE id = ?", [name, id]);
    if (listed !== undefined) db.run("UPDATE drivers SET listed = ? WHERE id = 2", [listed]);
    db.run(`PRAGMA user_version = ${ownVersion}`);
  });
}

/** A shop of four drivers whose names are as earlier versions stored them. The first has a printer. */
async function startAsBefore(t: TestContext) {
  const { folder: dataDir, value: revision } = await makeOnce(t, makeAsBefore);
  return { ...(await startApp(t, { dataDir })), revision };
}

async function makeAsBefore(t: TestContext, dataDir: string): Promise<string | undefined> {
  const before = await startApp(t, { dataDir });
  await before.addPrinter();
  for (const version of ["1.2.9.9", "2.0.0.0", "3.0.0.0", "4.0.0.0"])
    await before.addDriver(driverZip({ version, models: ["Papyrus 100 PCL6", "Papyrus 100 PS"] }));
  await before.fetch("/drivers/5", { method: "DELETE" });
  const revision = revisionIn(await (await before.fetch("/drivers/1/scripts/install")).text());
  await before.stop();
  await forgetNames(dataDir, { 3: "Front desk", 4: "FRONT DESK" });
  return revision;
}

function revisionIn(script: string): string | undefined {
  return /Revision = '(\w+)'/.exec(script)?.[1];
}

test("stored drivers get names of their own, and those that people gave stay", async (t) => {
  const { app, fetch } = await startAsBefore(t);

  const names = app.store.drivers.list().map(({ name }) => name);
  const windows = app.store.drivers.windowsDrivers().map(({ name }) => name);
  const list = await (await fetch("/drivers")).text();

  assert.deepEqual(names, [
    "FRONT DESK (2)",
    "Front desk",
    "Papyrus 100 PCL6/PS 1.2",
    "Papyrus 100 PCL6 1.2",
  ]);
  assert.equal(windows[0], "Microsoft IPP Class Driver");
  assert.match(list, /<bdi>Papyrus 100 PCL6\/PS 1\.2<\/bdi>/);
});

test("packages, scripts and apps of stored drivers keep their title until a person renames the driver", async (t) => {
  const { app, fetch, post, revision } = await startAsBefore(t);
  const facts = async (id: number) => {
    const script = await (await fetch(`/drivers/${id}/scripts/install`)).text();
    const publish = await (await fetch(`/drivers/${id}/publish`)).text();
    const zip = await fetch(`/drivers/${id}/packages/rmm`, { method: "HEAD" });
    return {
      log: /LogName = '([^']+)'/.exec(script)?.[1],
      title: /\sName = '([^']+)'/.exec(script)?.[1],
      app: /displayName = '([^']+)'/.exec(publish)?.[1],
      file: /filename="([^"]+)"/.exec(zip.headers.get("content-disposition") ?? "")?.[1],
      isSame: revisionIn(script) === revision,
    };
  };

  const before = await facts(1);
  await post("/drivers/1", { name: "Papyrus 100 PCL6 1.2", comment: "the same name" });
  const same = await facts(1);
  await post("/drivers/1", { name: "Cellar" });
  const renamed = await facts(1);
  const second = await facts(4);

  assert.deepEqual(before, {
    log: "Platen-driver-papyrus-papyrus-inf-1-2-3-4",
    title: "Papyrus papyrus.inf 1.2.3.4",
    app: "Printer driver Papyrus papyrus.inf 1.2.3.4",
    file: "papyrus-papyrus-inf-1-2-3-4.zip",
    isSame: true,
  });
  assert.deepEqual(same, before);
  assert.deepEqual(renamed, {
    log: "Platen-driver-cellar",
    title: "Cellar",
    app: "Printer driver Cellar 1.2",
    file: "cellar.zip",
    isSame: true,
  });
  assert.deepEqual([second.title, second.app], ["FRONT DESK", "Printer driver FRONT DESK 3.0.0.0"]);
  assert.equal(app.store.drivers.get(1).former_title, "");
});

test("a driver deleted before it had a name gets one when it is restored, and keeps its title in packages", async (t) => {
  const { app, post } = await startAsBefore(t);
  const { id } = app.undo.list()[0] ?? { id: 0 };

  const answer = await post(`/deletions/${id}/undo`, {}, navigation);

  const { name, former_title } = app.store.drivers.get(5);
  assert.equal(answer.status, 303);
  assert.deepEqual([name, former_title], ["Papyrus 100 PCL6/PS 4.0", "Papyrus papyrus.inf 4.0.0.0"]);
});

test("hundreds of drivers that would have the same name get different ones", async (t) => {
  const dataDir = await temporaryFolder(t);
  await makeOldDatabase(dataDir, { reports: Array.from({ length: 300 }, () => oldReport) });

  const { app } = await startApp(t, { dataDir });

  const drivers = app.store.drivers.list();
  assert.equal(new Set(drivers.map(({ name }) => name.toLowerCase())).size, 300);
  assert.deepEqual(new Set(drivers.map(({ former_title }) => former_title)).size, 1);
  assert.equal(drivers[0]?.name, "Papyrus 100 PCL6 1.2 (297)");
});

test("a driver whose row cannot be read stops the start, which names the row", async (t) => {
  const dataDir = await temporaryFolder(t);
  const before = await startApp(t, { dataDir });
  await before.addDriver();
  await before.addDriver(driverZip({ version: "2.0.0.0" }));
  await before.stop();
  await forgetNames(dataDir, {}, "{damaged");

  await assert.rejects(startApp(t, { dataDir }), /the driver 2 cannot be read/);
});
