import { siteOf } from "../domain/address.ts";
import { UserError } from "../domain/errors.ts";

/** Places, or bytes, that clients hold of something. One client has at most half of them, so that others find some. */
export class Quota {
  readonly #limit: number;
  readonly #what: string;
  readonly #held = new Map<string, number>();
  #total = 0;

  /** @param what goes on when all of it is taken, as a refusal says it */
  constructor(limit: number, what: string) {
    this.#limit = limit;
    this.#what = what;
  }

  /**
   * Takes some of it.
   * @param client an address; undefined where all of it may be taken
   * @returns what gives it back, once; undefined where not enough is left
   */
  take(client: string | undefined, amount = 1): (() => void) | undefined {
    const site = client === undefined ? "" : siteOf(client);
    const max = client === undefined ? this.#limit : this.#limit / 2;
    if (this.#total + amount > this.#limit || (this.#held.get(site) ?? 0) + amount > max) return undefined;
    this.#add(site, amount);
    let isHeld = true;
    return () => {
      if (isHeld) this.#add(site, -amount);
      isHeld = false;
    };
  }

  /** Works with some of it. @throws UserError "busy" where not enough is left, and what `work` throws */
  async holding<T>(client: string | undefined, amount: number, work: () => Promise<T>): Promise<T> {
    const release = this.take(client, amount);
    if (release === undefined) throw new UserError("busy", this.refusal);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** What is said where not enough is left. */
  get refusal(): string {
    return `Too many ${this.#what} at the moment. Try again in a few seconds.`;
  }

  #add(site: string, amount: number): void {
    this.#total += amount;
    const held = (this.#held.get(site) ?? 0) + amount;
    if (held > 0) this.#held.set(site, held);
    else this.#held.delete(site);
  }
}

/** A queue with a bound: a few tasks run at a time, some more wait in the order in which they came. */
export class Admission {
  readonly #places: Quota;
  readonly #first: (() => void)[] = [];
  readonly #waiting: (() => void)[] = [];
  #free: number;

  /**
   * @param limit how many may run or wait
   * @param what goes on when these are too many, as a refusal says it
   */
  constructor(atOnce: number, limit = Number.POSITIVE_INFINITY, what = "packages are being made") {
    this.#places = new Quota(limit, what);
    this.#free = atOnce;
  }

  /**
   * Runs `work` when it is its turn.
   * @param client an address; undefined where all places may be taken
   * @param isFirst whether it goes before all that wait without this
   * @throws UserError "busy" where too many wait
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
