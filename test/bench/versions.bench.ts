import type { ChildProcess } from "node:child_process";
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { client, navigation } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { driverFile } from "./driver-files.ts";
import { machine, median, table, times } from "./figures.ts";
import { printerFields } from "./many-printers.ts";
import { folder, memory, startService, upload, waitUntilIdle } from "./service.ts";

// Compares BASELINE=/path/of/another/platen.cjs with this version, alternating in one run: pages with few and many
// printers, 50 concurrent pages, packages of 150 MB, 200 concurrent PCs, start and memory.

const counts = [10, 400, 10_000];
const pcs = 200;

interface Service {
  readonly url: string;
  readonly process: ChildProcess;
  readonly agent: Agent;
}

interface Version {
  readonly name: string;
  readonly script: string | undefined;
}

const versions: readonly Version[] = [
  ...(process.env.BASELINE ? [{ name: "before", script: process.env.BASELINE }] : []),
  { name: "now", script: undefined },
];

/** Figures by name of the measurement, one for each version. */
const figures = new Map<string, string[]>();

function record(what: string, value: string): void {
  figures.set(what, [...(figures.get(what) ?? []), value]);
}

async function start({ script }: Version, data: string): Promise<Service> {
  const service = await startService(script, data);
  return { ...service, agent: new Agent({ keepAlive: true, maxSockets: 64 }) };
}

async function stop({ process: child, agent }: Service): Promise<void> {
  agent.destroy();
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill();
  await ended;
}

/** Sends a request and discards the body. @returns the status */
function sendRequest({ url, agent }: Service, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { Accept: "text/html", "Accept-Encoding": "gzip" };
    request(url + path, { agent, headers }, (answer) => {
      answer.on("end", () => resolve(answer.statusCode ?? 0)).resume();
    })
      .on("error", reject)
      .end();
  });
}

/** Processor time of all threads of a process so far, in milliseconds. */
function processorMs({ process: { pid } }: Service): number {
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((thread) => {
    try {
      return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
    } catch {
      // The thread has just ended.
      return 0;
    }
  });
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6;
}

/** Creates a data folder with this many printers, with the first version. @returns its name */
async function fill(count: number): Promise<string> {
  const name = `filled-${count}`;
  const [version] = versions;
  if (version === undefined) throw new Error("there is no version");
  const service = await start(version, name);
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
  await stop(service);
  return name;
}

const paths = [
  "/",
  "/printers",
  "/printers/3",
  "/printers/3/edit",
  "/clients/4",
  "/drivers/4",
  "/printers/3/publish",
  "/printers/3/scripts/install",
];

async function measurePages(count: number): Promise<void> {
  const filled = await fill(count);
  const services: Service[] = [];
  for (const [i, version] of versions.entries()) {
    const data = `${filled}-${i}`;
    cpSync(join(folder, filled), join(folder, data), { recursive: true });
    // The first start of another version may migrate the database.
    await stop(await start(version, data));
    const [ms = 0] = await times(1, async () => services.push(await start(version, data)));
    record(`${count} printers: start`, `${ms.toFixed(0)} ms`);
  }
  for (const { process: child } of services)
    record(`${count} printers: memory after the start`, `${memory(child).now.toFixed(0)} MiB`);
  await measurePaths(services, count);
  for (const service of services) {
    // All URLs differ, so that every record is read again.
    const paths = Array.from(
      { length: 50 },
      (_, i) => `/printers/${1 + (i % Math.min(count, 50))}?page=${i}`,
    );
    const all = () => Promise.all(paths.map((path) => sendRequest(service, path)));
    const refused = (await all()).filter((status) => status !== 200).length;
    record(
      `${count} printers: 50 pages at once`,
      `${median(await times(5, all)).toFixed(0)} ms, ${refused} refused`,
    );
    record(`${count} printers: peak memory`, `${memory(service.process).peak.toFixed(0)} MiB`);
  }
  await Promise.all(services.map(stop));
}

async function measurePaths(services: readonly Service[], count: number): Promise<void> {
  // Warm-up rounds, so that V8 has compiled the code.
  for (const path of paths) await measurePath(services, path, 5);
  // Pages of a few milliseconds need more rounds.
  const rounds = count > 1000 ? 11 : 51;
  for (const path of paths)
    for (const { ms, repeated, cpu } of await measurePath(services, path, rounds)) {
      const values = [ms, repeated, cpu].map((some) => `${median(some).toFixed(1)} ms`);
      record(`${count} printers: \`${path}\``, values.join(", "));
    }
}

/** Alternates the services in each round. */
async function measurePath(services: readonly Service[], path: string, rounds: number): Promise<PageTimes[]> {
  const found = services.map((service): PageTimes => ({ service, ms: [], repeated: [], cpu: [] }));
  for (let round = 0; round < rounds; round++)
    for (const one of found) await measurePage(one, path, `${round} of ${rounds}`);
  return found;
}

/** Milliseconds: after a write, without one, and processor time after a write. */
interface PageTimes {
  readonly service: Service;
  readonly ms: number[];
  readonly repeated: number[];
  readonly cpu: number[];
}

/** Measures a page after a write, which invalidates cached lists, and again without a write. */
async function measurePage(
  { service, ms, repeated, cpu }: PageTimes,
  path: string,
  round: string,
): Promise<void> {
  // As a browser without scripts does: the response is a redirect, so the write renders no page.
  const fields = { ...printerFields(4), comment: `${path} ${round}` };
  await client(service.url).post("/printers/5", fields, navigation);
  await waitUntilQuiet(service);
  const before = processorMs(service);
  ms.push(...(await times(1, () => sendRequest(service, path))));
  cpu.push(processorMs(service) - before);
  repeated.push(...(await times(1, () => sendRequest(service, path))));
}

/** Waits for the work that follows the response to a write. */
async function waitUntilQuiet(service: Service): Promise<void> {
  await sendRequest(service, "/health");
  await new Promise((resolve) => setTimeout(resolve, 20));
}

async function measurePackages(): Promise<void> {
  const path = driverFile();
  const services: Service[] = [];
  const found = versions.map(() => new Map<string, number[]>());
  const add = (i: number, what: string, ms: number[]) =>
    found[i]?.set(what, [...(found[i]?.get(what) ?? []), ...ms]);
  for (const [i, version] of versions.entries()) {
    const service = await start(version, `packages-${i}`);
    services.push(service);
    await times(1, () => upload(service.url, path)).then((ms) => add(i, "upload of 150 MB", ms));
    await client(service.url).addPrinter({ driver_id: "1" });
    await waitUntilIdle(service.process);
  }
  for (let round = 0; round < 5; round++)
    for (const [i, service] of services.entries()) {
      const fields = { name: "Office", address: "10.0.0.9", driver_id: "1", comment: `round ${round}` };
      await client(service.url).post("/printers/1", fields);
      for (const what of ["mdm of 150 MB, first", "mdm of 150 MB, again"])
        add(i, what, await times(1, () => sendRequest(service, "/printers/1/packages/mdm")));
      add(i, "rmm of 150 MB", await times(1, () => sendRequest(service, "/printers/1/packages/rmm")));
    }
  for (const one of found) for (const [what, ms] of one) record(what, `${median(ms).toFixed(0)} ms`);
  for (const service of services) {
    const agent = new Agent({ maxSockets: pcs });
    let statuses: number[] = [];
    const [ms = 0] = await times(1, async () => {
      statuses = await Promise.all(
        Array.from({ length: pcs }, () => sendRequest({ ...service, agent }, "/printers/1/packages/rmm")),
      );
    });
    const refused = statuses.filter((status) => status !== 200).length;
    record(`rmm of 150 MB, ${pcs} PCs at once`, `${(ms / 1000).toFixed(1)} s, ${refused} refused`);
    record("peak memory, packages", `${memory(service.process).peak.toFixed(0)} MiB`);
  }
  await Promise.all(services.map(stop));
}

async function main(): Promise<void> {
  for (const count of counts) await measurePages(count);
  await measurePackages();
  console.log(`\n## Versions side by side (${machine()})\n`);
  console.log("Pages: after a write, again, and processor time after a write.\n");
  table([
    ["what", ...versions.map(({ name }) => name)],
    ...[...figures].map(([what, row]) => [what, ...row]),
  ]);
}

void main();
