import { UserError } from "../domain/errors.ts";

/** Lets a few long tasks run at a time; some more wait for their turn in order, the rest is refused. */
export class Admission {
  readonly #atOnce: number;
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  /** Running and waiting. */
  #count = 0;

  /** @param limit how many may run or wait */
  constructor(atOnce: number, limit: number) {
    this.#atOnce = atOnce;
    this.#limit = limit;
  }

  /** Runs `work` when it is its turn. @throws UserError "busy" where too many wait */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#count >= this.#limit) {
      throw new UserError(
        "busy",
        "Too many packages are being made at the moment. Try again in a few seconds.",
      );
    }
    this.#count++;
    if (this.#count > this.#atOnce) await new Promise<void>((start) => this.#waiting.push(start));
    try {
      return await work();
    } finally {
      this.#count--;
      this.#waiting.shift()?.();
    }
  }
}
