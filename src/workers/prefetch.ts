export interface PrefetchOptions {
  readonly count: number;
  readonly buffer: () => Uint8Array;
  /** Fills a buffer with chunk `i` and returns the filled part. */
  readonly make: (i: number, buffer: Uint8Array) => Promise<Uint8Array>;
}

/**
 * Yields chunks 0, 1, … in order, and makes the next one meanwhile. There are two buffers, so the caller may use a
 * chunk only until it requests the next one. The generator ends, even after an error, only when no work is running.
 */
export async function* prefetch({ count, buffer, make }: PrefetchOptions): AsyncGenerator<Uint8Array> {
  const waiting: { readonly buffer: Uint8Array; readonly work: Promise<Uint8Array> }[] = [];
  let started = 0;
  const start = (free: Uint8Array) => {
    const work = make(started++, free);
    work.catch(() => {});
    waiting.push({ buffer: free, work });
  };
  try {
    while (started < Math.min(2, count)) start(buffer());
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      yield await next.work;
      if (started < count) start(next.buffer);
    }
  } finally {
    await Promise.allSettled(waiting.map(({ work }) => work));
  }
}
