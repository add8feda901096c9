import type { ChildProcess } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { client, navigation } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { previewFieldsIn } from "../support/printers/lists.ts";
import { machine, median, table } from "./figures.ts";
import { folder, startService } from "./service.ts";

// Measures the processor time of the service's main thread for the first page or download after a change of a record.
// BASELINE=/path/of/another/platen.cjs is measured too, with requests to both versions alternating.

const rounds = 7;
const driverCount = 12;
/** Rows in one import. */
const batch = 2000;

const paths = [
  "/printers/7",
  "/printers/7/edit",
  "/printers/7/scripts/install",
  "/printers/7/publish",
  "/printers/7/packages/rmm",
  "/printers/7/packages/mdm",
  "/clients/3",
  "/clients/3/scripts/install",
  "/clients/3/publish",
  "/drivers/2",
  "/",
  "/printers",
  "/packages",
  "/drivers",
  "/search?q=floor",
];

interface Service {
  readonly url: string;
  readonly process: ChildProcess;
}

/** Creates clients, drivers and printers in an empty service, and downloads each client's script once. */
async function fill(url: string, count: number): Promise<void> {
  const { addDriver, fetch, post } = client(url);
  const clients = Math.min(40, count);
  for (let i = 1; i <= driverCount; i++)
    await addDriver(driverZip({ models: [`Papyrus ${i}00 PCL6`, `Papyrus ${i}00 PS`] }));
  for (let i = 1; i <= clients; i++) await post("/clients", { name: `Client ${i}` });
  const head = "name,client,address,driver_desc,location,duplex";
  for (let first = 0; first < count; first += batch) {
    const lines = Array.from({ length: Math.min(batch, count - first) }, (_, n) => {
      const i = first + n;
      const model = `Papyrus ${(i % driverCount) + 1}00 PCL6`;
      const address = `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;
      return `Office “${i}”,Client ${(i % clients) + 1},${address},${model},Floor ${i % 7},long_edge`;
    });
    const preview = await post("/import/preview", { text: [head, ...lines].join("\r\n") });
    const { status } = await post("/import", previewFieldsIn(await preview.text()), navigation);
    if (status !== 303) throw new Error(`import: ${status}`);
  }
  for (let i = 1; i <= clients; i++) await (await fetch(`/clients/${i}/scripts/install`)).text();
}

/** Processor time of the service's main thread so far, in milliseconds. */
function threadTime({ process: { pid } }: Service): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, "latin1").split(" ")[0]) / 1e6;
}

async function waitForIdle(service: Service): Promise<void> {
  for (let before = -1, now = threadTime(service); now - before > 2; now = threadTime(service)) {
    before = now;
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
}

/** Processor time of one request after a change, in milliseconds. */
async function measure(service: Service, path: string, round: number): Promise<number> {
  const { fetch, post } = client(service.url);
  await post("/clients/1", { name: "Client 1", notes: `${path} ${round}` }, navigation);
  await waitForIdle(service);
  const before = threadTime(service);
  const answer = await fetch(path);
  await answer.arrayBuffer();
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`);
  await waitForIdle(service);
  return threadTime(service) - before;
}

async function compare(count: number): Promise<void> {
  const first = await startService(undefined, `ours-${count}`);
  await fill(first.url, count);
  const services: Service[] = [first];
  if (process.env.BASELINE) {
    first.process.kill();
    await new Promise((resolve) => first.process.once("exit", resolve));
    cpSync(join(folder, `ours-${count}`), join(folder, `baseline-${count}`), { recursive: true });
    services[0] = await startService(undefined, `ours-${count}`);
    services.push(await startService(process.env.BASELINE, `baseline-${count}`));
  }
  const rows = [["after a change", "this version", ...services.slice(1).map(() => "the other one")]];
  for (const path of paths) {
    const found = services.map((): number[] => []);
    for (let round = 0; round < rounds; round++)
      for (const [i, service] of services.entries()) found[i]?.push(await measure(service, path, round));
    const figures = found.map((ms) => `${Math.min(...ms).toFixed(0)}, ${median(ms).toFixed(0)} ms`);
    rows.push([`\`${path}\``, ...figures]);
  }
  for (const { process: child } of services) child.kill();
  console.log(`\n## ${count} printers: quickest and median of ${rounds} (${machine()})\n`);
  table(rows);
}

async function main(): Promise<void> {
  for (const count of (process.env.COUNTS ?? "10,400,2000,10000").split(",")) await compare(Number(count));
}

void main();
