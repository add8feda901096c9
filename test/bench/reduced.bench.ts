import { randomBytes } from "node:crypto";
import { client } from "../support/app.ts";
import { printerInf } from "../support/drivers/driver-zip.ts";
import { makeZip } from "../support/drivers/zip.ts";
import { machine, median, table, times } from "./figures.ts";
import { download, memory, startService, upload, waitUntilIdle, writeWhole } from "./service.ts";

const runs = 7;
const fileCount = 320;

/** Writes a driver of 148 MB packed in 320 files. @param usedCount files that its INF uses */
function driverFile(name: string, usedCount: number): string {
  const names = Array.from({ length: fileCount }, (_, i) => `f${i}.dll`);
  const bytes = Buffer.alloc(820_000, "The quick brown fox. ");
  const files = names.map((file) => {
    for (let at = 0; at < bytes.length; at += 64) randomBytes(35).copy(bytes, at);
    return { name: file, bytes: Buffer.from(bytes) };
  });
  const inf = printerInf({ files: names.slice(0, usedCount) });
  return writeWhole(
    name,
    makeZip([{ name: "papyrus.inf", bytes: inf }, { name: "papyrus.cat", bytes: "c" }, ...files]),
  );
}

interface Figures {
  /** Milliseconds. */
  readonly laidOut: number[];
  readonly first: number[];
  readonly repeated: number[];
  readonly rmm: number[];
  /** MiB. */
  readonly peak: number[];
}

/** Starts a service with this driver, and measures its first package and later ones. */
async function measure(found: Figures, data: string, id: string, drop_unused: string): Promise<void> {
  const service = await startService(undefined, data);
  const { post } = client(service.url);
  await post(`/drivers/${id}`, { drop_unused });
  await waitUntilIdle(service.process);
  const address = (format: string) => `${service.url}/printers/${id}/packages/${format}`;
  // The ZIP for scripts fetched alone has another layout, which saving the driver does not compute in advance.
  const head = () => fetch(`${service.url}/drivers/${id}/files`, { method: "HEAD" });
  found.laidOut.push(...(await times(1, head)));
  await download(address("mdm"));
  const settings = { name: "Office", address: "10.0.0.9", driver_id: id };
  await post(`/printers/${id}`, { ...settings, comment: `${Math.random()}` });
  found.first.push(...(await times(1, () => download(address("mdm")))));
  found.repeated.push(...(await times(1, () => download(address("mdm")))));
  found.rmm.push(...(await times(1, () => download(address("rmm")))));
  found.peak.push(memory(service.process).peak);
  service.process.kill();
  await new Promise((resolve) => service.process.once("exit", resolve));
}

async function main(): Promise<void> {
  const drivers = [
    { id: "1", name: "all used", path: driverFile("all.zip", fileCount) },
    { id: "2", name: "a third used", path: driverFile("third.zip", Math.round(fileCount / 3)) },
  ];
  const service = await startService(undefined, "reduced");
  for (const { id, path } of drivers) {
    await upload(service.url, path);
    await client(service.url).addPrinter({ driver_id: id });
  }
  service.process.kill();
  await new Promise((resolve) => service.process.once("exit", resolve));

  const rows: string[][] = [
    ["driver of 148 MB", "laid out", "mdm, first", "mdm, again", "rmm", "peak memory"],
  ];
  for (const { id, name } of drivers) {
    const all = ["", "on"].map((drop) => ({
      drop,
      found: { laidOut: [], first: [], repeated: [], rmm: [], peak: [] },
    }));
    for (let run = 0; run < runs; run++)
      for (const { drop, found } of all) await measure(found, "reduced", id, drop);
    for (const { drop, found } of all) {
      const { laidOut, first, repeated, rmm, peak } = found;
      const ms = [laidOut, first, repeated, rmm].map((values) => `${median(values).toFixed(0)} ms`);
      const what = `${name}, ${drop === "" ? "whole" : "without the rest"}`;
      rows.push([what, ...ms, `${median(peak).toFixed(0)} MiB`]);
    }
  }
  console.log(`\n## Packages without unused files (${machine()})\n`);
  table(rows);
}

void main();
