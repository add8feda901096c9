import { createCipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { crc32, deflateRawSync, inflateRawSync } from "node:zlib";
import { readArchive } from "../../src/pkg/zip/archive.ts";
import { openSource } from "../../src/store/files.ts";
import { client } from "../support/app.ts";
import { printerInf } from "../support/driver-zip.ts";
import { makeZip, type ZipPart } from "../support/zip.ts";
import { machine, median, percentile, table, times } from "./figures.ts";
import { download, healthDuring, memory, startService, upload, writeWhole } from "./service.ts";

const mebi = 2 ** 20;

/** A driver of about 148 MB packed and 262 MB unpacked, in 320 files. */
function driverFile(): string {
  const parts: ZipPart[] = [
    { name: "papyrus.inf", bytes: printerInf() },
    { name: "papyrus.cat", bytes: randomBytes(20_000) },
  ];
  parts.push({ name: "papyrus.dll", bytes: "x" });
  for (let i = 0; i < 320; i++)
    parts.push({ name: `files/f${i}.dll`, bytes: halfRandom(820_000 + ((i * 7919) % 3000)) });
  return writeWhole("driver.zip", makeZip(parts));
}

function halfRandom(size: number): Buffer {
  const bytes = Buffer.alloc(size, "The quick brown fox. ");
  for (let at = 0; at < size; at += 64) randomBytes(35).copy(bytes, at);
  return bytes;
}

/** A driver of 1.2 GB in stored entries. */
function largeFile(): string {
  const bytes = randomBytes(30 * mebi);
  const parts: ZipPart[] = [
    { name: "papyrus.inf", bytes: printerInf() },
    { name: "papyrus.cat", bytes: "c" },
    { name: "papyrus.dll", bytes: "x" },
  ];
  for (let i = 0; i < 40; i++) parts.push({ name: `files/f${i}.bin`, bytes, method: 0 });
  return writeWhole("large.zip", makeZip(parts));
}

/** What no package can do without: one thread over the same bytes. */
function floor(inner: Buffer): void {
  const cipher = createCipheriv("aes-256-cbc", Buffer.alloc(32), Buffer.alloc(16));
  const hmac = createHmac("sha256", "key");
  const hash = createHash("sha256");
  const copy = Buffer.alloc(mebi + 16);
  let crc = 0;
  for (let at = 0; at < inner.length; at += mebi) {
    const plain = inner.subarray(at, at + mebi);
    const sealed = cipher.update(plain);
    hash.update(plain);
    hmac.update(sealed);
    crc = crc32(sealed, crc);
    sealed.copy(copy);
  }
  hmac.digest();
  hash.digest();
}

/** What others do: unpack every file and compress it again. */
async function recompress(path: string): Promise<void> {
  const source = await openSource(path);
  for (const entry of (await readArchive(source)).entries) {
    const packed = await source.read(entry.dataOffset, entry.compressedSize);
    deflateRawSync(entry.method === 8 ? inflateRawSync(packed) : packed, { level: 6 });
  }
  await source.close();
}

/** Node serving a file as plainly as it can. */
async function plainServer(path: string): Promise<{ url: string; close: () => void }> {
  const server = createServer((_, response) => {
    response.setHeader("Content-Length", statSync(path).size);
    createReadStream(path, { highWaterMark: mebi }).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

async function main(): Promise<void> {
  const path = driverFile();
  const idleStart = performance.now();
  const service = await startService();
  const startMs = performance.now() - idleStart;
  const idle = memory(service.process).now;
  const { addPrinter, post } = client(service.url);
  const id = await addPrinter({ driver_id: await upload(service.url, path) });
  const address = (format: string) => `${service.url}/printers/${id}/packages/${format}`;
  const inner = Buffer.from(await (await fetch(address("rmm"))).arrayBuffer());
  const plainPath = writeWhole("plain.zip", inner);
  const plain = await plainServer(plainPath);

  const floorMs: number[] = [];
  const firstMs: number[] = [];
  const secondMs: number[] = [];
  const rmmMs: number[] = [];
  const plainMs: number[] = [];
  for (let i = 0; i < 7; i++) {
    floorMs.push(...(await times(1, () => floor(inner))));
    await post(`/printers/${id}`, {
      name: "Office",
      address: "10.0.0.9",
      driver_id: "1",
      comment: `run ${i}`,
    });
    firstMs.push(...(await times(1, () => download(address("mdm")))));
    secondMs.push(...(await times(1, () => download(address("mdm")))));
    rmmMs.push(...(await times(1, () => download(address("rmm")))));
    plainMs.push(...(await times(1, () => download(plain.url))));
  }
  const othersMs = await times(1, () => recompress(path));
  const small = memory(service.process);
  plain.close();

  const largeId = await addPrinter({ name: "Large", driver_id: await upload(service.url, largeFile()) });
  const afterUpload = memory(service.process);
  const parallelMs: number[] = [];
  const latencies = await healthDuring(service.url, async () => {
    const path = `${service.url}/printers/${largeId}/packages/mdm`;
    parallelMs.push(...(await times(1, () => Promise.all([1, 2, 3, 4].map(() => download(path))))));
  });
  const large = memory(service.process);
  service.process.kill();

  const ms = (values: readonly number[]) => `${median(values).toFixed(0)} ms`;
  const ratio = (values: readonly number[], to: readonly number[]) =>
    (median(values) / median(to)).toFixed(2);
  const size = `${(inner.length / mebi).toFixed(0)} MiB`;
  console.log(`\n## Packages (${machine()})\n`);
  table([
    ["what", "figure", "ratio", "wanted"],
    [`floor: AES + SHA-256 + HMAC + CRC + copy over ${size}, one thread`, ms(floorMs), "1", ""],
    ["mdm, whole request, first time", ms(firstMs), `${ratio(firstMs, floorMs)} × floor`, "≤ 1.5"],
    ["mdm, whole request, again", ms(secondMs), `${ratio(secondMs, floorMs)} × floor`, "≤ 1"],
    [
      "rmm, whole request",
      `${ms(rmmMs)}, ${(inner.length / 1e6 / median(rmmMs)).toFixed(2)} GB/s`,
      `${ratio(rmmMs, plainMs)} × plain`,
      "≤ 2, or ≥ 1 GB/s",
    ],
    ["the same file, served plainly by Node", ms(plainMs), "1 × plain", ""],
    [
      "what others do: unpack and compress again (zlib 6)",
      ms(othersMs),
      `${ratio(othersMs, firstMs)} × mdm`,
      "",
    ],
    ["start until it listens", `${startMs.toFixed(0)} ms`, "", ""],
    ["memory idle", `${idle.toFixed(0)} MiB`, "", ""],
    [`memory at its highest, ${size}`, `${small.peak.toFixed(0)} MiB`, "", "≤ 120"],
    ["memory at its highest, after an upload of 1.2 GB", `${afterUpload.peak.toFixed(0)} MiB`, "", ""],
    ["memory at its highest, four downloads of 1.2 GB at once", `${large.peak.toFixed(0)} MiB`, "", "≤ 120"],
    ["four downloads of 1.2 GB at once", ms(parallelMs), "", ""],
    [
      `/health meanwhile, p50 and p99 of ${latencies.length}`,
      `${percentile(latencies, 0.5).toFixed(1)} and ${percentile(latencies, 0.99).toFixed(1)} ms`,
      "",
      "p99 < 50",
    ],
  ]);
}

void main();
