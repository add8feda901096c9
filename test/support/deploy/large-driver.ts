import { createCipheriv } from "node:crypto";
import type { TestApp } from "../app.ts";
import { driverZip } from "../drivers/driver-zip.ts";

const mebi = 2 ** 20;

/** A driver that cannot be compressed, always the same. @param megabytes more than socket buffers hold */
export function largeDriver(megabytes: number): Buffer {
  const key = Buffer.alloc(16, "key");
  const bytes = createCipheriv("aes-128-ctr", key, key).update(Buffer.alloc(megabytes * mebi));
  return driverZip({ extra: [{ name: "big.bin", bytes, method: 0 }] });
}

/** Adds a driver that is larger than socket buffers, and a printer that uses it. */
export async function addLargeDriver({ addDriver, addPrinter }: Pick<TestApp, "addDriver" | "addPrinter">) {
  return addPrinter({ driver_id: String(await addDriver(largeDriver(10))) });
}
