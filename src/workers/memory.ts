import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Flags of V8 that keep the process small. `node platen.cjs` passes no flags to V8, so Platen sets them at run time,
 * before anything else: V8 reads them when it compiles code or creates a heap. Node 20 to 26 know all of them, but
 * Node does not guarantee them. If a future V8 does not know a flag, each thread writes two lines to standard error and
 * uses more memory. See docs/decisions/0013.
 */
const memoryFlags = [
  // SQLite's WebAssembly: V8 compiles only functions that are called, and only with its fast compiler.
  "--wasm-lazy-compilation",
  "--liftoff-only",
  // JavaScript: less inlining makes less code.
  "--optimize-for-size",
  // A small young generation is enough, because `countUsedBuffers` frees short-lived buffers.
  "--max-semi-space-size=1",
  // The young generation is too small for parallel collection to be faster.
  "--no-parallel-scavenge",
  // Provides the function `gc`.
  "--expose-gc",
];

/** Sets the flags. Call it before anything else is loaded. */
export function tuneMemory(): void {
  for (const flag of memoryFlags) setFlagsFromString(flag);
}

type Collect = (options?: { type: "minor" }) => void;

const collectEveryBytes = 2 * 1024 * 1024;
/** Every 32nd collection is a full one. The others collect only the young generation. */
const fullCollectionEvery = 32;

let collect: Collect | undefined;
let usedBytes = 0;
let rounds = 0;

/**
 * Counts bytes of buffers that are no longer used, and collects garbage every 2 MB. V8 frees buffers only when its own
 * heap fills, which streaming does not do: without this, a download leaves hundreds of megabytes of dead buffers.
 */
export function countUsedBuffers(bytes: number): void {
  usedBytes += bytes;
  if (usedBytes < collectEveryBytes) return;
  usedBytes = 0;
  // Without `gc`, V8 decides when to free the buffers.
  collect ??= (runInNewContext("globalThis.gc") as Collect | undefined) ?? (() => {});
  rounds = (rounds + 1) % fullCollectionEvery;
  if (rounds === 0) collect();
  else collect({ type: "minor" });
}
