import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

type Collect = (options?: { type: "minor" }) => void;

let collect: Collect | undefined;
let passed = 0;
let rounds = 0;
const collectEveryBytes = 2 * 1024 * 1024;
/** Every so many times everything is looked at, not only what is young. */
const fullEvery = 32;

/**
 * Keeps the process small, at the start of it: SQLite's WebAssembly is compiled function by function, by the
 * quick compiler alone, and the collector can be called.
 */
export function tuneMemory(): void {
  setFlagsFromString("--wasm-lazy-compilation");
  setFlagsFromString("--liftoff-only");
  setFlagsFromString("--optimize-for-size");
  setFlagsFromString("--max-semi-space-size=1");
  setFlagsFromString("--expose-gc");
}

/**
 * Says that so many bytes of buffers have been used up. V8 frees buffers only when its own heap fills, which
 * streaming never does: without this a download leaves hundreds of megabytes of dead buffers behind.
 */
export function buffersUsed(bytes: number): void {
  passed += bytes;
  if (passed < collectEveryBytes) return;
  passed = 0;
  collect ??= (runInNewContext("globalThis.gc") as Collect | undefined) ?? (() => {});
  rounds = (rounds + 1) % fullEvery;
  if (rounds === 0) collect();
  else collect({ type: "minor" });
}
