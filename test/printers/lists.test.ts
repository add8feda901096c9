import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Database } from "../../src/store/database/database.ts";
import { Drivers } from "../../src/store/drivers/drivers.ts";
import { Clients } from "../../src/store/printers/clients.ts";
import { ManyPrinters } from "../../src/store/printers/many-printers.ts";
import { Printers } from "../../src/store/printers/printers.ts";
import { startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { deepTest } from "../support/depth.ts";
import { appWithPair, armZip } from "../support/drivers/arm64-pair.ts";
import { driverZip, printerInf } from "../support/drivers/driver-zip.ts";
import { makeDriver, makePrinter } from "../support/records.ts";

async function openRecords(t: TestContext) {
  const path = join(await temporaryFolder(t), "platen.sqlite");
  const db = await Database.open(path);
  const clients = new Clients(db, Date.now);
  const drivers = new Drivers(db, Date.now);
  const printers = new Printers(db, Date.now, clients, drivers);
  const many = new ManyPrinters(db, Date.now, clients, drivers, printers);
  return { path, db, drivers, printers, many };
}

test("lists and new printers work with unreadable reports, because they read none", async (t) => {
  const { db, drivers, printers } = await openRecords(t);
  await drivers.add(makeDriver({ inf: { missing: ["a.dll"], notShipped: ["amd64"] } }));
  await printers.add(makePrinter({ driver_id: "1" }));
  const lists = () => JSON.stringify([drivers.list(), printers.list()]);
  const before = lists();

  await db.write(() => db.all("UPDATE reports SET report = 'garbage'"));
  const after = lists();
  const second = await printers.add(makePrinter({ driver_id: "1" }));

  assert.equal(after, before);
  assert.match(after, /"missingCount":1/);
  assert.equal(second, 2);
  assert.throws(() => drivers.get(1));
});

deepTest(
  "a driver with very many models takes little space in the database, and a deletion frees it",
  async (t) => {
    const { path, drivers } = await openRecords(t);
    const descriptions = Array.from({ length: 6000 }, (_, i) => `Papyrus ${"universal ".repeat(15)}${i}`);
    const empty = statSync(path).size;

    for (let i = 0; i < 4; i++)
      await drivers.add(makeDriver({ sha256: `${i}`.repeat(64), inf: { descriptions } }));
    const full = statSync(path).size;
    const kept = drivers.get(4).report.infs[0]?.descriptions;
    for (let i = 1; i <= 4; i++) await drivers.remove(i);
    const after = statSync(path).size;

    assert.deepEqual(kept, descriptions);
    assert.ok(full - empty < 4 * 240_000, `${full} bytes for four reports of 1 MB`);
    assert.ok(after - empty < 240_000, `${after} bytes afterwards, ${empty} before`);
  },
);

test("lists show the data of the chosen INF", async (t) => {
  const { fetch, addDriver, post, app } = await startApp(t);
  const sub = { name: "sub/other.inf", bytes: printerInf({ version: "9.9.9.9", decoration: "NTx86" }) };
  const id = await addDriver(driverZip({ extra: [sub] }));
  const before = app.store.drivers.list()[0]?.listed?.driverVer?.version;

  await post(`/drivers/${id}`, { inf_path: "sub/other.inf" });
  const page = await (await fetch("/drivers")).text();

  assert.equal(before, "1.2.3.4");
  assert.deepEqual(app.store.drivers.list()[0]?.listed?.architectures, ["x86"]);
  assert.match(page, /9\.9\.9\.9/);
});

test("lists show the current settings after every kind of change", async (t) => {
  const { db, printers, many } = await openRecords(t);
  const settings = (address: string) => ({ ...makePrinter({ address }), driver_id: null });
  const id = await printers.add(settings("10.0.0.1"));
  await printers.add(settings("10.0.0.2"));
  const addresses = () =>
    printers
      .list()
      .map(({ printer: { address } }) => address.slice(-1))
      .join("");

  const found = [addresses(), addresses()];
  await printers.update(id, settings("10.0.0.3"));
  found.push(addresses());
  await db.write(() => db.all("UPDATE printers SET settings = replace(settings, '10.0.0.2', '10.0.0.4')"));
  found.push(addresses());
  await many.remove(id);
  found.push(addresses());

  assert.deepEqual(found, ["12", "12", "32", "34", "4"]);
});

/** Printers of two clients and of none: duplicates, a changed one, a blocked one, and one without a driver. */
async function startShop(t: TestContext): Promise<TestApp> {
  const service = await startApp(t);
  const { addDriver, addPrinter, post, fetch, app } = service;
  for (const name of ["Alpha", "Beta"]) await post("/clients", { name });
  const old = String(await addDriver(driverZip({ models: ["Papyrus A", "Papyrus B"] })));
  const next = String(await addDriver(driverZip({ models: ["Papyrus A"], version: "2.0.0.0" })));
  const gone = await addDriver(driverZip({ models: ["Vellum"], version: "3.0.0.0" }));
  const alpha = { client_id: "1", driver_id: old };
  await addPrinter({ ...alpha, name: "Office", address: "10.0.0.1" });
  await addPrinter({ ...alpha, name: "office", address: "10.0.0.2" });
  await addPrinter({ ...alpha, name: "Hall", address: "10.0.0.1", driver_desc: "Papyrus B" });
  await addPrinter({ client_id: "2", driver_id: next, name: "Office", address: "10.0.0.1" });
  await addPrinter({ client_id: "2", driver_id: String(gone), name: "Vault", address: "10.0.0.7" });
  await addPrinter({ client_id: "", driver_id: old, name: "Office", address: "10.0.0.1" });
  await addPrinter({ client_id: "2", driver_id: "", name: "Empty", address: "10.0.0.8" });
  await (await fetch("/printers/4/scripts/install")).text();
  await post("/printers/4", { client_id: "2", driver_id: next, name: "Office", address: "10.0.0.9" });
  await rm(join(service.dataDir, "drivers", `${app.store.drivers.get(gone).sha256}.zip`));
  return service;
}

test("every query of the overview returns the states that lists show, with a deployment and a deleted archive at once", async (t) => {
  const { app, fetch, dataDir } = await startShop(t);
  const driverIds = [...app.store.drivers.list(), ...app.store.drivers.windowsDrivers()].map(({ id }) => id);
  const { printers, drivers, windowsDrivers } = await app.overview.read();
  const ids = printers.map(({ printer }) => printer.id);

  const single = await Promise.all(ids.map(async (id) => (await app.overview.printer(id)).row));
  const ofClients = await Promise.all([1, 2].map((id) => app.overview.ofClient(id)));
  const found = await app.overview.findMany([3, 1, 99]);
  const ofDrivers = await Promise.all(driverIds.map((id) => app.overview.driver(id)));

  assert.deepEqual(single, printers);
  const withClient = [1, 2].map((client) => printers.filter((row) => row.client?.id === client));
  assert.deepEqual(ofClients, withClient);
  const chosen = printers.filter(({ printer }) => [1, 3].includes(printer.id));
  assert.deepEqual([...found.values()], chosen);
  const ownDrivers = ofDrivers.map(({ driver }) => driver);
  assert.deepEqual(ownDrivers, [...drivers, ...windowsDrivers]);
  for (const { driver, printers: users } of ofDrivers) {
    const expected = printers.filter((row) => row.driver?.id === driver.id);
    assert.deepEqual(users, expected, driver.name);
  }
  // Of two queues with the same name the older one is deployed. Printers that cannot be deployed are left out.
  const siblings = await Promise.all([3, 4, 6].map(async (id) => (await app.overview.printer(id)).siblings));
  const siblingIds = siblings.map((rows) => rows.map(({ printer }) => printer.id));
  assert.deepEqual(siblingIds, [[3, 1], [4], []]);
  const kinds = printers.map(({ printer, findings, changed }) => {
    return [printer.id, findings.map(({ kind }) => kind).join(), changed];
  });
  assert.deepEqual(kinds, [
    [3, "same-address", false],
    [1, "unchosen-model,same-name,same-address", false],
    [2, "unchosen-model,same-name", false],
    [7, "no-driver", false],
    [4, "", true],
    [5, "archive", false],
    [6, "unchosen-model", false],
  ]);
  await (await fetch("/printers/4/scripts/install")).text();
  await rm(join(dataDir, "drivers", `${app.store.drivers.get(1).sha256}.zip`));
  const later = (await app.overview.read()).printers.map((row) => {
    return `${row.printer.id} ${row.changed} ${row.findings.map(({ kind }) => kind)}`;
  });
  for (const row of ["4 false ", "6 false archive,unchosen-model"]) assert.ok(later.includes(row), row);
});

test("pages and downloads of one printer or client read no list of all printers", async (t) => {
  const { app, fetch } = await startShop(t);
  app.store.printers.list = () => assert.fail("all printers were read");
  const paths = [
    ...["/printers/4", "/printers/4/edit", "/printers/4/publish", "/printers/4/read/install"],
    ...["/printers/4/packages/rmm", "/printers/4?done=saved"],
    ...["/clients/1", "/clients/1/publish", "/clients/1/scripts/install", "/packages/rmm?ids=1,3"],
  ];

  for (const path of paths) {
    const answer = await fetch(path);
    await answer.arrayBuffer();
    assert.equal(answer.status, 200, path);
  }
});

test("printers with the same driver and different drivers for ARM64 have different revisions", async (t) => {
  const { app, fetch, addDriver, addPrinter, main, arm, printer } = await appWithPair(t);
  const other = await addDriver(armZip({ models: ["Papyrus ARM"], version: "4.0.0.0" }));
  const pair = { driver_id: String(main), name: "Hall", address: "10.0.0.10" };
  const hall = await addPrinter({ ...pair, arm64_driver_id: String(other) });
  for (const id of [printer, hall]) await (await fetch(`/printers/${id}/scripts/install`)).text();

  const { printers } = await app.overview.read();
  const ofDriver = await app.overview.driver(arm);

  const changed = printers.map((row) => `${row.printer.id} ${row.changed}`);
  assert.deepEqual(changed, [`${hall} false`, `${printer} false`]);
  const ids = ofDriver.printers.map((row) => row.printer.id);
  assert.deepEqual(ids, [printer]);
});
