import { createCipheriv, createHash, createHmac } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { crc32, deflateRawSync, inflateRawSync } from "node:zlib";
import { readArchive } from "../../src/pkg/zip/archive.ts";
import { openSource } from "../../src/store/files.ts";
import { client } from "../support/app.ts";
import { driverFile, largeFile } from "./driver-files.ts";
import { machine, median, percentile, table, times } from "./figures.ts";
import {
  download,
  firstByte,
  healthDuring,
  memory,
  startService,
  upload,
  waitUntilIdle,
  writeWhole,
} from "./service.ts";

const mebi = 2 ** 20;
const runs = 7;

/** The minimum work for a package, on one thread over the same bytes. */
function floor(inner: Buffer): void {
  const cipher = createCipheriv("aes-256-cbc", Buffer.alloc(32), Buffer.alloc(16));
  const hmac = createHmac("sha256", "key");
  const hash = createHash("sha256");
  const copy = Buffer.alloc(mebi + 16);
  let crc = 0;
  for (let at = 0; at < inner.length; at += mebi) {
    const plain = inner.subarray(at, at + mebi);
    const encrypted = cipher.update(plain);
    hash.update(plain);
    hmac.update(encrypted);
    crc = crc32(encrypted, crc);
    encrypted.copy(copy);
  }
  hmac.digest();
  hash.digest();
}

/** The work of other tools: unpacks every file and compresses it again. */
async function recompress(path: string): Promise<void> {
  const source = await openSource(path);
  for (const entry of (await readArchive(source)).entries) {
    const packed = await source.read(entry.dataOffset, entry.compressedSize);
    deflateRawSync(entry.method === 8 ? inflateRawSync(packed) : packed, { level: 6 });
  }
  await source.close();
}

/** A minimal Node server for one file. */
async function plainServer(path: string): Promise<{ url: string; close: () => void }> {
  const server = createServer((_, response) => {
    response.setHeader("Content-Length", statSync(path).size);
    createReadStream(path, { highWaterMark: mebi }).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

type Requests = ReturnType<typeof client>;

/** Milliseconds by name of the work. */
class Timings {
  readonly #times = new Map<string, number[]>();

  async measure(name: string, work: () => unknown): Promise<void> {
    this.add(name, ...(await times(1, work)));
  }

  add(name: string, ...milliseconds: number[]): void {
    this.#times.set(name, [...this.all(name), ...milliseconds]);
  }

  all(name: string): number[] {
    return this.#times.get(name) ?? [];
  }

  ms(name: string): string {
    return `${median(this.all(name)).toFixed(0)} ms`;
  }

  ratio(name: string, to: string): string {
    return (median(this.all(name)) / median(this.all(to))).toFixed(2);
  }
}

/** Measures one printer. It is changed before every first download, so that its package is new. */
async function measureOne(service: { url: string }, requests: Requests, id: number): Promise<Timings> {
  const found = new Timings();
  const address = (format: string) => `${service.url}/printers/${id}/packages/${format}`;
  const change = (comment: string) =>
    requests.post(`/printers/${id}`, { name: "Office", address: "10.0.0.9", driver_id: "1", comment });
  const inner = Buffer.from(await (await fetch(address("rmm"))).arrayBuffer());
  const plain = await plainServer(writeWhole("plain.zip", inner));
  for (let i = 0; i < runs; i++) {
    await found.measure("floor", () => floor(inner));
    await change(`run ${i}`);
    await found.measure("first", () => download(address("mdm")));
    await found.measure("again", () => download(address("mdm")));
    await change(`first byte ${i}`);
    found.add("first byte", await firstByte(address("mdm")));
    await found.measure("rmm", () => download(address("rmm")));
    await found.measure("plain", () => download(plain.url));
  }
  plain.close();
  found.add("bytes", inner.length);
  return found;
}

async function main(): Promise<void> {
  const path = driverFile();
  // Created before the service starts: it takes so long that a connection would time out.
  const largePath = largeFile();
  const idleStart = performance.now();
  const service = await startService();
  const startMs = performance.now() - idleStart;
  const idle = memory(service.process).now;
  const requests = client(service.url);
  const id = await requests.addPrinter({ driver_id: await upload(service.url, path) });
  await waitUntilIdle(service.process);
  const one = await measureOne(service, requests, id);
  const bytes = median(one.all("bytes"));

  const many: number[] = [];
  for (let i = 0; i < 30; i++) many.push(await requests.addPrinter({ name: `Printer ${i}`, driver_id: "1" }));
  await one.measure("thirty", async () => {
    for (const printer of many) await download(`${service.url}/printers/${printer}/packages/mdm`);
  });
  const othersMs = await times(1, () => recompress(path));
  const small = memory(service.process);

  const largeDriver = await upload(service.url, largePath);
  const largeId = await requests.addPrinter({ name: "Large", driver_id: largeDriver });
  await waitUntilIdle(service.process);
  const afterUpload = memory(service.process);
  const largeAddress = `${service.url}/printers/${largeId}/packages/mdm`;
  const largeInner = Buffer.from(
    await (await fetch(`${service.url}/printers/${largeId}/packages/rmm`)).arrayBuffer(),
  );
  const large = new Timings();
  for (let i = 0; i < 3; i++) {
    await large.measure("floor", () => floor(largeInner));
    const fields = { name: "Large", driver_id: largeDriver, comment: `run ${i}`, address: "10.0.0.9" };
    await requests.post(`/printers/${largeId}`, fields);
    await large.measure("first", () => download(largeAddress));
  }
  const latencies = await healthDuring(service.url, () =>
    large.measure("parallel", () => Promise.all([1, 2, 3, 4].map(() => download(largeAddress)))),
  );
  const last = memory(service.process);
  service.process.kill();

  const size = `${(bytes / mebi).toFixed(0)} MiB`;
  console.log(`\n## Packages (${machine()})\n`);
  const perPrinter = `${(median(one.all("thirty")) / 30 / median(one.all("floor"))).toFixed(2)} × floor each`;
  const rate = `${(bytes / 1e6 / median(one.all("rmm"))).toFixed(2)} GB/s`;
  table([
    ["what", "figure", "ratio", "wanted"],
    [`floor: AES + SHA-256 + HMAC + CRC + copy over ${size}, one thread`, one.ms("floor"), "1", ""],
    ["mdm of any printer of a known driver, first byte", one.ms("first byte"), "", "≤ 20 ms"],
    ["mdm, whole request, first time", one.ms("first"), `${one.ratio("first", "floor")} × floor`, "≤ 0.8"],
    ["mdm, whole request, again", one.ms("again"), `${one.ratio("again", "floor")} × floor`, ""],
    ["mdm of thirty printers of one driver, one by one", one.ms("thirty"), perPrinter, "≤ 0.8"],
    [
      "rmm, whole request",
      `${one.ms("rmm")}, ${rate}`,
      `${one.ratio("rmm", "plain")} × plain`,
      "≤ 2, or ≥ 1 GB/s",
    ],
    ["the same file, served plainly by Node", one.ms("plain"), "1 × plain", ""],
    ["floor over 1.2 GB", large.ms("floor"), "1", ""],
    [
      "mdm of 1.2 GB, whole request, first time",
      large.ms("first"),
      `${large.ratio("first", "floor")} × floor`,
      "≤ 0.8",
    ],
    ["four downloads of 1.2 GB at once", large.ms("parallel"), "", ""],
    [
      `/health meanwhile, p50 and p99 of ${latencies.length}`,
      `${percentile(latencies, 0.5).toFixed(1)} and ${percentile(latencies, 0.99).toFixed(1)} ms`,
      "",
      "p99 < 50",
    ],
    ["other tools: unpack and compress again (zlib 6)", `${median(othersMs).toFixed(0)} ms`, "", ""],
    ["start until it listens", `${startMs.toFixed(0)} ms`, "", ""],
    ["memory idle", `${idle.toFixed(0)} MiB`, "", ""],
    [`peak memory, ${size}`, `${small.peak.toFixed(0)} MiB`, "", "≤ 115"],
    ["peak memory, after an upload of 1.2 GB", `${afterUpload.peak.toFixed(0)} MiB`, "", "≤ 115"],
    ["peak memory, four downloads of 1.2 GB at once", `${last.peak.toFixed(0)} MiB`, "", "≤ 115"],
  ]);
}

void main();
