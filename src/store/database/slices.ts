/** So long nobody else is served. */
const sliceMs = 10;

const partItems = 250;

/** Does something with one part of the items after the other: others may come in between two. */
export function* inParts<T>(
  items: readonly T[],
  work: (part: readonly T[]) => void,
): Generator<undefined, void> {
  for (let from = 0; from < items.length; from += partItems) {
    work(items.slice(from, from + partItems));
    yield;
  }
}

/** Finishes it without letting anybody in. */
export function atOnce<T>(work: Generator<undefined, T>): T {
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value;
}

/** Runs synchronous pieces of work one after the other, and lets the event loop turn whenever they have taken a while. */
export class Slices {
  /** Puts in place what the pieces need, runs one, and takes it back. */
  readonly #within: <T>(run: () => T) => T;
  #began = performance.now();

  constructor(within: <T>(run: () => T) => T) {
    this.#within = within;
  }

  /** Lets others come in where it is time. */
  async turn(): Promise<void> {
    if (!this.#isOver()) return;
    await new Promise(setImmediate);
    this.#began = performance.now();
  }

  /** One piece. */
  async piece<T>(run: () => T): Promise<T> {
    await this.turn();
    return this.#within(run);
  }

  /** All of it, whether it is one piece or a generator, which may be left wherever it yields. */
  async all<T>(work: () => T | Generator<undefined, T>): Promise<T> {
    const begun = await this.piece(work);
    if (!isGenerator(begun)) return begun;
    for (;;) {
      const step = await this.piece(() => this.#some(begun));
      if (step.done) return step.value;
    }
  }

  /** As many steps as there is time for. */
  #some<T>(steps: Generator<undefined, T>): IteratorResult<undefined, T> {
    let step = steps.next();
    while (!step.done && !this.#isOver()) step = steps.next();
    return step;
  }

  #isOver(): boolean {
    return performance.now() - this.#began >= sliceMs;
  }
}

export function isGenerator<T>(value: T | Generator<undefined, T>): value is Generator<undefined, T> {
  return Object.prototype.toString.call(value) === "[object Generator]";
}
