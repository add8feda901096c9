import { readdirSync, readFileSync } from "node:fs";

/** Milliseconds of a clock tick in /proc. */
const tickMs = 10;
let uncountedMs = 0;

/**
 * The processor time that this process, its threads and all its descendants have used so far, in milliseconds. Descendants
 * count on Linux only, in steps of 10 ms. Time within `uncounted` is left out.
 */
export function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + descendantsTime() - uncountedMs;
}

/** Leaves out what work costs that has just begun and happens once a process, such as starting the browser that all tests share. */
export async function uncounted<T>(work: Promise<T>): Promise<T> {
  const before = processorTime();
  try {
    return await work;
  } finally {
    uncountedMs += processorTime() - before;
  }
}

/** The fields of /proc/<id>/stat behind the command: parent, and the times of the process and of its ended children. */
interface Stat {
  readonly parent: number;
  readonly ownMs: number;
  readonly endedMs: number;
}

function descendantsTime(): number {
  if (process.platform !== "linux") return 0;
  const stats = readStats();
  let total = stats.get(process.pid)?.endedMs ?? 0;
  for (const [id, { ownMs, endedMs }] of stats) if (isDescendant(id, stats)) total += ownMs + endedMs;
  return total;
}

function isDescendant(id: number, stats: ReadonlyMap<number, Stat>): boolean {
  const parent = stats.get(id)?.parent;
  return parent !== undefined && (parent === process.pid || isDescendant(parent, stats));
}

function readStats(): Map<number, Stat> {
  const stats = new Map<number, Stat>();
  for (const id of readdirSync("/proc")) {
    if (!/^\d+$/.test(id)) continue;
    try {
      // A command can contain spaces and parentheses.
      const [, parent, ...fields] = (
        readFileSync(`/proc/${id}/stat`, "latin1").split(") ").at(-1) ?? ""
      ).split(" ");
      const ticks = (from: number) => (Number(fields[from]) + Number(fields[from + 1])) * tickMs;
      stats.set(Number(id), { parent: Number(parent), ownMs: ticks(9), endedMs: ticks(11) });
    } catch {
      // The process has ended.
    }
  }
  return stats;
}
