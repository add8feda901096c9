import assert from "node:assert/strict";
import { ownTime } from "./holds.ts";

/** What is lost in noise on a busy machine: no ratio of times below it means anything. */
const floorMs = 40;

/**
 * Holds that a text ten times as long takes about ten times as long, and not a hundred times.
 * @param work does the work for a text of `size` on this thread; the least of three runs' processor times counts
 */
export async function growsEvenly(
  what: string,
  size: number,
  work: (size: number) => unknown | Promise<unknown>,
): Promise<void> {
  const small = Math.max(floorMs, await shortest(() => work(size)));
  const large = await shortest(() => work(10 * size));
  assert.ok(
    large < 25 * small,
    `${what}: ${size} took ${small.toFixed(0)} ms, ${10 * size} took ${large.toFixed(0)} ms`,
  );
}

async function shortest(work: () => unknown | Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 3; i++) {
    const started = ownTime();
    await work();
    best = Math.min(best, ownTime() - started);
    if (best > 2000) break;
  }
  return best;
}
