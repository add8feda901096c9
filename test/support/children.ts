import { existsSync, readFileSync } from "node:fs";

interface Child {
  readonly id: number;
  /** Its peak memory, in MB. */
  readonly peakMb: number;
}

/** Returns a function that lists the child processes started since this call and still running. */
export function watchChildren(): () => Child[] {
  const before = new Set(childIds());
  return () => childIds().flatMap((id) => (before.has(id) ? [] : readChild(id)));
}

function childIds(): string[] {
  return readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").split(" ").filter(Boolean);
}

function readChild(id: string): Child[] {
  try {
    const status = readFileSync(`/proc/${id}/status`, "utf8");
    return [{ id: Number(id), peakMb: Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024 }];
  } catch {
    return [];
  }
}

/** The reason to skip tests that inspect other processes; false if they can run. */
export const withoutProc = existsSync(`/proc/self/task/${process.pid}/children`)
  ? false
  : "only Linux shows other processes";
