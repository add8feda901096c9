// Processor time of this thread: on a busy machine, waiting for a processor is not work.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";

const schedule = `/proc/self/task/${process.pid}/schedstat`;
const hasSchedule = existsSync(schedule);

/** The main thread's processor time so far in milliseconds; where the system does not tell, the time that passes. */
function ownTime(): number {
  return hasSchedule ? Number(readFileSync(schedule, "latin1").split(" ")[0]) / 1e6 : performance.now();
}

/**
 * The least processor time that some runs of a work took on this thread, in milliseconds: what a garbage collection adds
 * is not the work's.
 */
export async function leastTime(work: () => unknown, runs = 5): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < runs; i++) {
    const started = ownTime();
    await work();
    least = Math.min(least, ownTime() - started);
    if (least > 2000) break;
  }
  return least;
}

/** What is lost in noise: no ratio of times below it means anything. */
const floorMs = 40;

/**
 * Holds that ten times as much takes about ten times as long, and not a hundred times.
 * @param work does the work for so much, on this thread
 */
export async function growsEvenly(
  what: string,
  size: number,
  work: (size: number) => unknown | Promise<unknown>,
): Promise<void> {
  const small = Math.max(floorMs, await leastTime(() => work(size), 3));
  const large = await leastTime(() => work(10 * size), 3);
  assert.ok(
    large < 25 * small,
    `${what}: ${size} took ${small.toFixed(0)} ms, ${10 * size} took ${large.toFixed(0)} ms`,
  );
}

/** The longest that the event loop is held while something runs, in milliseconds of processor time. */
export async function longestHold(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = ownTime();
  const timer = setInterval(() => {
    const now = ownTime();
    longest = Math.max(longest, now - last);
    last = now;
  }, 2);
  try {
    await work();
    return longest;
  } finally {
    clearInterval(timer);
  }
}

/** The least of several longest holds. */
export async function leastHold(runs: number, work: (run: number) => Promise<unknown>): Promise<number> {
  const holds: number[] = [];
  for (let run = 0; run < runs; run++) holds.push(await longestHold(() => work(run)));
  return Math.min(...holds);
}
