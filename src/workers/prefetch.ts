/**
 * Yields what `make` fills for 0, 1, … in order, with so many of them under way at a time, each in a room
 * of its own. A yielded piece is the caller's until it asks for the next one; then its room is used again.
 * When the generator ends, however it ends, nothing of it is under way any more.
 */
export async function* ahead(
  width: number,
  count: number,
  room: () => Uint8Array,
  make: (i: number, room: Uint8Array) => Promise<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const waiting: { readonly room: Uint8Array; readonly work: Promise<Uint8Array> }[] = [];
  const start = (i: number, place: Uint8Array) => {
    const work = make(i, place);
    work.catch(() => {});
    waiting.push({ room: place, work });
  };
  try {
    for (let i = 0; i < Math.min(width, count); i++) start(i, room());
    for (let i = 0; i < count; i++) {
      const next = waiting.shift();
      if (next === undefined) return;
      yield await next.work;
      if (i + width < count) start(i + width, next.room);
    }
  } finally {
    await Promise.allSettled(waiting.map(({ work }) => work));
  }
}
