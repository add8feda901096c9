/** What is made in advance, and where. */
export interface Prefetching {
  /** How many pieces there are. */
  readonly count: number;
  /** Makes a buffer for a piece. */
  readonly buffer: () => Uint8Array;
  /** Fills a buffer with piece `i`, and answers what of it is filled. */
  readonly make: (i: number, buffer: Uint8Array) => Promise<Uint8Array>;
}

/**
 * Yields pieces 0, 1, … in order, while the next one is made, each in a buffer of its own. A yielded piece is the
 * caller's until it asks for the next one; then its buffer is used again. When the generator ends, however it ends,
 * nothing of it is under way any more.
 */
export async function* prefetch({ count, buffer, make }: Prefetching): AsyncGenerator<Uint8Array> {
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
