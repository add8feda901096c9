/** So long nobody else is served. */
const sliceMs = 10;

/** Finishes work that is done in steps, and lets others come in between whenever it has taken a while. */
export async function inSteps<T>(work: Iterator<undefined, T>): Promise<T> {
  let started = performance.now();
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (performance.now() - started < sliceMs) continue;
    await new Promise(setImmediate);
    started = performance.now();
  }
}

/** One piece of work after the other: what each of them holds in memory is held once. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work, work);
    this.#last = turn.catch(() => {});
    return turn;
  }
}
