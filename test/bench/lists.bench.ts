import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { machine, median, table, times } from "./figures.ts";
import { clientCount, fill, printerCount, printerFields } from "./many-printers.ts";
import { startService } from "./service.ts";

// Measures lists of 1,000 printers. BASELINE=/path/of/another/platen.cjs is measured too, alternating with this version.

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
  /** Processor time of all threads for one request. */
  readonly processorMs: number;
  readonly kilobytes: number;
}

async function start(name: string, file?: string): Promise<Service> {
  const service = { name, ...(await startService(file, name)), agent: new Agent({ keepAlive: true }) };
  await fill(service.url);
  return service;
}

/** Requests a page or posts a form as a browser does. @returns the response's size on the wire, in bytes */
function sendRequest(
  { url, agent }: Service,
  path: string,
  form?: Record<string, string>,
  encodings = "gzip",
): Promise<number> {
  return new Promise((resolve, reject) => {
    const method = form === undefined ? "GET" : "POST";
    const headers = { "Content-Type": "application/x-www-form-urlencoded", "Accept-Encoding": encodings };
    const outgoing = request(url + path, { agent, method, headers }, (answer) => {
      let size = 0;
      answer.on("data", (chunk: Buffer) => {
        size += chunk.length;
      });
      answer.on("end", () => (answer.statusCode === 200 ? resolve(size) : reject(new Error(path))));
    });
    outgoing.on("error", reject).end(form && new URLSearchParams(form).toString());
  });
}

/** Processor time of all threads of a process so far, in milliseconds; the kernel counts in steps of ten. */
function processorMs({ process: { pid } }: Service): number {
  const [, rest = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const [user, system] = rest.split(" ").slice(11, 13).map(Number);
  return 10 * ((user ?? 0) + (system ?? 0));
}

/** Alternates requests to the services, so that other work on the machine affects all of them alike. */
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
      [
        "/printers",
        "/printers?q=sons+17",
        "/search?q=floor",
        "/packages",
        "/clients/1",
        "/clients",
        "/drivers",
        "/",
      ].map((path) => [path, (service: Service) => sendRequest(service, path)]),
    ),
    "/printers, br": (service) => sendRequest(service, "/printers", undefined, "br"),
    "/printers, uncompressed": (service) => sendRequest(service, "/printers", undefined, "identity"),
    "a new printer, with the list as response": (service) =>
      sendRequest(service, "/printers", printerFields(made++)),
  };
  console.log(`\n## Lists of ${printerCount} printers of ${clientCount} clients (${machine()})\n`);
  const rows = [
    ["list", "service", "on the wire", "first", "quickest", `median of ${rounds}`, "processor", "wanted"],
  ];
  for (const [name, one] of Object.entries(work)) {
    // Earlier versions lack these features.
    const figures = await measure(/[?,]/.test(name) ? services.slice(0, 1) : services, one);
    figures.forEach((figure, i) => {
      const { firstMs, quickestMs, medianMs, kilobytes } = figure;
      const ms = [firstMs, quickestMs, medianMs, figure.processorMs].map((value) => `${value.toFixed(1)} ms`);
      const wanted = name === "/printers" && i === 0 ? "median < 20 ms, ≤ 60 KB" : "";
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
