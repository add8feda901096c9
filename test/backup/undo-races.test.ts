import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { type TestContext, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { addDriver } from "../../src/services/drivers/drivers.ts";
import { client, startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { filesIn, remove } from "../support/backup/deletions.ts";
import { deepTest, rounds } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { makePng } from "../support/printers/png.ts";
import { makeDriver } from "../support/records.ts";
import { serve } from "../support/service.ts";

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

/** One life of a service, which is killed `delay` milliseconds after two concurrent requests; 0 is before they are sent. */
async function killDuringRequests(t: TestContext, folder: string, round: number, delay: number) {
  const service = await serve(t, folder);
  const site = client(service.url);
  const driver = await site.addDriver(driverZip({ version: `${round}.0` }));
  const printer = await site.addPrinter({ driver_id: "", name: `P${round}` });
  await site.upload(`/printers/${printer}/icon`, makePng(256, 256, 1 + round), "icon.png");
  const removed = await (await remove(site, `/drivers/${driver}`)).text();
  const deletion = /action="(\/deletions\/\d+)\/undo"/.exec(removed)?.[1] ?? "";
  const isUndone = round % 2 === 1;
  const requests = [
    remove(site, `/printers/${printer}`),
    site.post(`${deletion}/${isUndone ? "undo" : "delete"}`, {}),
  ];
  const done = Promise.allSettled(requests);
  if (delay > 0) await setTimeout(delay);
  service.process.kill("SIGKILL");
  await service.exited;
  const [isPrinterDeleted, isDriverDone] = (await done).map(
    (one) => one.status === "fulfilled" && one.value.status === 200,
  );
  return { driver, printer, isUndone, isPrinterDeleted, isDriverDone };
}

type Killed = Awaited<ReturnType<typeof killDuringRequests>>;

/** Compares the next life with what was answered, and undoes every deletion. */
async function problemsAfterKill(next: TestApp, killed: Killed): Promise<string[]> {
  const { store, undo } = next.app;
  const odd = fileProblems(next);
  if (killed.isPrinterDeleted && store.printers.find(killed.printer)) odd.push("the printer is still there");
  if (killed.isDriverDone && store.drivers.has(killed.driver) !== killed.isUndone)
    odd.push("the driver is not what was answered");
  for (const { kind, recordId, name } of await Promise.all(undo.list().map(({ id }) => undo.restore(id))))
    if (kind === "printer" && !store.icons.find(recordId)) odd.push(`${name} came back without its icon`);
  return [...odd, ...fileProblems(next), ...next.lines];
}

deepTest(
  "killing the service at any time loses no deletion that can be undone, and leaves no files of other ones",
  async (t) => {
    const folder = await temporaryFolder(t);
    const dataDir = join(folder, "data");
    const odd: string[] = [];
    const results = new Set<string>();

    // The right delay depends on the machine: double it each time, then bisect.
    let [early, late] = [0, Number.POSITIVE_INFINITY];
    for (let round = 0; round < 14; round++) {
      const delay = round === 0 ? 0 : Math.min(Math.max(2 * early, 4), (early + late) / 2);
      const killed = await killDuringRequests(t, folder, round, delay);
      if (killed.isPrinterDeleted && killed.isDriverDone) late = Math.min(late, delay);
      else early = Math.max(early, delay);
      const next = await startApp(t, { dataDir, clock: Date.now });
      odd.push(...(await problemsAfterKill(next, killed)));
      results.add(`${killed.isPrinterDeleted} ${killed.isDriverDone}`);
      await next.stop();
    }

    assert.deepEqual(odd, []);
    assert.ok(results.size > 1, "it was always killed too early or too late");
    assert.ok(!existsSync(join(dataDir, "lost")));
  },
);
