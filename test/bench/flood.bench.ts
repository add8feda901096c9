// Measures this version, and another one with BASELINE=/path/of/another/platen.cjs, in turn: floods of dear pages and
// publish scripts with 3,000 printers, what another client waits meanwhile, and what goes on after the flood has left.
import { createHash } from "node:crypto";
import { setMaxListeners } from "node:events";
import { cpSync } from "node:fs";
import { Agent, get } from "node:http";
import { join } from "node:path";
import { client, navigation } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { previewFieldsIn } from "../support/printers/lists.ts";
import { folder, memory, percentile, processorMs, report, sleep, startService } from "./measure.ts";

const printers = 3000;
const { BASELINE, ONLY = "/" } = process.env;
const versions: readonly (string | undefined)[] =
  BASELINE === undefined ? [undefined] : [BASELINE, undefined];

/** Each page with the number of requests at once. */
const floods = [
  ["/publish", 40],
  ["/clients/4/publish", 40],
  ["/printers/3/publish", 40],
  ["/printers", 100],
  ["/printers?sort=state", 100],
  ["/", 100],
  ["/packages", 100],
  ["/drivers", 100],
  ["/drivers/4", 100],
  ["/clients/4", 100],
  ["/search?q=floor", 100],
  ["/export/printers.csv", 100],
] as const;

/** Addresses of another client, and the flood's. */
const [other, flooding] = ["127.0.1.1", "127.0.0.1"];

interface Answer {
  readonly status: number;
  readonly ms: number;
  readonly digest: string;
}

/** @param signal breaks the request off @returns undefined for a request that was broken off */
function request(url: string, from: string, signal?: AbortSignal): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    const started = performance.now();
    const agent = new Agent();
    const headers = { Accept: "text/html", "Accept-Encoding": "gzip" };
    get(url, { agent, headers, localAddress: from, ...(signal && { signal }) }, (response) => {
      const hash = createHash("sha256");
      response.on("data", (chunk: Buffer) => hash.update(chunk));
      const end = () => {
        const { statusCode: status = 0, complete } = response;
        resolve(
          complete ? { status, ms: performance.now() - started, digest: hash.digest("hex") } : undefined,
        );
      };
      response.on("close", end).on("error", end);
    }).on("error", () => resolve(undefined));
  });
}

/** Requests a small page as another client while work runs. @returns the longest wait in milliseconds */
async function longestWait(url: string, work: () => Promise<unknown>): Promise<number> {
  let [longest, isDone] = [0, false];
  const watch = (async () => {
    while (!isDone) {
      const started = performance.now();
      await request(`${url}/help`, other);
      longest = Math.max(longest, performance.now() - started);
      await sleep(20);
    }
  })();
  await work();
  isDone = true;
  await watch;
  return longest;
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;

/** Starts the service for each flood, so that nothing is cached. @returns the cells of its row */
async function measureFlood(script: string | undefined, data: string, path: string, count: number) {
  const service = await startService(script, data);
  const { url } = service;
  await request(`${url}/help`, other);
  await sleep(1000);
  const one = await request(url + path, flooding);
  const again = await request(url + path, flooding);
  const begun = processorMs(service.process);
  let answers: (Answer | undefined)[] = [];
  const all = async () => {
    answers = await Promise.all(Array.from({ length: count }, () => request(url + path, flooding)));
  };
  const wait = await longestWait(url, all);
  const cpu = processorMs(service.process) - begun;
  const ms = answers.map((answer) => answer?.ms ?? Number.NaN);
  const refused = answers.filter((answer) => answer?.status !== 200).length;
  const { peak } = memory(service.process);
  await service.stop();
  const left = await leavingFlood(script, data, path, count);
  return [
    `${seconds(one?.ms ?? 0)}, ${seconds(again?.ms ?? 0)}`,
    `${seconds(percentile(ms, 1))}, ${seconds(cpu)} CPU${refused ? `, ${refused} refused` : ""}`,
    seconds(wait),
    `${Math.max(peak, left.peak).toFixed(0)} MiB`,
    seconds(left.cpu),
  ];
}

/** The processor time that a new service uses from one second after its clients have left, within 10 seconds. */
async function leavingFlood(script: string | undefined, data: string, path: string, count: number) {
  const service = await startService(script, data);
  await sleep(1000);
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const all = Array.from({ length: count }, () => request(service.url + path, flooding, controller.signal));
  await sleep(500);
  controller.abort();
  await Promise.all(all);
  await sleep(1000);
  const before = processorMs(service.process);
  await sleep(10_000);
  const cpu = processorMs(service.process) - before;
  const { peak } = memory(service.process);
  await service.stop();
  return { cpu, peak };
}

/** Creates a data folder with 40 clients and 12 drivers, with the first version. @returns its name */
async function fill(): Promise<string> {
  const service = await startService(versions[0], "filled");
  const { addDriver, post } = client(service.url);
  const model = (i: number) => `Papyrus ${(i % 12) + 1}00 PCL6`;
  for (let i = 0; i < 12; i++) await addDriver(driverZip({ models: [model(i)] }));
  for (let i = 1; i <= 40; i++) await post("/clients", { name: `Client & Sons ${i}` });
  for (let first = 0; first < printers; first += 1000) {
    const rows = Array.from({ length: 1000 }, (_, n) => {
      const i = first + n;
      const place = `"Building ${i % 5}, floor ${i % 7}",long_edge,Old ${i}`;
      return `Office “${i}”,Client & Sons ${(i % 40) + 1},${model(i)},10.0.${i >> 8}.${i & 255},${place}`;
    });
    const text = ["name,client,driver_model,address,location,duplex,replaces", ...rows].join("\n");
    const preview = await (await post("/import/preview", { text })).text();
    await post("/import", previewFieldsIn(preview), navigation);
  }
  await service.stop();
  return "filled";
}

async function main(): Promise<void> {
  const filled = await fill();
  const rows: string[][] = [];
  for (const [path, count] of floods) {
    if (!path.startsWith(ONLY)) continue;
    for (const [i, script] of versions.entries()) {
      const data = `${filled}-${rows.length}`;
      cpSync(join(folder, filled), join(folder, data), { recursive: true });
      const version = versions.length === 1 || i === 1 ? "now" : "before";
      rows.push([`${count} × \`${path}\``, version, ...(await measureFlood(script, data, path, count))]);
      console.log(rows.at(-1)?.join(" | "));
    }
  }
  report(`Floods with ${printers} printers`, [
    ["flood", "version", "alone, again", "flood", "another's page", "peak memory", "CPU after leaving"],
    ...rows,
  ]);
}

void main();
