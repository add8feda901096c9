import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { InspectionLimits } from "../../src/workers/inspections.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { watchChildren, withoutProc } from "../support/children.ts";
import { deepTest } from "../support/depth.ts";
import { driverZip } from "../support/driver-zip.ts";
import { seededRandom } from "../support/random.ts";
import { statusOf } from "../support/raw.ts";
import { until } from "../support/until.ts";
import { beginUpload, type SlowUpload } from "../support/uploads.ts";
import { makeZip } from "../support/zip.ts";

// Uploads that are read while they arrive, by a process of their own.

const mebi = 1024 * 1024;
const options = { skip: withoutProc, timeout: 120_000 };

/** A driver of some megabytes, in many files; another one for each version. */
function largeDriver(version = "1.0.0.0"): Buffer {
  const random = seededRandom(9);
  const bytes = Buffer.from(Array.from({ length: 100_000 }, () => random(256)));
  const extra = Array.from({ length: 60 }, (_, i) => ({
    name: `${i}.bin`,
    bytes,
    method: i % 2 === 0 ? 0 : 8,
  }));
  return driverZip({ version, extra });
}

interface Watched extends TestApp {
  /** The processes that the service has started and that are still there. */
  readonly readers: () => number[];
  /** Begins an upload and waits until a process reads it, which is the one that is answered. */
  readonly beginEarly: (file: Buffer, bytes?: number) => Promise<{ upload: SlowUpload; reader: number }>;
}

async function startWatched(t: TestContext, limits: Partial<InspectionLimits> = {}): Promise<Watched> {
  const children = watchChildren();
  const service = await startApp(t, {}, { earlyBytes: mebi, ...limits });
  const readers = () => children().map(({ id }) => id);
  const begin = async (file: Buffer, bytes = 3 * mebi) => {
    const known = new Set(readers());
    const upload = await beginUpload(service.url, file);
    t.after(() => upload.socket.destroy());
    upload.send(bytes);
    const found = () => readers().find((id) => !known.has(id));
    await until(() => found() !== undefined);
    return { upload, reader: found() ?? 0 };
  };
  return { ...service, readers, beginEarly: begin };
}

async function nothingIsLeft({ app, dataDir }: TestApp): Promise<void> {
  await until(() => readdirSync(join(dataDir, "incoming")).length === 0);
  assert.equal(app.store.drivers.count(), 0);
  assert.deepEqual(readdirSync(join(dataDir, "drivers")), []);
}

test("a large upload is read by one process, from its first megabytes to the answer", options, async (t) => {
  const service = await startWatched(t);

  const { upload, reader } = await service.beginEarly(largeDriver());
  const seen = new Set<number>();
  const watch = setInterval(() => {
    for (const id of service.readers()) seen.add(id);
  }, 2);
  const answer = await upload.finish();
  clearInterval(watch);

  assert.equal(statusOf(answer), 200);
  assert.equal(service.app.store.drivers.get(1).report.fileCount, 63);
  assert.deepEqual(
    [...seen].filter((id) => id !== reader),
    [],
  );
  await until(() => service.readers().length === 0);
});

deepTest("a small upload has no process before it is complete", options, async (t) => {
  const service = await startWatched(t, { earlyBytes: 4 * mebi });
  const upload = await beginUpload(service.url, largeDriver());

  upload.send(3 * mebi);
  await until(() => readdirSync(join(service.dataDir, "incoming")).length === 1);
  await new Promise((resolve) => setTimeout(resolve, 200));
  const readers = service.readers();
  upload.socket.destroy();

  assert.deepEqual(readers, []);
  await nothingIsLeft(service);
});

test("an upload that breaks off takes its process with it, and leaves nothing", options, async (t) => {
  const service = await startWatched(t);

  const { upload } = await service.beginEarly(largeDriver());
  upload.socket.destroy();

  await until(() => service.readers().length === 0);
  await nothingIsLeft(service);
});

deepTest("content that is known already takes its process with it", options, async (t) => {
  const service = await startWatched(t);
  await service.addDriver(largeDriver());

  const { upload } = await service.beginEarly(largeDriver());
  const answer = await upload.finish();

  assert.equal(statusOf(answer), 200);
  await until(() => service.readers().length === 0);
  assert.equal(service.app.store.drivers.count(), 1);
});

deepTest("an upload that stands still keeps nobody else from being read", options, async (t) => {
  const service = await startWatched(t, { atOnce: 1, most: 2 });
  const { upload } = await service.beginEarly(largeDriver());

  await service.addDriver();
  await service.addDriver(largeDriver("2.0.0.0"));
  const answer = await upload.finish();

  assert.equal(statusOf(answer), 200);
  assert.equal(service.app.store.drivers.count(), 3);
});

deepTest("one upload at a time is read while it arrives", options, async (t) => {
  const service = await startWatched(t, { earlyIdleMs: 600_000 });
  const first = await service.beginEarly(largeDriver());
  const second = await beginUpload(service.url, largeDriver("2.0.0.0"));

  second.send(3 * mebi);
  await new Promise((resolve) => setTimeout(resolve, 500));
  const meanwhile = service.readers();
  const answers = [await first.upload.finish(), await second.finish()];

  assert.deepEqual(meanwhile, [first.reader]);
  assert.deepEqual(answers.map(statusOf), [200, 200]);
});

deepTest(
  "an upload that stands still gives its process to the next one, and is read when it is complete",
  options,
  async (t) => {
    const service = await startWatched(t, { earlyIdleMs: 1 });
    const first = await service.beginEarly(largeDriver());

    const second = await service.beginEarly(largeDriver("2.0.0.0"));
    await until(() => service.readers().length === 1);
    const readers = service.readers();
    const answers = [await first.upload.finish(), await second.upload.finish()];

    assert.deepEqual(readers, [second.reader]);
    assert.deepEqual(answers.map(statusOf), [200, 200]);
  },
);

deepTest(
  "an upload whose process is killed while it arrives is read when it is complete",
  options,
  async (t) => {
    const service = await startWatched(t);

    const { upload, reader } = await service.beginEarly(largeDriver());
    process.kill(reader, "SIGKILL");
    const answer = await upload.finish();

    assert.equal(statusOf(answer), 200);
  },
);

deepTest("a process that ends while it inspects what it read before is no verdict", options, async (t) => {
  const children = watchChildren();
  const service = await startWatched(t);
  const models = Array.from({ length: 150_000 }, (_, i) => `Papyrus ${i}`);
  const { upload, reader } = await service.beginEarly(driverZip({ models, extra: [filler] }));

  const answer = upload.finish();
  await until(() => {
    const peakMb = children().find(({ id }) => id === reader)?.peakMb ?? 0;
    return peakMb > 110;
  });
  process.kill(reader, "SIGKILL");

  assert.equal(statusOf(await answer), 200);
});

const filler = { name: "large.bin", bytes: Buffer.alloc(4 * mebi, "x"), method: 0 };

deepTest("what needs too much memory is refused in the same words", options, async (t) => {
  const service = await startWatched(t, { heapMb: 48, timeMs: 100_000 });
  const lines = Array.from({ length: 180_000 }, (_, i) => `"Papyrus model ${i} ${"x".repeat(40)}"=I${i}`);
  const bytes = `[Version]\nClass=Printer\n[Manufacturer]\nX=M,NTamd64\n[M.NTamd64]\n${lines.join("\n")}`;

  const { upload } = await service.beginEarly(makeZip([filler, { name: "a.inf", bytes }]));
  const answer = await upload.finish();

  assert.equal(statusOf(answer), 422);
  assert.match(answer, /more memory than a driver/);
  await nothingIsLeft(service);
});

deepTest("the time that an inspection has begins when the upload is complete", options, async (t) => {
  const service = await startWatched(t, { timeMs: 1500 });

  const { upload } = await service.beginEarly(largeDriver());
  await new Promise((resolve) => setTimeout(resolve, 2000));
  const answer = await upload.finish();

  assert.equal(statusOf(answer), 200);
});

deepTest("what takes too long is refused in the same words", options, async (t) => {
  const service = await startWatched(t, { timeMs: 1 });
  const models = Array.from({ length: 20_000 }, (_, i) => `Papyrus ${i}`);

  const { upload } = await service.beginEarly(driverZip({ models, extra: [filler] }));
  const answer = await upload.finish();

  assert.equal(statusOf(answer), 422);
  assert.match(answer, /takes too long to read/);
  await nothingIsLeft(service);
});

deepTest("a damaged file that was read while it arrived is refused in the same words", options, async (t) => {
  const service = await startWatched(t);
  const zip = driverZip({
    extra: [filler, { name: "bad.dll", bytes: "abc", crc: 1 }, { ...filler, name: "2.bin" }],
  });

  const { upload } = await service.beginEarly(zip, 5 * mebi);
  const answer = await upload.finish();

  assert.equal(statusOf(answer), 422);
  assert.match(Buffer.from(answer, "latin1").toString(), /“bad\.dll” does not match its checksum/);
});

deepTest("the end of the service ends what is read while it arrives", options, async (t) => {
  const service = await startWatched(t);

  await service.beginEarly(largeDriver());
  await service.stop();

  await until(() => service.readers().length === 0);
});
