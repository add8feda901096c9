import { client } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { machine, table, times } from "./figures.ts";
import { download, healthDuring, memory, startService, upload, writeWhole } from "./service.ts";

const fileCount = 60_000;

function driverFile(): string {
  const extra = Array.from({ length: fileCount - 3 }, (_, i) => ({
    name: `a folder with a name/and another/file-${i}.bin`,
    bytes: `the bytes of file ${i}`,
  }));
  return writeWhole("many.zip", driverZip({ extra }));
}

async function main(): Promise<void> {
  const service = await startService();
  const { addPrinter } = client(service.url);
  const path = driverFile();
  let driver_id = "";
  const uploadMs: number[] = [];
  const whileUploaded = await healthDuring(service.url, async () => {
    uploadMs.push(...(await times(1, async () => (driver_id = await upload(service.url, path)))));
  });
  const id = await addPrinter({ driver_id });
  const before = memory(service.process);
  const head = () => fetch(`${service.url}/printers/${id}/packages/rmm`, { method: "HEAD" });
  const firstMs: number[] = [];
  const scriptMs: number[] = [];
  const whileLaidOut = await healthDuring(service.url, async () => {
    firstMs.push(...(await times(1, head)));
    scriptMs.push(...(await times(1, () => download(`${service.url}/printers/${id}/scripts/install`))));
  });
  const againMs = await times(20, head);
  const after = memory(service.process);
  service.process.kill();

  const ms = (values: readonly number[]) => `${Math.max(...values).toFixed(1)} ms`;
  console.log(`\n## A driver of ${fileCount} files (${machine()})\n`);
  table([
    ["what", "figure", "wanted"],
    ["upload, read and checked", ms(uploadMs), ""],
    [`/health meanwhile, the slowest of ${whileUploaded.length}`, ms(whileUploaded), ""],
    ["first HEAD of a package: laid out on another thread", ms(firstMs), ""],
    ["first script fetched alone: files laid out and hashed", ms(scriptMs), ""],
    [`/health meanwhile, the slowest of ${whileLaidOut.length}`, ms(whileLaidOut), "< 50 ms"],
    ["repeated HEAD, the slowest of 20", ms(againMs), "< 50 ms"],
    [
      "memory before, peak, after",
      `${before.now.toFixed(0)}, ${after.peak.toFixed(0)}, ${after.now.toFixed(0)} MiB`,
      "",
    ],
  ]);
}

void main();
