import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Bytes of buffers that are still referenced after garbage collection, once the number is stable. */
export async function retainedBufferBytes(): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  let before = -1;
  for (let stable = 0; stable < 3; ) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const now = process.memoryUsage().arrayBuffers;
    stable = Math.abs(now - before) < 64 * 1024 ? stable + 1 : 0;
    before = now;
  }
  return before;
}
