import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { type TestContext, test } from "node:test";
import { addDriver } from "../../src/services/drivers/drivers.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { filesIn } from "../support/backup/deletions.ts";
import { rounds } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { makePng } from "../support/printers/png.ts";
import { makeDriver } from "../support/records.ts";

const count = rounds(4, 40);

/** Does work after `turns` turns of the event loop, so that two calls meet at a different point in every round. */
async function after<T>(turns: number, work: () => Promise<T>): Promise<T> {
  for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
  return work();
}

/** A service that does not inspect drivers, so that uploads and deletions meet. */
async function startWithFastUploads(t: TestContext) {
  const started = await startApp(t);
  const { app } = started;
  const services = { ...app, inspections: { inspect: async () => makeDriver().report } };
  const add = async (zip: Buffer) =>
    (await addDriver(services, await app.store.blobs.receive(Readable.from([zip])), "a.zip")).driver.id;
  const removeDriver = async (id: number) => (await app.undo.removeDriver(id)) ?? 0;
  return { ...started, add, removeDriver };
}

/** Files that are not needed, and needed files that are missing. */
function fileProblems({ app: { store, undo }, dataDir }: Pick<TestApp, "app" | "dataDir">): string[] {
  const keptDigests = (kind: "drivers" | "icons") =>
    undo.list().length > 0 ? store.deletions.digests(kind) : [];
  const archives = [...store.drivers.list().map(({ sha256 }) => sha256), ...keptDigests("drivers")];
  const icons = [...store.icons.digests(), ...keptDigests("icons")];
  const wanted = new Set([
    ...archives.map((sha256) => `drivers/${sha256}.zip`),
    ...icons.map((sha256) => `icons/${sha256}.png`),
  ]);
  const found = filesIn(dataDir);
  const missing = [...wanted].filter((name) => !found.includes(name));
  return [...missing.map((name) => `missing: ${name}`), ...found.filter((name) => !wanted.has(name))];
}

test("a deletion that is made final during its undo is either final or undone, including its archive", async (t) => {
  const started = await startWithFastUploads(t);
  const { app, add, removeDriver } = started;
  const odd: string[] = [];
  const results = new Set<string>();

  for (let round = 0; round < count; round++) {
    const id = await add(driverZip());
    const deletion = await removeDriver(id);
    const [ended, restored] = await Promise.allSettled([
      after(round % 5, () => app.undo.makeFinal(deletion)),
      after((round * 7) % 5, () => app.undo.restore(deletion)),
    ]);
    const exists = app.store.drivers.has(id);
    if (exists !== (restored.status === "fulfilled")) odd.push(`${round}: restored without a record`);
    odd.push(...fileProblems(started).map((what) => `${round}: ${what}`));
    results.add(`${ended.status} ${restored.status}`);
    if (exists) await app.undo.makeFinal(await removeDriver(id));
  }

  assert.deepEqual(odd, []);
  assert.deepEqual([...results].sort(), ["fulfilled rejected", "rejected fulfilled"]);
});

test("of two deletions with the same archive, one is made final while the other is undone", async (t) => {
  const started = await startWithFastUploads(t);
  const { app, add, removeDriver } = started;
  const odd: string[] = [];

  for (let round = 0; round < count; round++) {
    const zip = driverZip({ version: `${round}.0` });
    const first = await removeDriver(await add(zip));
    const second = await removeDriver(await add(zip));
    await Promise.all([
      after(round % 6, () => app.undo.makeFinal(first)),
      after((round * 5) % 6, () => app.undo.restore(second)),
    ]);
    odd.push(...fileProblems(started).map((what) => `${round}: ${what}`));
    for (const { id } of app.store.drivers.list()) await app.undo.makeFinal(await removeDriver(id));
  }

  assert.deepEqual(odd, []);
  assert.deepEqual(filesIn(started.dataDir), []);
});

test("an icon that is uploaded while its last deletion is made final stays", async (t) => {
  const started = await startApp(t);
  const { app, upload, addPrinter } = started;
  const printer = await addPrinter({ driver_id: "" });
  const odd: string[] = [];

  for (let round = 0; round < count; round++) {
    const png = makePng(256, 256, 1 + (round % 3));
    const send = () => upload(`/printers/${printer}/icon`, png, "icon.png");
    await send();
    const deletion = (await app.undo.removeFile("icons", printer)) ?? 0;
    await Promise.all([send(), after(round % 40, () => app.undo.makeFinal(deletion))]);
    odd.push(...fileProblems(started).map((what) => `${round}: ${what}`));
  }

  assert.deepEqual(odd, []);
});
