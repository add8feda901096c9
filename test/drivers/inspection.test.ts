import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { UserError } from "../../src/domain/errors.ts";
import { inspectFile } from "../../src/services/drivers/inspection-child.ts";
import { inspectionArgument } from "../../src/workers/inspection-process.ts";
import { type InspectionLimits, Inspections, type ReadArchive } from "../../src/workers/inspections.ts";
import { bundle, startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { watchChildren, withoutProc } from "../support/children.ts";
import { deepTest, rounds } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { makeZip, type ZipPart } from "../support/drivers/zip.ts";

const head =
  '[Version]\nSignature="$Windows NT$"\nClass=Printer\n[Manufacturer]\nX=M,NTamd64\n[M.NTamd64]\n"A"=I\n';
const lines = (count: number, line: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => line(i)).join("\n");

const languages = (count: number) =>
  `${head}[I]\nCopyFiles=@a.dll\n[SourceDisksNames]\n1=d,,,%A%\n[SourceDisksFiles]\na.dll=1,%B%\n${lines(count, (i) => `[Strings.${i}]\nA=a${i}\nB=b${i}`)}`;
const models = (count: number) => head + lines(count, (i) => `"Papyrus model ${i} ${"x".repeat(40)}"=I${i}`);
const zipOf = (inf: string | Buffer) => makeZip([{ name: "a.inf", bytes: inf, method: 0 }]);

/** Archives that need much memory, each in another way. */
const largestArchives: Record<string, () => Buffer> = {
  "strings in 8,000 languages": () => zipOf(languages(8000)),
  "two INFs of 180,000 models": () =>
    makeZip(["a.inf", "b.inf"].map((name) => ({ name, bytes: models(180_000) }))),
  "models in UTF-16": () => zipOf(Buffer.from(`\ufeff${models(100_000)}一`, "utf16le")),
  "500,000 decorations": () =>
    zipOf(`[Manufacturer]\nX=M,${lines(490_000, (i) => `NTamd64.${i}`).replaceAll("\n", ",")}`),
  "16 MB of Windows-1252": () => zipOf(Buffer.concat([Buffer.from(head), Buffer.alloc(15 << 20, 0x93)])),
  "500 INFs that use 3,000 files each": () => {
    const used = `${head}[SourceDisksFiles]\n${lines(3000, (i) => `f${i}=1`)}`;
    const infs = Array.from({ length: 500 }, (_, i): ZipPart => ({ name: `${i}.inf`, bytes: used }));
    return makeZip([...infs, ...Array.from({ length: 3000 }, (_, i) => ({ name: `f${i}`, method: 0 }))]);
  },
};

async function archiveOf(t: TestContext, bytes: Buffer) {
  const path = join(await temporaryFolder(t), "driver.zip");
  writeFileSync(path, bytes);
  return { path, size: bytes.length };
}

/** @param readHere reads archives in this process */
function startInspections(t: TestContext, limits: Partial<InspectionLimits> = {}, readHere?: ReadArchive) {
  const inspections = new Inspections(bundle, limits, readHere);
  t.after(() => inspections.close());
  return inspections;
}

for (const [name, make] of Object.entries(largestArchives))
  deepTest(`an inspection of ${name} uses at most 300 MB`, { skip: withoutProc }, async (t) => {
    const inspections = startInspections(t, { timeMs: 300_000 });
    const archive = await archiveOf(t, make());
    const children = watchChildren();
    let peakMb = 0;
    const watch = setInterval(() => {
      for (const child of children()) peakMb = Math.max(peakMb, child.peakMb);
    }, 5);
    t.after(() => clearInterval(watch));

    const answer = await inspections.inspect(archive).catch((error: unknown) => error);

    t.diagnostic(`${Math.round(peakMb)} MB; ${answer instanceof Error ? answer.message : "read"}`);
    assert.ok(!(answer instanceof Error) || answer instanceof UserError, String(answer));
    assert.ok(peakMb > 30 && peakMb <= 300, `${peakMb} MB`);
  });

function assertNothingLeft({ app, dataDir }: TestApp): void {
  assert.equal(app.store.drivers.list().length, 0);
  for (const folder of ["incoming", "drivers"]) assert.deepEqual(readdirSync(join(dataDir, folder)), []);
}

deepTest("an inspection that runs out of memory answers 422, and the service keeps answering", async (t) => {
  const service = await startApp(t, {}, { heapMb: 48, timeMs: 300_000 });
  let isOver = false;
  const dying = service.upload("/drivers/upload", zipOf(models(180_000))).finally(() => {
    isOver = true;
  });

  const health: number[] = [];
  while (!isOver) {
    const since = performance.now();
    assert.equal((await service.fetch("/health")).status, 200);
    health.push(performance.now() - since);
  }

  const answer = await dying;
  assert.equal(answer.status, 422);
  assert.match(await answer.text(), /need too much memory/);
  assert.ok(Math.max(...health) < 2000, `${Math.max(...health)} ms`);
  assertNothingLeft(service);
  assert.ok((await service.addDriver()) > 0);
});

/** Signals children that have begun to read. @returns a function that ends this, and returns how many signals were sent */
function signalReaders(t: TestContext, ...signals: readonly NodeJS.Signals[]): () => number {
  const children = watchChildren();
  let sent = 0;
  const watch = setInterval(() => {
    for (const { id } of children().filter(({ peakMb }) => peakMb > 75))
      process.kill(id, signals[sent++ % signals.length]);
  }, 10);
  t.after(() => clearInterval(watch));
  return () => {
    clearInterval(watch);
    return sent;
  };
}

test("a killed inspection answers 422 and leaves no files", { skip: withoutProc }, async (t) => {
  const service = await startApp(t, { inspection: "process" });
  const sent = signalReaders(t, "SIGKILL");

  const answer = await service.upload("/drivers/upload", zipOf(models(rounds(25_000, 100_000))));

  assert.ok(sent() > 0);
  assert.equal(answer.status, 422);
  assertNothingLeft(service);
  assert.ok((await service.addDriver()) > 0);
});

deepTest(
  "an inspection survives signals of a terminal to all its processes",
  {
    skip: withoutProc,
  },
  async (t) => {
    const inspections = startInspections(t);
    const archive = await archiveOf(t, zipOf(models(rounds(15_000, 50_000))));
    const sent = signalReaders(t, "SIGINT", "SIGTERM");

    const { report } = await inspections.inspect(archive);

    assert.ok(sent() > 0);
    assert.equal(report.infs.length, 1);
  },
);

test("an inspection that takes too long answers 422 and leaves no files", async (t) => {
  const service = await startApp(t, {}, { timeMs: 1 });

  const answer = await service.upload("/drivers/upload", zipOf(models(1000)));

  assert.equal(answer.status, 422);
  assert.match(await answer.text(), /takes too long to read/);
  assertNothingLeft(service);
});

test("an inspection gets one more second for each 32 MB", async (t) => {
  const inspections = startInspections(t, { timeMs: 1 });
  const { path } = await archiveOf(t, driverZip());

  const { report } = await inspections.inspect({ path, size: 60 * 32 * 1024 * 1024 });

  assert.equal(report.infs.length, 1);
});

test("a failure that the archive did not cause is an internal error", async (t) => {
  const { path, size } = await archiveOf(t, driverZip());
  const attempts = [
    new Inspections("/nowhere/platen.cjs").inspect({ path, size }),
    startInspections(t, { heapMb: 1 }).inspect({ path, size }),
    startInspections(t).inspect({ path: `${path}.gone`, size }),
  ];

  const answers = await Promise.allSettled(attempts);

  for (const answer of answers) {
    assert.equal(answer.status, "rejected");
    assert.ok(!(answer.reason instanceof UserError), String(answer.reason));
  }
});

test("few inspections run at once, some wait in order, one client has half of the places, and more are refused as busy", async (t) => {
  const archive = await archiveOf(t, driverZip());
  const rows: [max: number, clients: string[], refused: number][] = [
    [3, ["a", "b", "c", "d"], 3],
    [6, ["greedy", "greedy", "greedy", "greedy", "honest"], 3],
  ];

  for (const [max, clients, refused] of rows) {
    const inspections = startInspections(t, { maxConcurrent: 1, max }, inspectFile);
    const order: number[] = [];

    const answers = await Promise.allSettled(
      clients.map((client, i) => inspections.inspect(archive, client).finally(() => order.push(i))),
    );

    const codes = answers.map((answer) => answer.status === "rejected" && answer.reason.code);
    const places = clients.map((_, i) => i);
    assert.deepEqual([codes.indexOf("busy"), codes.filter(Boolean)], [refused, ["busy"]]);
    assert.deepEqual(order, [refused, ...places.filter((i) => i !== refused)]);
    assert.equal((await inspections.inspect(archive)).report.infs.length, 1, "a place is free again");
  }
});

test("closing ends running and waiting inspections", async (t) => {
  const inspections = startInspections(t, { maxConcurrent: 1 });
  const archive = await archiveOf(t, driverZip());
  const running = Promise.allSettled([inspections.inspect(archive), inspections.inspect(archive)]);

  inspections.close();

  const codes = (await running).map((answer) => (answer as PromiseRejectedResult).reason.code);
  assert.deepEqual(codes, ["busy", "busy"]);
  await assert.rejects(inspections.inspect(archive), { code: "busy" });
});

test("the command line cannot start an inspection process", async () => {
  const run = promisify(execFile)(process.execPath, [bundle, inspectionArgument]);

  await assert.rejects(run, { code: 2, stderr: /unknown command/ });
});
