import { existsSync, readFileSync } from "node:fs";

const schedule = `/proc/self/task/${process.pid}/schedstat`;
const hasSchedule = existsSync(schedule);

/**
 * The main thread's own processor time in milliseconds: on a busy machine, waiting for a processor is not
 * work. Where the system does not tell, the time that passes.
 */
export function ownTime(): number {
  return hasSchedule ? Number(readFileSync(schedule, "latin1").split(" ")[0]) / 1e6 : performance.now();
}

/** The longest that the event loop is held while something runs, in milliseconds. */
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

/** The shortest of several longest holds: what a garbage collection adds or a busy machine adds by chance is not the service's. */
export async function leastHold(runs: number, work: (run: number) => Promise<unknown>): Promise<number> {
  const holds: number[] = [];
  for (let run = 0; run < runs; run++) holds.push(await longestHold(() => work(run)));
  return Math.min(...holds);
}
