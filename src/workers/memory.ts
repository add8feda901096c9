import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Flags of V8 that keep the process small. A program that is started as `node platen.cjs` cannot bring a command line
 * of its own, so they are set at run time, first of all: V8 reads them when it compiles, or makes a heap, and later
 * is too late. Node promises nothing about them. One that a future V8 does not know costs two lines on standard error
 * for each thread and the memory it saved, nothing else (Node 20 to 26 know them all); see docs/decisions/0013.
 */
const memoryFlags = [
  // SQLite's WebAssembly: only functions that are called are compiled, by the quick compiler alone.
  "--wasm-lazy-compilation",
  "--liftoff-only",
  // JavaScript: less inlining, so less code.
  "--optimize-for-size",
  // The young generation holds short-lived buffers, which `buffersUsed` clears away.
  "--max-semi-space-size=1",
  // It is so small that threads which help to collect it cost more than they save.
  "--no-parallel-scavenge",
  // Makes `gc` there to be called.
  "--expose-gc",
];

/** Keeps the process, or the thread, small. To be called before anything else is loaded. */
export function tuneMemory(): void {
  for (const flag of memoryFlags) setFlagsFromString(flag);
}

type Collect = (options?: { type: "minor" }) => void;

const collectEveryBytes = 2 * 1024 * 1024;
/** Every so many times everything is looked at, not only what is young. */
const fullEvery = 32;

let collect: Collect | undefined;
let usedBytes = 0;
let rounds = 0;

/**
 * Says that so many bytes of buffers have been used up. V8 frees buffers only when its own heap fills, which
 * streaming never does: without this a download leaves hundreds of megabytes of dead buffers behind.
 */
export function buffersUsed(bytes: number): void {
  usedBytes += bytes;
  if (usedBytes < collectEveryBytes) return;
  usedBytes = 0;
  // Where there is no such function, buffers are freed when V8 finds it time.
  collect ??= (runInNewContext("globalThis.gc") as Collect | undefined) ?? (() => {});
  rounds = (rounds + 1) % fullEvery;
  if (rounds === 0) collect();
  else collect({ type: "minor" });
}
