import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { addDriver } from "../../src/services/drivers/drivers.ts";
import { exists } from "../../src/store/durable-files.ts";
import { startApp } from "../support/app.ts";
import { rounds } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { makePng } from "../support/printers/png.ts";
import { makeDriver } from "../support/records.ts";

const count = rounds(4, 200);

/** Waits for turns of the event loop, so that two requests meet at another point in every round. */
async function later(turns: number): Promise<void> {
  for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
}

test("an acknowledged icon exists, although a printer with the same picture, or only its icon, is deleted meanwhile", async (t) => {
  const { upload, fetch, addPrinter } = await startApp(t);
  const kept = await addPrinter({ driver_id: "" });
  const lost: number[] = [];

  for (let round = 0; round < count; round++) {
    const png = makePng(256, 256, 1 + (round % 7));
    const gone = await addPrinter({ driver_id: "" });
    const deleted = round % 4 === 0 ? `/printers/${gone}` : `/printers/${gone}/icon`;
    await upload(`/printers/${gone}/icon`, png, "icon.png");
    const [put] = await Promise.all([
      upload(`/printers/${kept}/icon`, png, "icon.png"),
      later(round % 40).then(() => fetch(deleted, { method: "DELETE" })),
    ]);
    const answer = await fetch(`/printers/${kept}/icon`);
    const iconExists = answer.status === 200 && png.equals(Buffer.from(await answer.arrayBuffer()));
    if (put.status === 200 && !iconExists) lost.push(round);
    await fetch(`/printers/${kept}/icon`, { method: "DELETE" });
  }

  assert.deepEqual(lost, []);
});

test("an acknowledged driver has its archive, although the same driver is deleted meanwhile", async (t) => {
  const { app } = await startApp(t);
  const { store } = app;
  const zip = driverZip();
  // The worst case: reading the ZIP takes no time, so nothing separates the two requests.
  const reader = { inspect: async () => ({ report: makeDriver().report }) };
  const services = { ...app, inspections: reader };
  const add = async () => addDriver(services, await store.blobs.receive(Readable.from([zip])), "a.zip");
  const lost: number[] = [];
  await add();

  for (let round = 0; round < count; round++) {
    const id = store.drivers.list()[0]?.id ?? 0;
    const incoming = await store.blobs.receive(Readable.from([zip]));
    await Promise.all([
      app.undo.removeDriver(id).then((deletion = 0) => app.undo.makeFinal(deletion)),
      later(round % 10).then(() => addDriver(services, incoming, "a.zip")),
    ]);
    const driver = store.drivers.list()[0];
    const isKept = driver === undefined || (await exists(store.blobs.pathOf("drivers", driver.sha256)));
    if (!isKept) lost.push(round);
    if (driver === undefined) await add();
  }

  assert.deepEqual(lost, []);
});

test("work on one digest runs in order, work on other digests does not wait, and a failure stops nothing", async (t) => {
  const { app } = await startApp(t);
  const order: string[] = [];
  let release = () => {};
  const blocked = new Promise<void>((resolve) => {
    release = resolve;
  });

  const first = app.store.blobs.inOrder("a", async () => {
    await blocked;
    order.push("first");
    throw new Error("the first one fails");
  });
  const second = app.store.blobs.inOrder("a", async () => order.push("second"));
  await app.store.blobs.inOrder("b", async () => order.push("other"));
  release();

  await assert.rejects(first, /the first one fails/);
  await second;
  assert.deepEqual(order, ["other", "first", "second"]);
});
