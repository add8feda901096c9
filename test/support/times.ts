// Measures the processor time of this thread, so that waiting for a processor on a busy machine does not count.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";

const schedule = `/proc/self/task/${process.pid}/schedstat`;
const hasSchedule = existsSync(schedule);

/** The main thread's processor time so far, in milliseconds; elapsed time on systems that do not report it. */
function threadTime(): number {
  return hasSchedule ? Number(readFileSync(schedule, "latin1").split(" ")[0]) / 1e6 : performance.now();
}

/** The least processor time of several runs, in milliseconds: runs with a garbage collection take longer. */
export async function leastTime(work: () => unknown, runs = 5): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < runs; i++) {
    const started = threadTime();
    await work();
    least = Math.min(least, threadTime() - started);
    if (least > 2000) break;
  }
  return least;
}

/** Ratios of shorter times mean nothing. */
const floorMs = 40;

/**
 * Asserts that ten times the size takes about ten times as long, not a hundred times.
 * @param work does the work for a size, on this thread
 */
export async function assertLinearTime(
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

/** The longest time for which the event loop is blocked during the work, in milliseconds of processor time. */
export async function longestBlock(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = threadTime();
  const timer = setInterval(() => {
    const now = threadTime();
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

/** The least `longestBlock` of several runs. */
export async function leastBlock(runs: number, work: (run: number) => Promise<unknown>): Promise<number> {
  const blocks: number[] = [];
  for (let run = 0; run < runs; run++) blocks.push(await longestBlock(() => work(run)));
  return Math.min(...blocks);
}

/** Milliseconds of `referenceWork` in a test process on the idle machine of test/bench/README.md. */
const referenceMs = 250;

function referenceWork(): number {
  // Processor time is known to 4 ms, so the work takes much longer.
  const rows = Array.from({ length: 150_000 }, (_, i) => ({
    id: (i * 7919) % 150_000,
    name: `Office ${i % 97}`,
  }));
  const read: typeof rows = JSON.parse(JSON.stringify(rows));
  return read.sort((a, b) => a.name.localeCompare(b.name) || a.id - b.id).length;
}

let measured: { readonly at: number; readonly slower: number } | undefined;

/** How many times slower a fixed piece of work is now than on the idle machine: at least 1. Measured once a minute at most. */
async function slowness(): Promise<number> {
  if (measured === undefined || performance.now() - measured.at > 60_000)
    measured = {
      at: performance.now(),
      slower: Math.max(1, (await leastTime(referenceWork, 3)) / referenceMs),
    };
  return measured.slower;
}

/**
 * Asserts that no time reaches the limit. A machine that is slower now than the idle one has more time.
 * @param times in milliseconds, by what took them
 */
export async function assertWithin(maxMs: number, times: Readonly<Record<string, number>>): Promise<void> {
  const longest = Math.max(...Object.values(times));
  if (longest < maxMs) return;
  const slower = await slowness();
  const texts = Object.entries(times).map(([what, ms]) => `${what} ${ms.toFixed(0)} ms`);
  const text = `${texts.join(", ")}; the machine is ${slower.toFixed(1)} times slower than idle`;
  assert.ok(longest < maxMs * slower, text);
}
