import { Latest } from "../../domain/recent-map.ts";

/** What failed attempts are counted by: an account's name, a network, or a browser that is known. */
export type FailureKey = `${keyof typeof longestMs} ${string}`;

interface Failures {
  readonly count: number;
  /** When the last one was, and from when on the next attempt may be made; in milliseconds since 1970. */
  readonly at: number;
  readonly openAt: number;
}

const minute = 60_000;

/** The longest wait. A name stays open to its owner while strangers guess its password. */
const longestMs = { name: minute / 2, network: 15 * minute, browser: 15 * minute } as const;
/** So many failures cost no wait. The next one costs a second, and each further one doubles the wait. */
const free = 5;
const firstWaitMs = 1000;
/** Failures are forgotten so long after the last of them. */
const rememberedMs = 120 * minute;
const mostKeys = 20_000;

/** Counts failed attempts, each under several keys, and says how long the next attempt has to wait. */
export class FailedAttempts {
  readonly #clock: () => number;
  readonly #failures = new Latest<FailureKey, Failures>(mostKeys);

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** In how many milliseconds the next attempt may be made; 0 for at once. */
  waitMs(keys: readonly FailureKey[]): number {
    const now = this.#clock();
    return Math.max(0, ...keys.map((key) => (this.#failures.get(key)?.openAt ?? 0) - now));
  }

  add(keys: readonly FailureKey[]): void {
    const now = this.#clock();
    for (const key of keys) {
      const before = this.#failures.get(key);
      const count = (before === undefined || before.at + rememberedMs <= now ? 0 : before.count) + 1;
      this.#failures.set(key, { count, at: now, openAt: now + waitAfter(count, key) });
    }
  }

  /** Forgets what failed, since an attempt succeeded. */
  forgive(keys: readonly FailureKey[]): void {
    for (const key of keys) this.#failures.delete(key);
  }
}

function waitAfter(count: number, key: FailureKey): number {
  if (count < free) return 0;
  const kind = key.slice(0, key.indexOf(" ")) as keyof typeof longestMs;
  return Math.min(longestMs[kind], firstWaitMs * 2 ** (count - free));
}
