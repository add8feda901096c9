import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { test } from "node:test";
import { addDriver } from "../../src/services/drivers/drivers.ts";
import { findAppIcon, readPrinterFile, saveIcon } from "../../src/services/printers/printer-files.ts";
import { writeUpload } from "../../src/store/blobs.ts";
import type { Store } from "../../src/store/store.ts";
import { startApp, temporaryFolder } from "../support/app.ts";
import { sha256Of } from "../support/backup/backup.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { makePng } from "../support/printers/png.ts";
import { seededRandom } from "../support/random.ts";
import { until } from "../support/until.ts";

function receive({ blobs }: Store, bytes: Uint8Array) {
  return blobs.receive(Readable.from([bytes]));
}

test("a new driver's archive needs no check: its digest was computed during the upload, and recorded after the driver", async (t) => {
  const { app } = await startApp(t, { workers: "own" });
  const neverRead = () => Promise.reject(new Error("the archive was read again"));
  Object.assign(app.workers, { verify: neverRead, digest: neverRead });
  const { recordUpload } = app.archives;
  const told: boolean[] = [];
  app.archives.recordUpload = (sha256) => {
    told.push(app.store.drivers.hasDigest(sha256));
    return recordUpload.call(app.archives, sha256);
  };

  const { driver } = await addDriver(app, await receive(app.store, driverZip()), "a.zip");
  await app.archives.requireSound(driver);
  const back = await addDriver(app, await receive(app.store, driverZip()), "b.zip");
  await app.archives.requireSound(driver);

  assert.deepEqual([back.driver.id, back.isNew], [driver.id, false]);
  assert.deepEqual(new Set(told), new Set([true]));
});

test("a file whose record cannot be saved is deleted, unless it existed before", async (t) => {
  const { app, dataDir } = await startApp(t, { workers: "own" });
  const { blobs } = app.store;
  const failing = () => Promise.reject(new Error("no record"));
  const there = makePng(256, 256, 1);
  await blobs.keep("icons", await receive(app.store, there), async () => {});

  for (const [folder, bytes] of [
    ["drivers", driverZip()],
    ["icons", makePng(256, 256, 2)],
    ["icons", there],
  ] as const)
    await assert.rejects(blobs.keep(folder, await receive(app.store, bytes), failing), /no record/);

  assert.deepEqual(readdirSync(join(dataDir, "drivers")), []);
  assert.equal(readdirSync(join(dataDir, "icons")).length, 1);
});

test("an icon's file is deleted with the last printer that uses it, and one without a record or a file is not found", async (t) => {
  const { app, dataDir, addPrinter } = await startApp(t, { workers: "own" });
  const { store, undo } = app;
  const [one, other] = [await addPrinter({ driver_id: "" }), await addPrinter({ driver_id: "" })];
  const png = makePng(256, 256, 1);

  const without = await findAppIcon(store, one);
  for (const id of [one, other]) await saveIcon(app, id, await receive(store, png));
  await undo.makeFinal((await undo.removeFile("icons", one)) ?? 0);
  const kept = await readPrinterFile(store, "icons", other);
  await store.blobs.remove("icons", store.icons.find(other)?.sha256 ?? "");
  const gone = await findAppIcon(store, other);
  await saveIcon(app, other, await receive(store, png));
  await undo.makeFinal((await undo.removePrinter(other)) ?? 0);

  assert.ok(kept.bytes.equals(png));
  assert.deepEqual([without, gone], [undefined, undefined]);
  for (const folder of ["icons", "incoming"]) assert.deepEqual(readdirSync(join(dataDir, folder)), []);
  await assert.rejects(readPrinterFile(store, "icons", one), { code: "not-found" });
  await assert.rejects(undo.removeFile("icons", 99), { code: "not-found" });
});

const random = seededRandom(4);
const bytes = Buffer.from(Array.from({ length: 1_200_000 }, () => random(256)));

/** Chunks of these lengths, repeated until all bytes are sent. */
function* chunksOf(lengths: readonly number[]): Generator<Buffer> {
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const end = at + (lengths[i % lengths.length] ?? 1);
    yield bytes.subarray(at, end);
    at = end;
  }
}

/** A stream that sends this chunk and stays open. */
function stalledStream(first: Buffer): Readable {
  const stream = new Readable({ read: () => {} });
  stream.push(first);
  return stream;
}

test("the file of an upload has the right bytes and digest for chunks of any size", async (t) => {
  const folder = await temporaryFolder(t);

  for (const lengths of [[65_536], [1, 2000], [500_000, 10], [bytes.length], []]) {
    const path = join(folder, `chunks-${lengths.join()}`);
    const file = await open(path, "wx");
    const sent = lengths.length === 0 ? Buffer.alloc(0) : bytes;
    const written = await writeUpload(Readable.from(lengths.length === 0 ? [] : chunksOf(lengths)), file);
    await file.close();

    assert.deepEqual(written, { sha256: sha256Of(sent), size: sent.length });
    assert.ok(sent.equals(readFileSync(path)));
  }
});

test("an upload ends at once when the disk fails, even if its client stalls", {
  skip: existsSync("/dev/full") ? false : "there is no disk here that is always full",
  timeout: 10_000,
}, async (t) => {
  const file = await open("/dev/full", "w");
  t.after(() => file.close());
  const stream = stalledStream(bytes);

  const work = writeUpload(stream, file);

  await assert.rejects(work, { code: "ENOSPC" });
  assert.ok(stream.destroyed);
});

test("a failed upload writes no more to the disk", async (t) => {
  const path = join(await temporaryFolder(t), "broken");
  const file = await open(path, "wx");
  const stream = stalledStream(bytes);
  const work = writeUpload(stream, file);

  await until(() => statSync(path).size === bytes.length);
  stream.destroy(new Error("broken off"));

  await assert.rejects(work, /broken off/);
  assert.equal(statSync(path).size, bytes.length);
  await file.close();
});
