import { hostNetwork } from "../domain/address.ts";
import { UserError } from "../domain/errors.ts";

/** A quota of places or bytes. One network gets at most half of it, so that others find some. */
export class Quota {
  readonly #limit: number;
  readonly #what: string;
  readonly #held = new Map<string, number>();
  #total = 0;

  /** @param what goes on while all of it is taken, as in “Too many … at the moment” */
  constructor(limit: number, what: string) {
    this.#limit = limit;
    this.#what = what;
  }

  /**
   * Takes a part of the quota.
   * @param client an address; undefined for work that may take all of it
   * @returns a function that releases the part; undefined if not enough is left
   */
  take(client: string | undefined, amount = 1): (() => void) | undefined {
    const network = client === undefined ? "" : hostNetwork(client);
    const max = client === undefined ? this.#limit : this.#limit / 2;
    if (this.#total + amount > this.#limit || (this.#held.get(network) ?? 0) + amount > max) return undefined;
    this.#add(network, amount);
    let isHeld = true;
    return () => {
      if (isHeld) this.#add(network, -amount);
      isHeld = false;
    };
  }

  /** Runs `work` with a part of the quota. @throws UserError "busy" if not enough is left, and what `work` throws */
  async holding<T>(client: string | undefined, amount: number, work: () => Promise<T>): Promise<T> {
    const release = this.take(client, amount);
    if (release === undefined) throw new UserError("busy", this.refusal);
    try {
      return await work();
    } finally {
      release();
    }
  }

  get refusal(): string {
    return `Too many ${this.#what} at the moment. Try again in a few seconds.`;
  }

  #add(network: string, amount: number): void {
    this.#total += amount;
    const held = (this.#held.get(network) ?? 0) + amount;
    if (held > 0) this.#held.set(network, held);
    else this.#held.delete(network);
  }
}

/** A queue with a limit: a few tasks run at a time, others wait in order of arrival. */
export class Admission {
  readonly #places: Quota;
  readonly #first: (() => void)[] = [];
  readonly #waiting: (() => void)[] = [];
  #free: number;

  /**
   * @param maxConcurrent how many may run
   * @param limit how many may run or wait
   * @param what goes on while there are too many, as in “Too many … at the moment”
   */
  constructor(maxConcurrent: number, limit = Number.POSITIVE_INFINITY, what = "packages are being made") {
    this.#places = new Quota(limit, what);
    this.#free = maxConcurrent;
  }

  /**
   * Runs `work` when a place is free.
   * @param client an address; undefined for work that may take all places
   * @param isFirst whether it goes before all waiting work without this flag
   * @throws UserError "busy" if too many wait
   */
  run<T>(work: () => Promise<T>, client?: string, isFirst = false): Promise<T> {
    return this.#places.holding(client, 1, async () => {
      if (this.#free > 0) this.#free--;
      else await new Promise<void>((start) => (isFirst ? this.#first : this.#waiting).push(start));
      try {
        return await work();
      } finally {
        const next = this.#first.shift() ?? this.#waiting.shift();
        if (next === undefined) this.#free++;
        else next();
      }
    });
  }
}
