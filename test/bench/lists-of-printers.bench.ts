import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { client } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { previewFieldsIn } from "../support/printers/lists.ts";
import { machine, median, percentile, table, times } from "./figures.ts";
import { healthDuring, memory, startService, waitUntilIdle } from "./service.ts";

// Measures import and export of 5,000 printers, and the delay of other requests meanwhile.

const rowCount = 5000;
const rounds = 5;
const models = Array.from({ length: 400 }, (_, i) => `Papyrus ${i} PCL6`);

function csv(octet: number): Buffer {
  const rows = Array.from({ length: rowCount }, (_, i) =>
    [
      `Office “${i}”`,
      `Client & Sons ${i % 40}`,
      `10.${octet}.${i >> 8}.${i & 255}`,
      models[i % models.length],
      `Building ${i % 5}, floor ${i % 7}`.replace(",", ";"),
      "long_edge",
      "yes",
    ].join(","),
  );
  return Buffer.from(`name,client,address,driver_desc,location,duplex,snmp\r\n${rows.join("\r\n")}\r\n`);
}

function json(): Buffer {
  const all = Array.from({ length: rowCount }, (_, i) => i);
  return Buffer.from(
    JSON.stringify({
      Printers: all.map((i) => ({
        Name: `Queue ${i}`,
        DriverName: models[i % models.length],
        PortName: `IP_${i}`,
        Location: "Hall",
        Comment: null,
        Type: "Local",
      })),
      Ports: all.map((i) => ({
        Name: `IP_${i}`,
        PortMonitor: "TCPMON.DLL",
        PrinterHostAddress: `10.8.${i >> 8}.${i & 255}`,
        PortNumber: 9100,
        Protocol: 1,
        SNMPEnabled: true,
        SNMPCommunity: "public",
        SNMPIndex: 1,
      })),
      Drivers: [],
    }),
  );
}

/** Processor time of all threads of a process so far, in milliseconds; the kernel counts in steps of ten. */
function processorMs({ pid }: ChildProcess): number {
  const [, rest = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const [user, system] = rest.split(" ").slice(11, 13).map(Number);
  return 10 * ((user ?? 0) + (system ?? 0));
}

async function main(): Promise<void> {
  const service = await startService(undefined, "printers");
  const { upload, post, addDriver, fetch } = client(service.url);
  for (let i = 0; i < 4; i++) await addDriver(driverZip({ models, version: `1.0.0.${i}` }));
  const rows = [["what", "quickest", "median", "processor", "answer", "/health p50, p99, longest"]];
  const measure = async (what: string, count: number, work: (i: number) => Promise<Response>) => {
    const found = { ms: [] as number[], cpu: [] as number[], health: [] as number[], size: 0 };
    for (let i = 0; i < count; i++) {
      await waitUntilIdle(service.process);
      const before = processorMs(service.process);
      const health = await healthDuring(service.url, async () => {
        const [ms = 0] = await times(1, async () => {
          const answer = await work(i);
          if (!answer.ok) throw new Error(`${what}: ${answer.status}`);
          found.size = (await answer.arrayBuffer()).byteLength;
        });
        found.ms.push(ms);
      });
      found.cpu.push(processorMs(service.process) - before);
      found.health.push(...health);
    }
    const ms = [Math.min(...found.ms), median(found.ms), median(found.cpu)].map(
      (value) => `${value.toFixed(0)} ms`,
    );
    const waits = [0.5, 0.99, 1].map((part) => percentile(found.health, part).toFixed(0)).join(", ");
    rows.push([what, ...ms, `${(found.size / 1024).toFixed(0)} KB`, `${waits} ms`]);
  };
  await measure("preview of a CSV, all new", rounds, () => upload("/import/preview", csv(0), "printers.csv"));
  await measure("preview of a print server, all new", rounds, () =>
    upload("/import/preview", json(), "printers.json"),
  );
  const agreement = previewFieldsIn(await (await upload("/import/preview", csv(0), "printers.csv")).text());
  await measure("import, all new", 1, () => post("/import", agreement));
  await measure("preview, all the same", rounds, () => upload("/import/preview", csv(0), "printers.csv"));
  await measure("preview, all changed", rounds, () => upload("/import/preview", csv(1), "printers.csv"));
  await measure("import, all changed", rounds, (i) => upload("/import", csv(i + 1), "printers.csv"));
  await measure("export", rounds, async (i) => {
    await post("/clients", { name: `Another ${i}` });
    return fetch("/export/printers.csv");
  });
  console.log(`\n## Lists of ${rowCount} printers (${machine()})\n`);
  table(rows);
  console.log(`\nThe service’s peak memory: ${memory(service.process).peak.toFixed(0)} MiB`);
  service.process.kill();
}

void main();
