import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { addDriver } from "../../../src/services/drivers/drivers.ts";
import { isThere } from "../../../src/store/durable-files.ts";
import { startApp } from "../../support/app.ts";
import { rounds } from "../../support/depth.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";
import { makePng } from "../../support/printers/png.ts";
import { makeDriver } from "../../support/records.ts";

const count = rounds(12, 200);

/** After as many turns of the event loop: two requests meet at another point in every round. */
async function later(turns: number): Promise<void> {
  for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
}

test("an icon that was acknowledged is there, although its picture is deleted at another printer meanwhile", async (t) => {
  const { upload, fetch, addPrinter } = await startApp(t);
  const driver_id = "";
  const [one, other] = [await addPrinter({ driver_id }), await addPrinter({ driver_id })];
  const lost: number[] = [];

  for (let round = 0; round < count; round++) {
    const png = makePng(256, 256, 1 + (round % 7));
    await upload(`/printers/${one}/icon`, png, "icon.png");
    const [put] = await Promise.all([
      upload(`/printers/${other}/icon`, png, "icon.png"),
      later(round % 40).then(() => fetch(`/printers/${one}/icon`, { method: "DELETE" })),
    ]);
    const shown = await fetch(`/printers/${other}/icon`);
    const isThere = shown.status === 200 && png.equals(Buffer.from(await shown.arrayBuffer()));
    if (put.status === 200 && !isThere) lost.push(round);
    await fetch(`/printers/${other}/icon`, { method: "DELETE" });
  }

  assert.deepEqual(lost, []);
});

test("an icon that was acknowledged is there, although a printer with the same picture is deleted meanwhile", async (t) => {
  const { upload, fetch, addPrinter } = await startApp(t);
  const kept = await addPrinter({ driver_id: "" });
  const lost: number[] = [];

  for (let round = 0; round < count / 4; round++) {
    const png = makePng(256, 256, 1 + (round % 7));
    const gone = await addPrinter({ driver_id: "" });
    await upload(`/printers/${gone}/icon`, png, "icon.png");
    const [put] = await Promise.all([
      upload(`/printers/${kept}/icon`, png, "icon.png"),
      later(round % 40).then(() => fetch(`/printers/${gone}`, { method: "DELETE" })),
    ]);
    const shown = await fetch(`/printers/${kept}/icon`);
    if (put.status === 200 && shown.status !== 200) lost.push(round);
    await fetch(`/printers/${kept}/icon`, { method: "DELETE" });
  }

  assert.deepEqual(lost, []);
});

test("a driver that was acknowledged has its archive, although the same one is deleted meanwhile", async (t) => {
  const { app } = await startApp(t);
  const { store } = app;
  const zip = driverZip();
  // Reading a ZIP in no time at all is the worst case: nothing keeps the two apart.
  const reader = { inspect: async () => makeDriver().report };
  const services = { ...app, inspections: reader };
  const add = async () => addDriver(services, await store.blobs.receive(Readable.from([zip])), "a.zip");
  const lost: number[] = [];
  await add();

  for (let round = 0; round < count; round++) {
    const id = store.drivers.list()[0]?.id ?? 0;
    const incoming = await store.blobs.receive(Readable.from([zip]));
    await Promise.all([
      app.undo.removeDriver(id).then((deletion = 0) => app.undo.end(deletion)),
      later(round % 10).then(() => addDriver(services, incoming, "a.zip")),
    ]);
    const driver = store.drivers.list()[0];
    const isKept = driver === undefined || (await isThere(store.blobs.pathOf("drivers", driver.sha256)));
    if (!isKept) lost.push(round);
    if (driver === undefined) await add();
  }

  assert.deepEqual(lost, []);
});

test("work of one digest goes one after the other, that of others does not wait, and a failure stops nothing", async (t) => {
  const { app } = await startApp(t);
  const order: string[] = [];
  let release = () => {};
  const blocked = new Promise<void>((resolve) => {
    release = resolve;
  });

  const first = app.store.blobs.inTurn("a", async () => {
    await blocked;
    order.push("first");
    throw new Error("the first one fails");
  });
  const second = app.store.blobs.inTurn("a", async () => order.push("second"));
  await app.store.blobs.inTurn("b", async () => order.push("other"));
  release();

  await assert.rejects(first, /the first one fails/);
  await second;
  assert.deepEqual(order, ["other", "first", "second"]);
});
