import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { machine, median, table, times } from "./figures.ts";
import { clientCount, fill, printerCount, printerFields } from "./many-printers.ts";
import { startService } from "./service.ts";

// How long lists take with a thousand printers. BASELINE=/path/of/another/platen.cjs measures that one in turn with ours.

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
  await fill(service.url);
  return service;
}

/** Asks for a page, or posts a form, as a browser does; the answer's size on the wire in bytes. */
function ask(
  { url, agent }: Service,
  path: string,
  form?: Record<string, string>,
  encodings = "gzip",
): Promise<number> {
  return new Promise((resolve, reject) => {
    const method = form === undefined ? "GET" : "POST";
    const headers = { "Content-Type": "application/x-www-form-urlencoded", "Accept-Encoding": encodings };
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
      [
        "/printers",
        "/printers?q=sons+17",
        "/search?q=floor",
        "/packages",
        "/clients/1",
        "/clients",
        "/drivers",
        "/",
      ].map((path) => [path, (service: Service) => ask(service, path)]),
    ),
    "/printers, br": (service) => ask(service, "/printers", undefined, "br"),
    "/printers, as it is": (service) => ask(service, "/printers", undefined, "identity"),
    "a printer made and answered with the list": (service) =>
      ask(service, "/printers", printerFields(made++)),
  };
  console.log(`\n## Lists of ${printerCount} printers of ${clientCount} clients (${machine()})\n`);
  const rows = [
    ["list", "service", "on the wire", "first", "quickest", `median of ${rounds}`, "processor", "wanted"],
  ];
  for (const [name, one] of Object.entries(work)) {
    // Versions before cannot be asked for what only this one has.
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
