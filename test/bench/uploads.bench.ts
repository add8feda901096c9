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

// Uploads over loopback, by curl on the same machine. BASELINE=…/platen.cjs is measured beside this version, in turn.

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

/** Uploads a file, and forgets it again when all is done that follows. */
async function uploadNew({ service, latencies }: Measured, path: string, ms: number[]): Promise<void> {
  const { url } = service;
  let id = "";
  const waits = await healthDuring(url, async () => {
    ms.push(...(await times(1, async () => (id = await upload(url, path)))));
  });
  latencies.push(...waits);
  await waitUntilIdle(service.process);
  await fetch(`${url}/drivers/${id}`, { method: "DELETE" });
}

/** A server that reads a request and does nothing with it. */
async function plainServer(): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    request.on("data", () => {}).on("end", () => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

/** What no upload can do without, in one thread. */
async function checkAll(path: string): Promise<void> {
  const source = openSourceBlocking(path);
  for (const entry of (await readArchive(source)).entries) await checkEntry(source, entry, 0);
  await source.close();
}

/** How long the disk takes for as many bytes, with nothing else to do. */
function writeAndSync(path: string): void {
  spawnSync("dd", [`if=${path}`, `of=${folder}/copy`, "bs=1M", "conv=fsync"], { stdio: "ignore" });
}

async function main(): Promise<void> {
  const path = driverFile();
  const bytes = readFileSync(path);
  const plain = await plainServer();
  const baseline = process.env.BASELINE;
  const versions = [await start("this version")];
  if (baseline !== undefined) versions.push(await start("the version before", baseline));
  const parts = {
    receive: [] as number[],
    hash: [] as number[],
    disk: [] as number[],
    check: [] as number[],
  };
  for (let i = 0; i < rounds; i++) {
    parts.receive.push(...(await times(1, () => upload(plain.url, path))));
    parts.hash.push(...(await times(1, () => createHash("sha256").update(bytes).digest())));
    parts.disk.push(...(await times(1, () => writeAndSync(path))));
    parts.check.push(...(await times(1, () => checkAll(path))));
    for (const version of versions) await uploadNew(version, path, version.newMs);
  }
  plain.close();
  for (const version of versions) {
    const { url, process: running } = version.service;
    await upload(url, path);
    await waitUntilIdle(running);
    version.knownMs.push(...(await times(3, () => upload(url, path))));
  }
  const peaks = versions.map(({ service }) => memory(service.process).peak);
  const large = largeFile();
  for (let i = 0; i < 3; i++)
    for (const version of versions) await uploadNew(version, large, version.largeMs);

  const megabytes = bytes.length / 1e6;
  const ms = (values: readonly number[]) => `${median(values).toFixed(0)} ms`;
  const speed = (values: readonly number[], size = megabytes) =>
    `${median(values).toFixed(0)} ms, ${((size / median(values)) * 1000).toFixed(0)} MB/s`;
  console.log(`\n## Uploads (${machine()}): ${megabytes.toFixed(0)} MB, medians of ${rounds}\n`);
  const rows = [
    ["what", "figure", "wanted"],
    ["sent by curl, received by Node and thrown away", ms(parts.receive), ""],
    ["SHA-256, one thread", ms(parts.hash), ""],
    ["copied to the disk and synced (dd)", ms(parts.disk), ""],
    ["unpacked and its checksums compared, one thread", ms(parts.check), ""],
  ];
  for (const [i, { name, service, newMs, knownMs, largeMs, latencies }] of versions.entries()) {
    const wanted = i === 0 ? `≥ ${wantedSpeed} MB/s` : "";
    const waits = [0.5, 0.99, 1].map((share) => percentile(latencies, share).toFixed(1));
    rows.push(
      [`**${name}**: upload of a new driver`, speed(newMs), wanted],
      ["upload of a known one", speed(knownMs), ""],
      ["upload of 1.2 GB, stored", speed(largeMs, statSync(large).size / 1e6), ""],
      [`/health meanwhile: p50, p99, longest of ${latencies.length}`, `${waits.join(", ")} ms`, "p99 < 50"],
      [
        `memory at its highest, ${megabytes.toFixed(0)} MB and 1.2 GB`,
        `${peaks[i]?.toFixed(0)} and ${memory(service.process).peak.toFixed(0)} MiB`,
        "",
      ],
    );
  }
  table(rows);
  for (const { service } of versions) service.process.kill();
}

void main();
