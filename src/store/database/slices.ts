// TO BE REMOVED when no caller passes a generator any more: writes and reads of the database are plain functions.

const partItems = 250;

/** What was read of one state of a database. */
export interface Moment<T> {
  readonly value: T;
  /** What the database's version was. */
  readonly version: number;
}

/** Does something with one part of the items after the other. */
export function* inParts<T>(
  items: readonly T[],
  work: (part: readonly T[]) => void,
): Generator<undefined, void> {
  for (let from = 0; from < items.length; from += partItems) {
    work(items.slice(from, from + partItems));
    yield;
  }
}

/** Runs a generator to its end; any other value is passed on. */
export function atOnce<T>(work: T | Generator<undefined, T>): T {
  if (!isGenerator(work)) return work;
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value;
}

function isGenerator<T>(value: T | Generator<undefined, T>): value is Generator<undefined, T> {
  return Object.prototype.toString.call(value) === "[object Generator]";
}
