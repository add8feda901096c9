import { existsSync, readFileSync } from "node:fs";

/** Looks at the processes that this one started: their ids, and the most memory that any had, in MB. */
export function children(): { readonly id: number; readonly peakMb: number }[] {
  const ids = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").split(" ").filter(Boolean);
  return ids.flatMap((id) => {
    try {
      const status = readFileSync(`/proc/${id}/status`, "utf8");
      return [{ id: Number(id), peakMb: Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024 }];
    } catch {
      return [];
    }
  });
}

/** Why a test that looks at them is skipped; false where it can. */
export const withoutProc = existsSync(`/proc/self/task/${process.pid}/children`)
  ? false
  : "only Linux shows its processes";
