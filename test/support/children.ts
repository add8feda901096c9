import { existsSync, readFileSync } from "node:fs";

interface Child {
  readonly id: number;
  /** The most memory that it had. */
  readonly peakMb: number;
}

/** Answers a function that gives the processes that this one has started since, and that are still there. */
export function watchChildren(): () => Child[] {
  const before = new Set(childIds());
  return () => childIds().flatMap((id) => (before.has(id) ? [] : found(id)));
}

function childIds(): string[] {
  return readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").split(" ").filter(Boolean);
}

function found(id: string): Child[] {
  try {
    const status = readFileSync(`/proc/${id}/status`, "utf8");
    return [{ id: Number(id), peakMb: Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024 }];
  } catch {
    return [];
  }
}

/** Why a test that looks at other processes is skipped; false where it can. */
export const withoutProc = existsSync(`/proc/self/task/${process.pid}/children`)
  ? false
  : "only Linux shows other processes";
