import { UserError } from "../domain/errors.ts";

/** Lets a few long tasks run at a time; some more wait for their turn in order, the rest is refused. */
export class Admission {
  readonly #atOnce: number;
  readonly #limit: number;
  readonly #what: string;
  /** Running and waiting, by client. */
  readonly #held = new Map<string, number>();
  readonly #waiting: (() => void)[] = [];
  /** Running and waiting. */
  #count = 0;

  /**
   * @param limit how many may run or wait
   * @param what is done with what, as a refusal says it
   */
  constructor(atOnce: number, limit: number, what = "packages are being made") {
    this.#atOnce = atOnce;
    this.#limit = limit;
    this.#what = what;
  }

  /**
   * Runs `work` when it is its turn.
   * @param client whoever asks: none has more than half of all that may run or wait; undefined is nobody's
   * @throws UserError "busy" where too many wait
   */
  async run<T>(work: () => Promise<T>, client?: string): Promise<T> {
    const held = client === undefined ? 0 : (this.#held.get(client) ?? 0);
    if (this.#count >= this.#limit || held >= this.#limit / 2)
      throw new UserError("busy", `Too many ${this.#what} at the moment. Try again in a few seconds.`);
    this.#add(client, 1);
    if (this.#count > this.#atOnce) await new Promise<void>((start) => this.#waiting.push(start));
    try {
      return await work();
    } finally {
      this.#add(client, -1);
      this.#waiting.shift()?.();
    }
  }

  #add(client: string | undefined, amount: 1 | -1): void {
    this.#count += amount;
    if (client === undefined) return;
    const held = (this.#held.get(client) ?? 0) + amount;
    if (held > 0) this.#held.set(client, held);
    else this.#held.delete(client);
  }
}
