import { hostNetwork } from "../domain/address.ts";
import { UserError } from "../domain/errors.ts";

/** A quota of places or bytes. One network gets at most half of it, so that some is left for others. */
export class Quota {
  readonly #limit: number;
  readonly #what: string;
  readonly #used = new Map<string, number>();
  #total = 0;

  /** @param what the words for “Too many … at the moment” */
  constructor(limit: number, what: string) {
    this.#limit = limit;
    this.#what = what;
  }

  /**
   * Takes a part of the quota.
   * @param client the client's address; undefined for work that may take the whole quota
   * @returns a function that releases the part, to be called once; undefined if not enough is left
   */
  take(client: string | undefined, amount = 1): (() => void) | undefined {
    const network = client === undefined ? "" : hostNetwork(client);
    const max = client === undefined ? this.#limit : this.#limit / 2;
    if (this.#total + amount > this.#limit || (this.#used.get(network) ?? 0) + amount > max) return undefined;
    this.#add(network, amount);
    return () => this.#add(network, -amount);
  }

  /** Runs `work` with a part of the quota. @throws UserError "busy" if not enough is left, and what `work` throws */
  async runWith<T>(client: string | undefined, amount: number, work: () => Promise<T>): Promise<T> {
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
    const used = (this.#used.get(network) ?? 0) + amount;
    if (used > 0) this.#used.set(network, used);
    else this.#used.delete(network);
  }
}

/** Runs a few tasks at a time. Others wait in order of arrival. */
export class WorkQueue {
  readonly #places: Quota | undefined;
  readonly #first: (() => void)[] = [];
  readonly #waiting: (() => void)[] = [];
  #free: number;

  /**
   * @param maxConcurrent how many may run at a time
   * @param places limits how many may run or wait; without it, nothing is refused
   */
  constructor(maxConcurrent: number, places?: Quota) {
    this.#places = places;
    this.#free = maxConcurrent;
  }

  /**
   * Runs `work` when it is its turn.
   * @param client the client's address; undefined for work that may take all places
   * @param isFirst whether it runs before all waiting work without this flag
   * @throws UserError "busy" if too many wait
   */
  run<T>(work: () => Promise<T>, client?: string, isFirst = false): Promise<T> {
    const run = () => this.#runInOrder(work, isFirst);
    return this.#places?.runWith(client, 1, run) ?? run();
  }

  async #runInOrder<T>(work: () => Promise<T>, isFirst: boolean): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((start) => (isFirst ? this.#first : this.#waiting).push(start));
    try {
      return await work();
    } finally {
      const next = this.#first.shift() ?? this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
