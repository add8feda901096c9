import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { parseClient } from "../../../src/domain/printers/client.ts";
import { startApp, type TestApp } from "../app.ts";
import { cleanUp } from "../clean-up.ts";
import { driverZip } from "../drivers/driver-zip.ts";
import { makePng } from "../printers/png.ts";

/** A separate disk of this size; undefined when none can be mounted. */
export function smallDisk(t: TestContext, bytes: number): string | undefined {
  const disk = mkdtempSync(join(tmpdir(), "platen-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${bytes}`, "tmpfs", disk], { stdio: "pipe" });
  } catch {
    rmdirSync(disk);
    return undefined;
  }
  // Unmount lazily: a worker thread that tests share may still have a file open.
  cleanUp(t, () => {
    execFileSync("umount", ["-l", disk]);
    rmdirSync(disk);
  });
  return disk;
}

export const withoutDisk = "mount -t tmpfs is not possible here";

/** Fills a disk to the last byte. @returns a function that frees the space */
export function fill(disk: string): () => void {
  const path = join(disk, "filler");
  for (let bytes = 1 << 20; bytes >= 1; bytes = bytes >> 1) {
    for (;;) {
      try {
        writeFileSync(path, Buffer.alloc(bytes, 1), { flag: "a" });
      } catch {
        break;
      }
    }
  }
  return () => rmSync(path);
}

export function freeBytes(disk: string): number {
  const { bavail, bsize } = statfsSync(disk);
  return bavail * bsize;
}

interface FullDisk {
  readonly app: TestApp;
  readonly disk: string;
  readonly dataDir: string;
  readonly freeSpace: () => void;
}

/** A service on a full disk, with 40 clients, a printer with an icon, and an unused driver. */
export async function startOnFullDisk(t: TestContext): Promise<FullDisk | undefined> {
  const disk = smallDisk(t, 8 << 20);
  if (disk === undefined) return undefined;
  const dataDir = join(disk, "data");
  mkdirSync(dataDir);
  const app = await startApp(t, { dataDir });
  for (let i = 0; i < 40; i++)
    await app.app.store.clients.add(parseClient({ name: `Client ${i}`, notes: "n".repeat(9000) }));
  const printer = await app.addPrinter();
  await app.upload(`/printers/${printer}/icon`, makePng(), "icon.png");
  await app.addDriver(driverZip({ version: "2.0.0.0" }));
  return { app, disk, dataDir, freeSpace: fill(disk) };
}
