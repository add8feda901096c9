// A shop of 10,000 printers, 500 drivers and 200 clients: start, pages, writes, downloads' first bytes, and memory.
import { client } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { machine, median, percentile, table, times } from "./figures.ts";
import { download, firstByte, healthDuring, memory, startService, waitUntilIdle } from "./service.ts";

const counts = { printers: 10_000, drivers: 500, clients: 200 };
const rowsOfImport = 1000;

/** The lines of an import. @param first the number of the first printer */
function list(first: number): string {
  const lines = Array.from({ length: rowsOfImport }, (_, i) => {
    const n = first + i;
    const client = `Client & Sons ${(n % counts.clients) + 1}`;
    return `${client},Office ${n},10.${n >> 14}.${(n >> 7) & 127}.${(n & 127) + 1},${(n % counts.drivers) + 1},"Floor ${n % 9}"`;
  });
  return ["client,name,address,driver,location", ...lines].join("\n");
}

async function fill(url: string): Promise<void> {
  const { addDriver, post } = client(url);
  for (let i = 0; i < counts.drivers; i++)
    await addDriver(
      driverZip({
        provider: `Maker ${i % 25}`,
        models: [`Papyrus ${i}00 PCL6`],
        extra: [{ name: "id.txt", bytes: String(i) }],
      }),
    );
  for (let i = 1; i <= counts.clients; i++) await post("/clients", { name: `Client & Sons ${i}` });
  for (let first = 0; first < counts.printers; first += rowsOfImport) {
    const answer = await post("/import", { text: list(first), kind: "list" });
    if (answer.status >= 400) throw new Error(`${answer.status}: ${(await answer.text()).slice(0, 500)}`);
    await answer.arrayBuffer();
  }
}

async function main(): Promise<void> {
  const first = await startService();
  await fill(first.url);
  const filled = memory(first.process);
  await waitUntilIdle(first.process);
  first.process.kill();
  await new Promise((resolve) => first.process.once("exit", resolve));

  const began = performance.now();
  const service = await startService();
  await download(`${service.url}/health`);
  const started = performance.now() - began;
  await waitUntilIdle(service.process);
  const atRest = memory(service.process);
  const { post } = client(service.url);
  const rows = [["what", "first", "median", "largest"]];
  const measure = async (what: string, work: () => Promise<unknown>) => {
    const [once = 0] = await times(1, work);
    const again = await times(20, work);
    rows.push([what, ...[once, median(again), Math.max(...again)].map((ms) => `${ms.toFixed(0)} ms`)]);
  };
  const health = await healthDuring(service.url, async () => {
    for (const path of [
      ...["/", "/printers", "/printers?q=office+77", "/printers/5000", "/printers/5000/edit"],
      ...["/clients", "/clients/7", "/drivers", "/drivers/77", "/search?q=office+999", "/packages"],
    ])
      await measure(path, () => download(service.url + path));
    let n = 0;
    await measure("saving a printer", async () => {
      const fields = { name: `Renamed ${n++}`, driver_id: "9", client_id: "7", address: "10.9.9.9" };
      const answer = await post("/printers/4999", fields);
      if (answer.status !== 200) throw new Error(String(answer.status));
      await answer.arrayBuffer();
    });
    await measure("first byte of an .intunewin", () => firstByte(`${service.url}/printers/77/packages/mdm`));
  });
  const held = `/health meanwhile: p99 ${percentile(health, 0.99).toFixed(0)} ms, largest ${Math.max(...health).toFixed(0)} ms`;
  const used = memory(service.process);
  console.log(`\n## 10,000 printers, 500 drivers, 200 clients (${machine()})\n`);
  table(rows);
  console.log(
    `\nStart until /health answers: ${started.toFixed(0)} ms. Memory: ${atRest.now.toFixed(0)} MiB at rest, ` +
      `${used.peak.toFixed(0)} MiB at most; ${filled.peak.toFixed(0)} MiB at most while it was filled. ${held}.`,
  );
  service.process.kill();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
