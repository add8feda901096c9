import { cp } from "node:fs/promises";

/** Copies the data folder of a running service, without its lock and unfinished files. */
export async function copyData(dataDir: string, copy: string): Promise<void> {
  await cp(dataDir, copy, { recursive: true, filter: (path) => !/[\\/]lock-|\.new$/.test(path) });
}
