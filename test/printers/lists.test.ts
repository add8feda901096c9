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

test("no list and no new printer reads a report: both work where the reports are garbage", async (t) => {
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

test("a driver of very many models takes little of the database, and gives it back when it is deleted", async (t) => {
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

test("what lists show follows the INF that is chosen", async (t) => {
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

test("a list shows what a printer is now, however often it was shown before", async (t) => {
  const db = await Database.open(join(await temporaryFolder(t), "platen.sqlite"));
  const clients = new Clients(db, Date.now);
  const drivers = new Drivers(db, Date.now);
  const printers = new Printers(db, Date.now, clients, drivers);
  const settings = (address: string) => ({ ...makePrinter({ address }), driver_id: null });
  const ids = [await printers.add(settings("10.0.0.1")), await printers.add(settings("10.0.0.2"))];
  const shown = () => printers.list().map(({ printer }) => printer.address);
  const before = [shown(), shown()];

  await printers.update(ids[0] ?? 0, settings("10.0.0.3"));
  const changed = shown();
  await db.write(() => db.all("UPDATE printers SET settings = replace(settings, '10.0.0.2', '10.0.0.4')"));
  const edited = shown();
  await new ManyPrinters(db, Date.now, clients, drivers, printers).remove(ids[0] ?? 0);

  assert.deepEqual(before, [
    ["10.0.0.1", "10.0.0.2"],
    ["10.0.0.1", "10.0.0.2"],
  ]);
  assert.deepEqual(
    [changed, edited, shown()],
    [["10.0.0.3", "10.0.0.2"], ["10.0.0.3", "10.0.0.4"], ["10.0.0.4"]],
  );
});
