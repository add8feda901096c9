/** So long nobody else is served. */
const sliceMs = 10;

/** Says when work on the main thread has taken so long that others should come in. */
export class Pauses {
  /** When others came in last, as far as it is known: one piece of work may follow another at once. */
  static #began = performance.now();

  get isDue(): boolean {
    return performance.now() - Pauses.#began >= sliceMs;
  }

  /** Lets others come in. */
  async take(): Promise<void> {
    await new Promise(setImmediate);
    Pauses.#began = performance.now();
  }
}

/** Finishes work that is done in steps, and lets others come in between whenever it has taken a while. */
export async function inSteps<T>(work: Iterator<undefined, T>): Promise<T> {
  const pauses = new Pauses();
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (pauses.isDue) await pauses.take();
  }
}
