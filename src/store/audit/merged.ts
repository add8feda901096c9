import type { NewEntry } from "./writer.ts";

/** By their times; of each by itself the order stays, also by a clock that was put back. */
export function merged(changes: readonly NewEntry[], events: readonly NewEntry[]): NewEntry[] {
  const all: NewEntry[] = [];
  let next = 0;
  for (const change of changes) {
    for (let event = events[next]; event !== undefined && event.at < change.at; event = events[next]) {
      all.push(event);
      next++;
    }
    all.push(change);
  }
  return [...all, ...events.slice(next)];
}
