/** How failures under one key slow down the next attempt. */
interface Slowing {
  /** So many go without any. */
  readonly free: number;
  /** The first delay is a second, and each failure doubles it up to this. */
  readonly mostMs: number;
}

const minute = 60_000;
const slowings = {
  /** A name that is attacked from everywhere stays open: one attempt in half a minute, whoever makes it. */
  name: { free: 10, mostMs: minute / 2 },
  /** One IPv4 address, or the /64 that any IPv6 host has to itself. */
  site: { free: 5, mostMs: 15 * minute },
  /** The /48 that a customer is given. */
  network: { free: 20, mostMs: 5 * minute },
  /** A browser that was signed in before, with the cookie that says so. */
  device: { free: 10, mostMs: 5 * minute },
} satisfies Record<string, Slowing>;

/** After so long half of what failed is forgotten. */
const halfLifeMs = 120 * minute;
const firstDelayMs = 1000;
/** So many keys are remembered. */
const mostKeys = 20_000;
/** When there are more, the one with the fewest failures among so many of the oldest goes. */
const lookedAt = 64;

/** Where an attempt to sign in comes from. */
export interface SignInSource {
  /** The account's name as it was typed, folded; whether there is such an account makes no difference. */
  readonly name: string;
  /** An IPv4 address, or an IPv6 address's /64. */
  readonly site: string;
  /** An IPv6 address's /48. */
  readonly network?: string | undefined;
  /** The device of a browser that was signed in under this name before. */
  readonly device?: string | undefined;
}

interface Failures {
  readonly score: number;
  /** When the score was that. */
  readonly at: number;
  readonly openAt: number;
}

/** An attempt that may be made now. It counts as failed until it says otherwise, so that many at once count as many. */
interface Attempt {
  readonly waitMs: 0;
  succeeded(): void;
}

/** Slows attempts to sign in, per name and per address, in a bounded memory. */
export class SignInThrottle {
  readonly #clock: () => number;
  /** The least recently used first. */
  readonly #failures = new Map<string, Failures>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#failures.size;
  }

  /** An attempt, or in how many milliseconds one may be made: who asks too early is not slowed any further by that. */
  begin(source: SignInSource): Attempt | { readonly waitMs: number } {
    const now = this.#clock();
    const keys = keysOf(source);
    const openAt = Math.max(...keys.map(([, key]) => this.#failures.get(key)?.openAt ?? 0));
    if (openAt > now) return { waitMs: openAt - now };
    for (const [slowing, key] of keys) this.#add(key, slowing, 1, now);
    return {
      waitMs: 0,
      succeeded: () => {
        for (const [slowing, key] of keys) this.#add(key, slowing, -1, this.#clock());
      },
    };
  }

  #add(key: string, { free, mostMs }: Slowing, amount: number, now: number): void {
    const before = this.#failures.get(key) ?? { score: 0, at: now, openAt: 0 };
    const left = before.score * 0.5 ** (Math.max(0, now - before.at) / halfLifeMs);
    const score = Math.max(0, left + amount);
    const over = Math.round(score) - free;
    const delay = over < 0 ? 0 : Math.min(mostMs, firstDelayMs * 2 ** over);
    this.#failures.delete(key);
    if (score < 0.1) return;
    this.#failures.set(key, { score, at: now, openAt: amount > 0 ? now + delay : 0 });
    if (this.#failures.size > mostKeys) this.#forgetOne();
  }

  /** Names that nobody has are made up as fast as addresses allow: they do not push out the one that is attacked. */
  #forgetOne(): void {
    let least: [string, number] | undefined;
    let seen = 0;
    for (const [key, { score }] of this.#failures) {
      if (least === undefined || score < least[1]) least = [key, score];
      if (++seen >= lookedAt) break;
    }
    if (least !== undefined) this.#failures.delete(least[0]);
  }
}

/** Who was signed in before in this browser is slowed by nobody else's failures. */
function keysOf({ name, site, network, device }: SignInSource): [Slowing, string][] {
  if (device !== undefined) return [[slowings.device, `device ${device}`]];
  const keys: [Slowing, string][] = [
    [slowings.name, `name ${name}`],
    [slowings.site, `site ${site}`],
  ];
  if (network !== undefined) keys.push([slowings.network, `network ${network}`]);
  return keys;
}
