import assert from "node:assert/strict";
import { test } from "node:test";
import { planMove } from "../../src/services/printers/move-printers.ts";
import { navigation, type TestApp } from "../support/app.ts";
import { recordsOf, undoLast } from "../support/backup/deletions.ts";
import { appWithPair, armZip, driversOf } from "../support/drivers/arm64-pair.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

test("a driver that is only a printer’s second driver is in use and cannot be deleted", async (t) => {
  const service = await appWithPair(t);
  const { fetch, post, main, arm, printer } = service;

  const refused = await fetch(`/drivers/${arm}`, { method: "DELETE" });
  const text = await refused.text();
  await post(`/printers/${printer}`, { name: "Office", address: "10.0.0.9", driver_id: String(main) });
  const done = await fetch(`/drivers/${arm}`, { method: "DELETE" });

  assert.deepEqual([refused.status, done.status], [409, 200]);
  assert.match(text, /the printers that use it first: “Office”/);
  assert.deepEqual(driversOf(service), [["Office", main, "", null, ""]]);
});

test("undoing a printer’s deletion restores both drivers", async (t) => {
  const service = await appWithPair(t, { arm64_driver_desc: "Papyrus ARM PS" });
  const before = recordsOf(service);

  await service.fetch(`/printers/${service.printer}`, { method: "DELETE" });
  const gone = service.app.store.printers.list();
  await undoLast(service);

  assert.deepEqual(gone, []);
  assert.deepEqual(recordsOf(service), before);
});

test("undoing a printer’s deletion needs its second driver, or restores the printer without it and says so", async (t) => {
  const service = await appWithPair(t, { arm64_driver_desc: "Papyrus ARM PS" });
  const { fetch, post, app, main, arm, printer } = service;
  await fetch(`/printers/${printer}`, { method: "DELETE" });
  await fetch(`/drivers/${arm}`, { method: "DELETE" });

  const needs = await post("/deletions/1/undo", {}, navigation);
  const refusal = await needs.text();
  await app.undo.makeFinal(2);
  const done = await post("/deletions/1/undo", {}, navigation);
  const page = await (await fetch(done.headers.get("location") ?? "")).text();
  const saved = await post(`/printers/${printer}`, {
    ...{ name: "Office", address: "10.0.0.9", driver_id: String(main), location: "Hall" },
    arm64_driver_desc: app.store.printers.get(printer).printer.arm64_driver_desc,
  });

  assert.equal(needs.status, 409);
  assert.match(refusal, /“Office” needs “Papyrus ARM 3\.0”, which was deleted later/);
  assert.match(page, /The driver for ARM64 “Papyrus ARM 3\.0” is deleted\. Choose another driver\./);
  assert.deepEqual(driversOf(service), [["Office", main, "", null, ""]]);
  assert.equal(saved.status, 200);
});

test("a restored printer gets its second driver from a new upload of the same ZIP", async (t) => {
  const service = await appWithPair(t);
  const { fetch, post, app, addDriver, main, arm, printer } = service;
  await fetch(`/printers/${printer}`, { method: "DELETE" });
  await fetch(`/drivers/${arm}`, { method: "DELETE" });
  const reuploaded = await addDriver(armZip());
  await app.undo.makeFinal(2);

  const done = await post("/deletions/1/undo", {}, navigation);
  const page = await (await fetch(done.headers.get("location") ?? "")).text();

  assert.notEqual(reuploaded, arm);
  assert.match(page, /the same ZIP uploaded again/);
  assert.deepEqual(driversOf(service), [["Office", main, "", reuploaded, ""]]);
});

test("bulk changes of driver and client keep the second drivers", async (t) => {
  const service = await appWithPair(t, { arm64_driver_desc: "Papyrus ARM PS" });
  const { post, addDriver, arm, printer } = service;
  const next = await addDriver(driverZip({ version: "9.0.0.0" }));
  await post("/clients", { name: "Alpha" });

  const given = await post("/printers/bulk", {
    ids: String(printer),
    action: "driver",
    confirmed: "1",
    driver_id: String(next),
  });
  const without = await post("/printers/bulk", {
    ids: String(printer),
    action: "driver",
    driver_id: "",
    confirmed: "1",
  });
  await post("/printers/bulk", { ids: String(printer), action: "client", client_id: "1", confirmed: "1" });

  assert.deepEqual([given.status, without.status], [200, 200]);
  assert.deepEqual(driversOf(service), [["Office", null, "", arm, "Papyrus ARM PS"]]);
});

async function move(service: TestApp, from: number, to: number): Promise<{ page: string; status: number }> {
  const page = await (await service.fetch(`/drivers/${from}/move?to=${to}`)).text();
  const preview = /name="preview" value="([0-9a-f]+)"/.exec(page)?.[1] ?? "";
  const { status } = await service.post(`/drivers/${from}/move`, { to: String(to), preview }, navigation);
  return { page, status };
}

test("moving a driver’s printers also replaces it as their second driver, so that it can be deleted", async (t) => {
  const service = await appWithPair(t, { arm64_driver_desc: "Papyrus ARM PS" });
  const { addDriver, addPrinter, fetch, main, arm } = service;
  await addPrinter({ driver_id: String(arm), arm64_driver_id: String(arm), name: "Twice" });
  const next = await addDriver(armZip({ version: "4.0.0.0" }));

  const { page, status } = await move(service, arm, next);
  const left = await fetch(`/drivers/${arm}`, { method: "DELETE" });

  assert.match(page, /The packages of 2 printers change/);
  assert.match(page, /Papyrus ARM PS<\/bdi> <span class="soft">on ARM64 PCs/);
  assert.deepEqual([status, left.status], [303, 200]);
  assert.deepEqual(driversOf(service), [
    ["Office", main, "", next, "Papyrus ARM PS"],
    ["Twice", next, "Papyrus ARM", next, "Papyrus ARM"],
  ]);
});

test("a move must be confirmed again after the driver became a printer’s main driver instead of its second", async (t) => {
  const { app, addDriver, post, arm, printer } = await appWithPair(t, {
    arm64_driver_desc: "Papyrus ARM PS",
  });
  const next = await addDriver(armZip({ version: "4.0.0.0" }));
  const office = { name: "Office", address: "10.0.0.9" };

  const before = await planMove(app.store, arm, next);
  await post(`/printers/${printer}`, { ...office, driver_id: String(arm), driver_desc: "Papyrus ARM PS" });
  const after = await planMove(app.store, arm, next);

  assert.deepEqual(
    [before, after].map(({ pairs }) => pairs.map(({ model, isArm64 }) => [model, isArm64])),
    [[["Papyrus ARM PS", true]], [["Papyrus ARM PS", false]]],
  );
  assert.notEqual(before.digest, after.digest);
});

test("a move keeps the second driver if the new driver has no files for ARM64, and the page says so", async (t) => {
  const service = await appWithPair(t);
  const { addDriver, addPrinter, fetch, main, arm } = service;
  await addPrinter({ driver_id: String(arm), arm64_driver_id: String(arm), name: "Twice" });
  const x64 = await addDriver(driverZip({ models: ["Papyrus ARM"], version: "9.0.0.0" }));

  const { page, status } = await move(service, arm, x64);
  const again = await (await fetch(`/drivers/${arm}/move?to=${x64}`)).text();

  assert.match(
    page,
    /2 printers keep their ARM64 driver, because the new driver\s+does not support ARM64: .*Office.*Twice/s,
  );
  assert.equal(status, 303);
  assert.deepEqual(driversOf(service), [
    ["Office", main, "", arm, ""],
    ["Twice", x64, "", arm, ""],
  ]);
  assert.doesNotMatch(again, /<button class="primary">Move/, "there is nothing left to move");
});
