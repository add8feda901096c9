import type { TestApp } from "../app.ts";
import { driverZip } from "../drivers/driver-zip.ts";

const mebi = 2 ** 20;

/** A driver that cannot be compressed, always the same. @param megabytes more than socket buffers hold */
export function largeDriver(megabytes: number): Buffer {
  const bytes = Buffer.alloc(megabytes * mebi);
  for (let i = 0, state = 1; i < bytes.length; i += 4) {
    state = (state * 1_103_515_245 + 12_345) >>> 0;
    bytes.writeUInt32LE(state, i);
  }
  return driverZip({ extra: [{ name: "big.bin", bytes, method: 0 }] });
}

/** Adds a driver that is larger than socket buffers, and a printer that uses it. */
export async function addLargeDriver({ addDriver, addPrinter }: Pick<TestApp, "addDriver" | "addPrinter">) {
  return addPrinter({ driver_id: String(await addDriver(largeDriver(12))) });
}
