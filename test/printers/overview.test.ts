import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { startApp, type TestApp } from "../support/app.ts";
import { appWithPair, armZip } from "../support/drivers/arm64-pair.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

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

test("every query of the overview returns the states that lists show", async (t) => {
  const { app } = await startShop(t);
  const driverIds = [...app.store.drivers.list(), ...app.store.drivers.windowsDrivers()].map(({ id }) => id);
  const { printers, drivers, windowsDrivers } = await app.overview.read();
  const ids = printers.map(({ printer }) => printer.id);

  const single = await Promise.all(ids.map(async (id) => (await app.overview.printer(id)).row));
  const ofClients = await Promise.all([1, 2].map((id) => app.overview.ofClient(id)));
  const found = await app.overview.findMany([3, 1, 99]);
  const ofDrivers = await Promise.all(driverIds.map((id) => app.overview.driver(id)));

  assert.deepEqual(single, printers);
  assert.deepEqual(
    ofClients,
    [1, 2].map((client) => printers.filter((row) => row.client?.id === client)),
  );
  const chosen = printers.filter(({ printer }) => [1, 3].includes(printer.id));
  assert.deepEqual([...found.values()], chosen);
  assert.deepEqual(
    ofDrivers.map(({ driver }) => driver),
    [...drivers, ...windowsDrivers],
  );
  for (const { driver, printers: users } of ofDrivers) {
    const expected = printers.filter((row) => row.driver?.id === driver.id);
    assert.deepEqual(users, expected, driver.name);
  }
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
});

test("lists show a deleted archive and a deployment at once, although no record changes", async (t) => {
  const { app, fetch, dataDir } = await startShop(t);
  const kindsOf = async (id: number) => {
    const { printers } = await app.overview.read();
    const row = printers.find(({ printer }) => printer.id === id);
    return `${row?.findings.map(({ kind }) => kind)} ${row?.changed}`;
  };

  const [soundBefore, changedBefore] = [await kindsOf(6), await kindsOf(4)];
  await (await fetch("/printers/4/scripts/install")).text();
  const changedAfter = await kindsOf(4);
  await rm(join(dataDir, "drivers", `${app.store.drivers.get(1).sha256}.zip`));
  const soundAfter = await kindsOf(6);

  assert.deepEqual([soundBefore, soundAfter], ["unchosen-model false", "archive,unchosen-model false"]);
  assert.deepEqual([changedBefore, changedAfter], [" true", " false"]);
});

test("printers with the same driver and different drivers for ARM64 have different revisions", async (t) => {
  const { app, fetch, addDriver, addPrinter, main, arm, printer } = await appWithPair(t);
  const other = await addDriver(armZip({ models: ["Papyrus ARM"], version: "4.0.0.0" }));
  const pair = { driver_id: String(main), name: "Hall", address: "10.0.0.10" };
  const hall = await addPrinter({ ...pair, arm64_driver_id: String(other) });
  for (const id of [printer, hall]) await (await fetch(`/printers/${id}/scripts/install`)).text();

  const { printers } = await app.overview.read();
  const ofDriver = await app.overview.driver(arm);

  assert.deepEqual(
    printers.map(({ printer, changed }) => [printer.id, changed]),
    [
      [hall, false],
      [printer, false],
    ],
  );
  assert.deepEqual(
    ofDriver.printers.map((row) => row.printer.id),
    [printer],
  );
});

test("siblings of a printer belong to its client", async (t) => {
  const { app } = await startShop(t);

  const siblings = await Promise.all([3, 4, 6].map(async (id) => (await app.overview.printer(id)).siblings));

  // Of two queues with the same name the older one is deployed. Printers that cannot be deployed are left out.
  assert.deepEqual(
    siblings.map((rows) => rows.map(({ printer }) => printer.id)),
    [[3, 1], [4], []],
  );
});

test("pages and downloads of one printer or client read no list of all printers", async (t) => {
  const { app, fetch } = await startShop(t);
  app.store.printers.list = () => assert.fail("all printers were read");
  const paths = [
    ...["/printers/4", "/printers/4/edit", "/printers/4/publish", "/printers/4/read/install"],
    ...["/printers/4/packages/rmm", "/printers/4/packages/mdm", "/printers/4?done=saved"],
    ...["/clients/1", "/clients/1/publish", "/clients/1/scripts/install", "/packages/rmm?ids=1,3"],
  ];

  const statuses: [string, number][] = [];
  for (const path of paths) {
    const answer = await fetch(path);
    await answer.arrayBuffer();
    statuses.push([path, answer.status]);
  }

  assert.deepEqual(
    statuses,
    paths.map((path) => [path, 200]),
  );
});
