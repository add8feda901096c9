import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { checkEntry, readArchive } from "../../src/pkg/zip/archive.ts";
import { openSourceBlocking } from "../../src/store/files.ts";
import { driverFile, largeFile } from "./driver-files.ts";
import { machine, median, percentile, table, times } from "./figures.ts";
import { folder, healthDuring, memory, startService, upload, waitUntilIdle } from "./service.ts";

// Measures uploads over loopback with curl. BASELINE=…/platen.cjs is measured too, alternating with this version.

const rounds = 9;
const wantedSpeed = 150;

interface Measured {
  readonly name: string;
  readonly service: Awaited<ReturnType<typeof startService>>;
  readonly newMs: number[];
  readonly knownMs: number[];
  readonly largeMs: number[];
  readonly latencies: number[];
}

async function start(name: string, script?: string): Promise<Measured> {
  const service = await startService(script, name);
  return { name, service, newMs: [], knownMs: [], largeMs: [], latencies: [] };
}

/** Uploads a file, and deletes the driver after the background work. */
async function uploadNew({ service }: Measured, path: string, ms: number[]): Promise<void> {
  let id = "";
  ms.push(...(await times(1, async () => (id = await upload(service.url, path)))));
  await deleteDriver(service, id);
}

async function deleteDriver({ url, process: running }: Measured["service"], id: string): Promise<void> {
  await waitUntilIdle(running);
  await fetch(`${url}/drivers/${id}`, { method: "DELETE" });
}

/** Measures /health during an upload. The upload's own time does not count, because the requests take processor time. */
async function uploadWatched({ service, latencies }: Measured, path: string): Promise<void> {
  let id = "";
  latencies.push(
    ...(await healthDuring(service.url, async () => {
      id = await upload(service.url, path);
    })),
  );
  await deleteDriver(service, id);
}

/** A server that reads and discards requests. */
async function plainServer(): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    request.on("data", () => {}).on("end", () => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

/** The minimum work for an upload, on one thread. */
async function checkAll(path: string): Promise<void> {
  const source = openSourceBlocking(path);
  for (const entry of (await readArchive(source)).entries) await checkEntry(source, entry, 0);
  source.close();
}

/** Copies the file to the disk and syncs it. */
function writeAndSync(path: string): void {
  spawnSync("dd", [`if=${path}`, `of=${folder}/copy`, "bs=1M", "conv=fsync"], { stdio: "ignore" });
}

/** The parts of an upload, measured alone: milliseconds of each round. */
interface Parts {
  readonly receive: number[];
  readonly hash: number[];
  readonly disk: number[];
  readonly check: number[];
}

async function measureParts(path: string, plainUrl: string, parts: Parts): Promise<void> {
  const bytes = readFileSync(path);
  parts.receive.push(...(await times(1, () => upload(plainUrl, path))));
  parts.hash.push(...(await times(1, () => createHash("sha256").update(bytes).digest())));
  parts.disk.push(...(await times(1, () => writeAndSync(path))));
  parts.check.push(...(await times(1, () => checkAll(path))));
}

async function measureVersions(path: string, versions: readonly Measured[]): Promise<Parts> {
  const parts: Parts = { receive: [], hash: [], disk: [], check: [] };
  const plain = await plainServer();
  for (let i = 0; i <= rounds; i++) {
    await measureParts(path, plain.url, parts);
    // The first round does not count: V8 compiles code.
    for (const version of versions) await uploadNew(version, path, i === 0 ? [] : version.newMs);
  }
  plain.close();
  for (const version of versions) {
    const { url, process: running } = version.service;
    for (let i = 0; i < 3; i++) await uploadWatched(version, path);
    await upload(url, path);
    await waitUntilIdle(running);
    version.knownMs.push(...(await times(3, () => upload(url, path))));
  }
  return parts;
}

const ms = (values: readonly number[]) => `${median(values).toFixed(0)} ms`;

function speed(values: readonly number[], bytes: number): string {
  const perSecond = (milliseconds: number) => (bytes / 1000 / milliseconds).toFixed(0);
  return `${ms(values)}, ${perSecond(median(values))} MB/s (quickest ${perSecond(Math.min(...values))})`;
}

async function main(): Promise<void> {
  const path = driverFile();
  const versions = [await start("this version")];
  const { BASELINE } = process.env;
  if (BASELINE !== undefined) versions.push(await start("the version before", BASELINE));
  const parts = await measureVersions(path, versions);
  const peaks = versions.map(({ service }) => memory(service.process).peak);
  const large = largeFile();
  for (let i = 0; i < 3; i++)
    for (const version of versions) await uploadNew(version, large, version.largeMs);

  const { size } = statSync(path);
  console.log(`\n## Uploads (${machine()}): ${(size / 1e6).toFixed(0)} MB, medians of ${rounds}\n`);
  const rows = [
    ["what", "figure", "wanted"],
    ["sent by curl, received by Node and discarded", ms(parts.receive), ""],
    ["SHA-256, one thread", ms(parts.hash), ""],
    ["copied to the disk and synced (dd)", ms(parts.disk), ""],
    ["unpacked and its checksums compared, one thread", ms(parts.check), ""],
  ];
  for (const [i, { name, service, newMs, knownMs, largeMs, latencies }] of versions.entries()) {
    const waits = [0.5, 0.99, 1].map((part) => percentile(latencies, part).toFixed(1));
    const highest = [peaks[i] ?? 0, memory(service.process).peak].map((peak) => peak.toFixed(0));
    rows.push(
      [`**${name}**: upload of a new driver`, speed(newMs, size), `≥ ${wantedSpeed} MB/s`],
      ["upload of a known driver", speed(knownMs, size), ""],
      ["upload of 1.2 GB, uncompressed", speed(largeMs, statSync(large).size), ""],
      [`/health meanwhile: p50, p99, longest of ${latencies.length}`, `${waits.join(", ")} ms`, "p99 < 50"],
      ["peak memory, after each of the two drivers", `${highest.join(" and ")} MiB`, ""],
    );
  }
  table(rows);
  for (const { service } of versions) service.process.kill();
}

void main();
