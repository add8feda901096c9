// Measures this version, and another one with BASELINE=/path/of/another/platen.cjs, in turn: pages with few and many printers,
// 50 pages at once, imports, uploads and packages of 150 MB and 1.2 GB, 200 PCs at once, start and memory.
import { createCipheriv, createHash, createHmac } from "node:crypto";
import { cpSync } from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { client, navigation } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { previewFieldsIn } from "../support/printers/lists.ts";
import {
  download,
  folder,
  healthDuring,
  mebi,
  median,
  memory,
  printerFields,
  processorMs,
  report,
  type Service,
  sleep,
  startService,
  times,
  upload,
  waits,
  waitUntilIdle,
  writeDriver,
} from "./measure.ts";

const counts = [10, 400, 10_000];
const pcs = 200;
const { BASELINE } = process.env;
const versions: readonly (string | undefined)[] =
  BASELINE === undefined ? [undefined] : [BASELINE, undefined];

/** Figures by name of the measurement, one for each version. */
const figures = new Map<string, string[]>();
const record = (what: string, value: string) => figures.set(what, [...(figures.get(what) ?? []), value]);
const text = (...ms: (readonly number[])[]) =>
  ms.map((values) => `${median(values).toFixed(1)} ms`).join(", ");

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** Creates a data folder with this many printers, with the first version. @returns its name */
async function fill(count: number): Promise<string> {
  const name = `filled-${count}`;
  const service = await startService(versions[0], name);
  const { addDriver, post } = client(service.url);
  for (let i = 1; i <= 12; i++)
    await addDriver(driverZip({ models: [`Papyrus ${i}00 PCL6`, `Papyrus ${i}00 PS`] }));
  for (let i = 1; i <= 40; i++) await post("/clients", { name: `Client & Sons ${i}` });
  for (let first = 0; first < count; first += 250)
    await Promise.all(
      Array.from({ length: Math.min(250, count - first) }, (_, i) =>
        post("/printers", printerFields(first + i), navigation),
      ),
    );
  await service.stop();
  return name;
}

const paths = [
  ...[
    "/",
    "/printers",
    "/printers/3",
    "/printers/3/edit",
    "/clients/4",
    "/drivers/4",
    "/packages",
    "/search?q=floor",
  ],
  ...["/printers/3/publish", "/publish", "/printers/3/scripts/install"],
];

async function measurePages(count: number): Promise<void> {
  const filled = await fill(count);
  const services: Service[] = [];
  for (const [i, script] of versions.entries()) {
    const data = `${filled}-${i}`;
    cpSync(join(folder, filled), join(folder, data), { recursive: true });
    // The first start of another version may migrate the database.
    await (await startService(script, data)).stop();
    const started = await times(1, async () => services.push(await startService(script, data)));
    record(`${count} printers: start`, text(started));
  }
  for (const service of services)
    record(`${count} printers: memory after the start`, `${memory(service.process).now.toFixed(0)} MiB`);
  // Pages of a few milliseconds need more rounds. The first ones let V8 compile the code.
  const rounds = count > 1000 ? 11 : 51;
  for (const path of paths) {
    const found = services.map((service) => ({ service, ms: [], repeated: [], cpu: [] }));
    for (let round = -5; round < rounds; round++)
      for (const one of found) await measurePage(one, path, round);
    for (const { ms, repeated, cpu } of found)
      record(`${count} printers: \`${path}\``, text(ms, repeated, cpu));
  }
  for (const service of services) {
    // All URLs differ, so that every record is read again.
    const urls = Array.from(
      { length: 50 },
      (_, i) => `${service.url}/printers/${1 + (i % Math.min(count, 50))}?n=${i}`,
    );
    const all = () => Promise.all(urls.map((url) => download(url, agent)));
    const refused = (await all()).filter(({ status }) => status !== 200).length;
    record(`${count} printers: 50 pages at once`, `${text(await times(5, all))}, ${refused} refused`);
    await measureImport(service, `${count} printers: 1,000 more`);
    record(`${count} printers: peak memory`, `${memory(service.process).peak.toFixed(0)} MiB`);
    await service.stop();
  }
}

interface PageTimes {
  readonly service: Service;
  /** Milliseconds after a write, without one, and processor time after a write. */
  readonly ms: number[];
  readonly repeated: number[];
  readonly cpu: number[];
}

/** Measures a page after a write, which invalidates cached lists, and again without a write. */
async function measurePage(
  { service, ms, repeated, cpu }: PageTimes,
  path: string,
  round: number,
): Promise<void> {
  // As a browser without scripts does: the response is a redirect, so the write renders no page.
  await client(service.url).post(
    "/printers/5",
    { ...printerFields(4), comment: `${path} ${round}` },
    navigation,
  );
  await download(`${service.url}/health`);
  await sleep(20);
  const before = processorMs(service.process);
  const first = await download(service.url + path, agent);
  const used = processorMs(service.process) - before;
  const again = await download(service.url + path, agent);
  if (round < 0) return;
  ms.push(first.ms);
  cpu.push(used);
  repeated.push(again.ms);
}

/** Previews and imports 1,000 printers, with the delay of other requests meanwhile. */
async function measureImport({ url }: Service, what: string): Promise<void> {
  const { post } = client(url);
  const rows = Array.from({ length: 1000 }, (_, i) => `New ${i},Client & Sons 3,10.9.${i >> 8}.${i & 255}`);
  let fields: Record<string, string> = {};
  let previewed: number[] = [];
  let imported: number[] = [];
  const health = await healthDuring(url, async () => {
    previewed = await times(1, async () => {
      const answer = await post("/import/preview", { text: ["name,client,address", ...rows].join("\n") });
      fields = previewFieldsIn(await answer.text());
    });
    imported = await times(1, () => post("/import", fields, navigation));
  });
  record(`${what}: preview, import; /health`, `${text(previewed, imported)}; ${waits(health)}`);
}

/** The minimum work for a package, on one thread over the same bytes. */
function floor(inner: Buffer): void {
  const cipher = createCipheriv("aes-256-cbc", Buffer.alloc(32), Buffer.alloc(16));
  const [hmac, hash, copy] = [createHmac("sha256", "key"), createHash("sha256"), Buffer.alloc(mebi + 16)];
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

async function measurePackages(size: "usual" | "large", rounds: number): Promise<void> {
  const path = writeDriver(size);
  const what = size === "usual" ? "150 MB" : "1.2 GB";
  for (const [i, script] of versions.entries()) {
    const service = await startService(script, `${size}-${i}`);
    const { post, addPrinter } = client(service.url);
    const address = (format: string) => `${service.url}/printers/1/packages/${format}`;
    const idle = memory(service.process).now;
    let uploaded: number[] = [];
    const health = await healthDuring(service.url, async () => {
      uploaded = await times(1, () => upload(service.url, path));
    });
    record(`upload of ${what}; /health`, `${text(uploaded)}; ${waits(health)}`);
    await addPrinter({ driver_id: "1" });
    await waitUntilIdle(service.process);
    const inner = Buffer.from(await (await fetch(address("rmm"))).arrayBuffer());
    const ms = {
      floor: [] as number[],
      byte: [] as number[],
      first: [] as number[],
      again: [] as number[],
      rmm: [] as number[],
    };
    for (let round = 0; round < rounds; round++) {
      await post("/printers/1", {
        name: "Office",
        address: "10.0.0.9",
        driver_id: "1",
        comment: `round ${round}`,
      });
      ms.floor.push(...(await times(1, () => floor(inner))));
      const first = await download(address("mdm"));
      ms.first.push(first.ms);
      ms.byte.push(first.firstByteMs);
      ms.again.push((await download(address("mdm"))).ms);
      ms.rmm.push((await download(address("rmm"))).ms);
    }
    const ratio = (median(ms.first) / median(ms.floor)).toFixed(2);
    record(
      `mdm of ${what}: first byte, first time, again`,
      `${text(ms.byte, ms.first, ms.again)}; ${ratio} × floor`,
    );
    record(`rmm of ${what}`, text(ms.rmm));
    if (size === "usual") await measurePcs(address("rmm"));
    const { peak } = memory(service.process);
    record(`${what}: memory idle, peak`, `${idle.toFixed(0)}, ${peak.toFixed(0)} MiB`);
    await service.stop();
  }
}

async function measurePcs(url: string): Promise<void> {
  let refused = 0;
  const took = await times(1, async () => {
    const all = await Promise.all(Array.from({ length: pcs }, () => download(url, new Agent())));
    refused = all.filter(({ status }) => status !== 200).length;
  });
  record(`rmm of 150 MB, ${pcs} PCs at once`, `${text(took)}, ${refused} refused`);
}

async function main(): Promise<void> {
  for (const count of counts) await measurePages(count);
  await measurePackages("usual", 5);
  await measurePackages("large", 3);
  agent.destroy();
  report("Versions side by side. Pages: after a write, again, and processor time after a write", [
    ["what", ...(BASELINE === undefined ? ["now"] : ["before", "now"])],
    ...[...figures].map(([what, row]) => [what, ...row]),
  ]);
}

void main();
