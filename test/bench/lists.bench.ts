import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { client, navigation } from "../support/app.ts";
import { driverZip } from "../support/driver-zip.ts";
import { machine, median, table, times } from "./figures.ts";
import { startService } from "./service.ts";

// How long lists take with a thousand printers. BASELINE=/path/of/another/platen.cjs measures that one in turn with ours.

const clientCount = 40;
const driverCount = 12;
const printerCount = 1000;
const atOnce = 50;
const rounds = 20;

interface Service {
  readonly name: string;
  readonly url: string;
  readonly process: ChildProcess;
  readonly agent: Agent;
}

interface Figure {
  readonly firstMs: number;
  readonly quickestMs: number;
  readonly medianMs: number;
  /** The service's processor time for one request, all threads together. */
  readonly processorMs: number;
  readonly kilobytes: number;
}

async function start(name: string, file?: string): Promise<Service> {
  const service = { name, ...(await startService(file, name)), agent: new Agent({ keepAlive: true }) };
  const { addDriver, post } = client(service.url);
  for (let i = 1; i <= driverCount; i++)
    await addDriver(driverZip({ models: [`Papyrus ${i}00 PCL6`, `Papyrus ${i}00 PS`] }));
  for (let i = 1; i <= clientCount; i++) await post("/clients", { name: `Client & Sons ${i}` });
  for (let first = 0; first < printerCount; first += atOnce) {
    // As a browser without scripts: each is answered with a redirect instead of the list.
    const made = Array.from({ length: atOnce }, (_, i) =>
      post("/printers", printerFields(first + i), navigation),
    );
    for (const { status } of await Promise.all(made)) if (status !== 303) throw new Error(`${status}`);
  }
  return service;
}

function printerFields(i: number): Record<string, string> {
  return {
    name: `Office “${i}” floor ${i % 7}`,
    client_id: String((i % clientCount) + 1),
    driver_id: String((i % driverCount) + 1),
    driver_desc: i % 3 === 0 ? `Papyrus ${(i % driverCount) + 1}00 PS` : "",
    address: `10.0.${i >> 8}.${i & 255}`,
    location: `Building ${i % 5}, floor ${i % 7}`,
    duplex: "long_edge",
    replaces: `Old ${i}\nOlder ${i}`,
  };
}

/** Asks for a page, or posts a form; the answer's size in bytes. */
function ask({ url, agent }: Service, path: string, form?: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const method = form === undefined ? "GET" : "POST";
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    const asked = request(url + path, { agent, method, headers }, (answer) => {
      let size = 0;
      answer.on("data", (chunk: Buffer) => {
        size += chunk.length;
      });
      answer.on("end", () => (answer.statusCode === 200 ? resolve(size) : reject(new Error(path))));
    });
    asked.on("error", reject).end(form && new URLSearchParams(form).toString());
  });
}

/** Milliseconds that all threads of a process have had so far, in the kernel's steps of ten. */
function processorMs({ process: { pid } }: Service): number {
  const [, rest = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const [user, system] = rest.split(" ").slice(11, 13).map(Number);
  return 10 * ((user ?? 0) + (system ?? 0));
}

/** One request of each service after the other, so that all have the same neighbours. */
async function measure(services: readonly Service[], work: (service: Service) => Promise<number>) {
  const found = services.map((service) => ({ service, firstMs: 0, ms: [] as number[], cpu: 0, size: 0 }));
  for (const one of found) [one.firstMs = 0] = await times(1, () => work(one.service));
  for (const one of found) await times(2 * rounds, () => work(one.service));
  for (let i = 0; i < rounds; i++) {
    for (const one of found) {
      const before = processorMs(one.service);
      one.ms.push(...(await times(1, async () => (one.size = await work(one.service)))));
      one.cpu += processorMs(one.service) - before;
    }
  }
  return found.map(
    ({ firstMs, ms, cpu, size }): Figure => ({
      firstMs,
      quickestMs: Math.min(...ms),
      medianMs: median(ms),
      processorMs: cpu / rounds,
      kilobytes: size / 1024,
    }),
  );
}

async function main(): Promise<void> {
  const services = [await start("ours")];
  if (process.env.BASELINE) services.push(await start("baseline", process.env.BASELINE));
  let made = printerCount;
  const work: Record<string, (service: Service) => Promise<number>> = {
    ...Object.fromEntries(
      ["/printers", "/packages", "/clients/1", "/clients", "/drivers", "/"].map((path) => [
        path,
        (service: Service) => ask(service, path),
      ]),
    ),
    "a printer made, answered with the list": (service) => ask(service, "/printers", printerFields(made++)),
  };
  console.log(`\n## Lists of ${printerCount} printers of ${clientCount} clients (${machine()})\n`);
  const rows = [
    ["list", "service", "size", "first", "quickest", `median of ${rounds}`, "processor", "wanted"],
  ];
  for (const [name, one] of Object.entries(work)) {
    const figures = await measure(services, one);
    figures.forEach((figure, i) => {
      const { firstMs, quickestMs, medianMs, kilobytes } = figure;
      const ms = [firstMs, quickestMs, medianMs, figure.processorMs].map((value) => `${value.toFixed(1)} ms`);
      const wanted = name === "/printers" && i === 0 ? "median < 20 ms" : "";
      rows.push([name, services[i]?.name ?? "", `${kilobytes.toFixed(0)} KB`, ...ms, wanted]);
    });
  }
  for (const { process: child, agent } of services) {
    agent.destroy();
    child.kill();
  }
  table(rows);
}

void main();
