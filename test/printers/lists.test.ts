import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Database } from "../../src/store/database/database.ts";
import { Drivers } from "../../src/store/drivers/drivers.ts";
import { Clients } from "../../src/store/printers/clients.ts";
import { ManyPrinters } from "../../src/store/printers/many-printers.ts";
import { Printers } from "../../src/store/printers/printers.ts";
import { startApp, temporaryFolder } from "../support/app.ts";
import { driverZip, printerInf } from "../support/drivers/driver-zip.ts";
import { makeDriver, makePrinter } from "../support/records.ts";

test("lists and new printers work with unreadable reports, because they read none", async (t) => {
  const db = await Database.open(join(await temporaryFolder(t), "platen.sqlite"));
  const clients = new Clients(db, Date.now);
  const drivers = new Drivers(db, Date.now);
  const printers = new Printers(db, Date.now, clients, drivers);
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

test("a driver with very many models takes little space in the database, and a deletion frees it", async (t) => {
  const path = join(await temporaryFolder(t), "platen.sqlite");
  const db = await Database.open(path);
  const drivers = new Drivers(db, Date.now);
  const descriptions = Array.from({ length: 10_000 }, (_, i) => `Papyrus ${"universal ".repeat(15)}${i}`);
  const empty = statSync(path).size;

  for (let i = 0; i < 4; i++) {
    await drivers.add(makeDriver({ sha256: `${i}`.repeat(64), inf: { descriptions } }));
  }
  const full = statSync(path).size;
  const kept = drivers.get(4).report.infs[0]?.descriptions;
  for (let i = 1; i <= 4; i++) await drivers.remove(i);
  const after = statSync(path).size;

  assert.deepEqual(kept, descriptions);
  assert.ok(full - empty < 4 * 400_000, `${full} bytes for four reports of 1.6 MB`);
  assert.ok(after - empty < 400_000, `${after} bytes afterwards, ${empty} before`);
});

test("lists show the data of the chosen INF", async (t) => {
  const { fetch, addDriver, post, app } = await startApp(t);
  const sub = { name: "sub/other.inf", bytes: printerInf({ version: "9.9.9.9", decoration: "NTx86" }) };
  const id = await addDriver(driverZip({ extra: [sub] }));
  const before = app.store.drivers.list()[0]?.listed;

  await post(`/drivers/${id}`, { inf_path: "sub/other.inf" });
  const page = await (await fetch("/drivers")).text();

  assert.deepEqual(before?.driverVer?.version, "1.2.3.4");
  assert.deepEqual(app.store.drivers.list()[0]?.listed?.architectures, ["x86"]);
  assert.match(page, /9\.9\.9\.9/);
});

test("lists show the current settings after every kind of change", async (t) => {
  const db = await Database.open(join(await temporaryFolder(t), "platen.sqlite"));
  const clients = new Clients(db, Date.now);
  const drivers = new Drivers(db, Date.now);
  const printers = new Printers(db, Date.now, clients, drivers);
  const settings = (address: string) => ({ ...makePrinter({ address }), driver_id: null });
  const ids = [await printers.add(settings("10.0.0.1")), await printers.add(settings("10.0.0.2"))];
  const addresses = () => printers.list().map(({ printer }) => printer.address);
  const before = [addresses(), addresses()];

  await printers.update(ids[0] ?? 0, settings("10.0.0.3"));
  const changed = addresses();
  await db.write(() => db.all("UPDATE printers SET settings = replace(settings, '10.0.0.2', '10.0.0.4')"));
  const edited = addresses();
  await new ManyPrinters(db, Date.now, clients, drivers, printers).remove(ids[0] ?? 0);

  assert.deepEqual(before, [
    ["10.0.0.1", "10.0.0.2"],
    ["10.0.0.1", "10.0.0.2"],
  ]);
  assert.deepEqual(
    [changed, edited, addresses()],
    [["10.0.0.3", "10.0.0.2"], ["10.0.0.3", "10.0.0.4"], ["10.0.0.4"]],
  );
});
