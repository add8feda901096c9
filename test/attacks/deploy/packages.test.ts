import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { client, startApp, type TestApp, temporaryFolder } from "../../support/app.ts";
import { beginDownload, openFilesBelow, readRest } from "../../support/audit/downloads.ts";
import { withoutProc } from "../../support/children.ts";
import { deepTest, selectCases } from "../../support/depth.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";
import { startFilled } from "../../support/filled.ts";
import { retainedBufferBytes } from "../../support/memory.ts";
import { peakMemory, serve } from "../../support/service.ts";
import { assertWithin, leastBlock } from "../../support/times.ts";
import { until } from "../../support/until.ts";

const mebi = 2 ** 20;

/** A driver that cannot be compressed. @param megabytes more than socket buffers hold */
function largeDriver(megabytes: number): Buffer {
  return driverZip({ extra: [{ name: "big.bin", bytes: randomBytes(megabytes * mebi), method: 0 }] });
}

function driverOfManyFiles(count: number): Buffer {
  const extra = Array.from({ length: count - 3 }, (_, i) => ({
    name: `a folder with a name/and another/file-${i}.bin`,
    bytes: "x",
    method: 0,
  }));
  return driverZip({ extra });
}

deepTest("the layout of 60,000 files does not block other requests", async (t) => {
  const { addDriver, addPrinter, post, fetch } = await startApp(t, { workers: "own" });
  const driver_id = String(await addDriver(driverOfManyFiles(60_000)));
  const id = await addPrinter({ driver_id });
  const fields = { name: "Office", address: "10.0.0.9", driver_id };
  const statuses: number[] = [];

  const longest = await leastBlock(3, async (run) => {
    await post(`/printers/${id}`, { ...fields, comment: `another content ${run}` });
    for (const format of ["rmm", "mdm"]) {
      const head = await fetch(`/printers/${id}/packages/${format}`, { method: "HEAD" });
      const range = await fetch(`/printers/${id}/packages/${format}`, { headers: { range: "bytes=0-99" } });
      await range.arrayBuffer();
      statuses.push(head.status, range.status);
    }
    statuses.push((await fetch(`/printers/${id}/scripts/install`)).status);
  });

  assert.deepEqual([...new Set(statuses)].sort(), [200, 206]);
  // Limit: 50 ms. On the main thread, the layout took at least 900 ms per request.
  t.diagnostic(`longest hold: ${longest.toFixed(1)} ms`);
  await assertWithin(50, { longest });
});

test("a package is laid out once: a second response needs no worker thread", async (t) => {
  const { app, addDriver, addPrinter, fetch } = await startApp(t, { workers: "own" });
  const id = await addPrinter({ driver_id: String(await addDriver(driverOfManyFiles(50))) });
  const path = `/printers/${id}/packages/rmm`;
  const first = await fetch(path, { method: "HEAD" });

  // Nothing can be laid out any more.
  app.workers.layOut = () => Promise.reject(new Error("laid out again"));
  const second = await fetch(path, { method: "HEAD" });
  const range = await fetch(path, { headers: { range: "bytes=0-9" } });

  assert.deepEqual([first.status, second.status, range.status], [200, 200, 206]);
  assert.equal(second.headers.get("etag"), first.headers.get("etag"));
});

deepTest("a client with a thousand printers on a large driver does not block other requests", async (t) => {
  const { app, addDriver, post, fetch } = await startApp(t, { workers: "own" });
  const models = Array.from({ length: 4_000 }, (_, i) => `Papyrus ${i} with a name of some length PCL6`);
  const driver_id = String(await addDriver(driverZip({ models })));
  await post("/clients", { name: "Large" });
  const { printer } = app.store.printers.get(
    await addPrinterOf({ post, app }, { client_id: "1", driver_id }),
  );
  for (let i = 1; i < 1_000; i++) await app.store.printers.add({ ...printer, name: `Printer ${i}` });
  const statuses: number[] = [];

  const longest = await leastBlock(3, async (run) => {
    await app.store.printers.update(printer.id, { ...printer, comment: `another content ${run}` });
    statuses.push((await fetch("/clients/1/packages/rmm", { method: "HEAD" })).status);
  });

  assert.deepEqual([...new Set(statuses)], [200]);
  // Limit: 250 ms, mostly for the list of a thousand printers. Reading a record for each printer took seconds.
  t.diagnostic(`longest hold: ${longest.toFixed(1)} ms`);
  await assertWithin(250, { longest });
});

deepTest(
  "a client whose drivers have too many files for one package is refused, with the memory of one driver",
  {
    skip: withoutProc,
  },
  async (t) => {
    // Made first, because it takes longer than the service keeps a connection open.
    const zips = Array.from({ length: 4 }, (_, i) => driverOfManyFiles(59_000 + i));
    const service = await serve(t, await temporaryFolder(t));
    const { addDriver, addPrinter, post, fetch } = client(service.url);
    await post("/clients", { name: "Large" });
    for (const [i, zip] of zips.entries())
      await addPrinter({ name: `Printer ${i}`, client_id: "1", driver_id: String(await addDriver(zip)) });

    const answer = await fetch("/clients/1/packages/rmm");
    const alone = await fetch("/printers/1/packages/rmm", { method: "HEAD" });

    assert.equal(answer.status, 422);
    assert.match(await answer.text(), /more than 65,535 files/);
    assert.equal(alone.status, 200);
    // Limit: 400 MiB. Reading all four at once took more than twice as much, and ten at once killed the thread.
    assert.ok(peakMemory(service) < 400 * mebi, `${(peakMemory(service) / mebi).toFixed(0)} MiB`);
  },
);

async function addPrinterOf({ post, app }: Pick<TestApp, "post" | "app">, fields: Record<string, string>) {
  await post("/printers", { name: "Printer 0", address: "10.0.0.9", ...fields });
  return app.store.printers.list()[0]?.printer.id ?? 0;
}

type Kind = "archive" | "files" | "rmm" | "mdm";

function pathOf(kind: Kind, driver: number, printer: number): string {
  return kind === "archive" || kind === "files"
    ? `/drivers/${driver}/${kind}`
    : `/printers/${printer}/packages/${kind}`;
}

/** Adds a driver of 24 MiB and a printer. */
async function addLargeDriver({ addDriver, addPrinter }: TestApp): Promise<void> {
  await addPrinter({ driver_id: String(await addDriver(largeDriver(24))) });
}

const kinds = ["archive", "files", "rmm", "mdm"] as const;
for (const kind of selectCases(kinds, 2)) {
  test(`a download of ${kind} is complete even if its driver is deleted meanwhile`, async (t) => {
    const { url, fetch, dataDir } = await startFilled(t, addLargeDriver);
    const path = pathOf(kind, 1, 1);
    const expected = await readRest(await beginDownload(url + path));

    const download = await beginDownload(url + path);
    const deleted = [
      (await fetch("/printers/1", { method: "DELETE" })).status,
      (await fetch("/drivers/1", { method: "DELETE" })).status,
    ];
    const bytes = await readRest(download);
    const after = await fetch(path);

    assert.deepEqual([download.statusCode, ...deleted, after.status], [200, 200, 200, 404]);
    assert.ok(bytes.equals(expected), `${bytes.length} of ${expected.length} bytes`);
    await until(() => openFilesBelow(dataDir).length === 0);
  });
}

test("a client that disconnects leaves no file open", async (t) => {
  const { url, fetch, dataDir } = await startFilled(t, addLargeDriver);

  for (const kind of selectCases(kinds, 2)) {
    const path = pathOf(kind, 1, 1);
    const whole = await beginDownload(url + path);
    const part = await beginDownload(url + path, { range: "bytes=1000-" });
    // The preparation after the upload keeps the archive open for a while.
    await until(() => openFilesBelow(dataDir).length === 2);
    whole.destroy();
    part.destroy();
    await until(() => openFilesBelow(dataDir).length === 0);
  }
  const health = await fetch("/health");

  assert.equal(health.status, 200);
});

test("responses without a body open no file", async (t) => {
  const { app, fetch } = await startFilled(t, addLargeDriver);
  const statuses: Record<string, number[]> = {};

  for (const kind of selectCases(kinds, 2)) {
    const path = pathOf(kind, 1, 1);
    const etag = (await fetch(path, { method: "HEAD" })).headers.get("etag") ?? "";
    const { open } = app.store.blobs;
    app.store.blobs.open = () => Promise.reject(new Error("opened"));
    const answers = [
      await fetch(path, { method: "HEAD" }),
      await fetch(path, { headers: { "if-none-match": etag } }),
      await fetch(path, { headers: { range: "bytes=999999999-" } }),
    ];
    app.store.blobs.open = open;
    statuses[kind] = answers.map(({ status }) => status);
  }

  assert.deepEqual(
    statuses,
    Object.fromEntries(selectCases(kinds, 2).map((kind) => [kind, [200, 304, 416]])),
  );
});

deepTest("a hundred slow downloads need little memory", async (t) => {
  const { app, url, fetch } = await startFilled(t, addLargeDriver);
  await fetch(pathOf("rmm", 1, 1), { method: "HEAD" });
  const before = await retainedBufferBytes();

  const paths = [pathOf("rmm", 1, 1), pathOf("archive", 1, 1)];
  const readers = await Promise.all(
    Array.from({ length: 100 }, (_, i) => beginDownload(url + (paths[i % 2] ?? ""), {})),
  );
  const held = await retainedBufferBytes();
  for (const reader of readers) reader.destroy();

  // Limit: 60 MiB for a hundred. Two buffers of 512 KiB for each were more than 100 MiB.
  t.diagnostic(`${((held - before) / mebi).toFixed(1)} MiB held`);
  assert.ok(held - before < 60 * mebi, `${((held - before) / mebi).toFixed(0)} MiB are held`);
  assert.equal(app.store.drivers.list().length, 1);
});
