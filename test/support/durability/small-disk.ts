import { execFileSync } from "node:child_process";
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { cleanUp } from "../clean-up.ts";

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
  for (let bytes = 1 << 20; bytes >= 1; bytes >>= 1) {
    try {
      for (;;) writeFileSync(path, Buffer.alloc(bytes, 1), { flag: "a" });
    } catch {
      // The next smaller piece may still fit.
    }
  }
  return () => rmSync(path);
}

export function freeBytes(disk: string): number {
  const { bavail, bsize } = statfsSync(disk);
  return bavail * bsize;
}
