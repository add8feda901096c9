import { SignInTurns } from "./sign-in-turns.ts";

/** How failures under one key slow down the next attempt. */
interface Slowing {
  /** So many go without any. */
  readonly free: number;
  /** The first delay is a second, and each failure doubles it up to this. */
  readonly mostMs: number;
}

const minute = 60_000;
const slowings = {
  /** A name that is attacked from everywhere stays open: one attempt in half a minute, of who failed least. */
  name: { free: 10, mostMs: minute / 2 },
  /** One IPv4 address, or the /64 that any IPv6 host has to itself. */
  site: { free: 5, mostMs: 15 * minute },
  /** The /48 that a customer is given. */
  network: { free: 20, mostMs: 5 * minute },
  /** A browser that was signed in before, with the cookie that says so. */
  device: { free: 10, mostMs: 5 * minute },
  /** Counted alone: whoever has not failed there goes first. */
  around: { free: Number.POSITIVE_INFINITY, mostMs: 0 },
} satisfies Record<string, Slowing>;

/** So many failures in an area count as one next door. */
const areaShare = 16;

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
  /** What is around the site, in which others may have failed. */
  readonly near?: string;
  readonly area?: string;
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
  /** How much failed around it lately; less than nothing for a browser that was signed in before. */
  readonly rank: number;
  succeeded(): void;
}

/** Slows attempts to sign in, per name and per address, in a bounded memory. */
export class SignInThrottle {
  readonly #clock: () => number;
  /** The least recently used first. */
  readonly #failures = new Map<string, Failures>();
  readonly #turns = new SignInTurns();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#failures.size;
  }

  /** Of how many names it is remembered who waits for them. */
  get waiting(): number {
    return this.#turns.size;
  }

  /** An attempt, or in how many milliseconds one may be made: who asks too early is not slowed any further by that. */
  begin(source: SignInSource): Attempt | { readonly waitMs: number } {
    const now = this.#clock();
    const keys = keysOf(source);
    const rank = this.#rankOf(source, now);
    const openAt = this.#openAt(source, keys, rank, now);
    if (openAt > now) return { waitMs: openAt - now };
    this.#turns.taken(source.name, source.site);
    for (const [slowing, key] of keys) this.#add(key, slowing, 1, now);
    return {
      waitMs: 0,
      rank,
      succeeded: () => {
        for (const [slowing, key] of keys) this.#add(key, slowing, -1, this.#clock());
      },
    };
  }

  /** When this source may try: first its own failures count, then who else waits for the same name. */
  #openAt(
    { name, site, device }: SignInSource,
    keys: readonly (readonly [Slowing, string])[],
    rank: number,
    now: number,
  ): number {
    const openAts = (isWanted: (slowing: Slowing) => boolean) =>
      keys.filter(([slowing]) => isWanted(slowing)).map(([, key]) => this.#failures.get(key)?.openAt ?? 0);
    const own = Math.max(0, ...openAts((slowing) => slowing !== slowings.name));
    if (device !== undefined) return own;
    const ofName = Math.max(0, ...openAts((slowing) => slowing === slowings.name));
    if (own > now) return Math.max(own, ofName);
    if (ofName > now) this.#turns.remember(name, { site, rank, openAt: ofName });
    return ofName > now ? ofName : this.#turns.keptUntil(name, rank, now);
  }

  /** How much failed at the site and next to it lately, under whatever name; what is further away counts less. */
  #rankOf({ site, near, area, device }: SignInSource, now: number): number {
    if (device !== undefined) return -1;
    const failed = (key: string) => scoreAt(this.#failures.get(key), now);
    return failed(`site ${site}`) + failed(`near ${near}`) + failed(`area ${area}`) / areaShare;
  }

  #add(key: string, { free, mostMs }: Slowing, amount: number, now: number): void {
    const score = Math.max(0, scoreAt(this.#failures.get(key), now) + amount);
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

/** What is left of what failed. */
function scoreAt(failures: Failures | undefined, now: number): number {
  if (failures === undefined) return 0;
  return failures.score * 0.5 ** (Math.max(0, now - failures.at) / halfLifeMs);
}

/** Who was signed in before in this browser is slowed by nobody else's failures. */
function keysOf({ name, site, network, near, area, device }: SignInSource): [Slowing, string][] {
  if (device !== undefined) return [[slowings.device, `device ${device}`]];
  const keys: [Slowing, string][] = [
    [slowings.name, `name ${name}`],
    [slowings.site, `site ${site}`],
  ];
  if (network !== undefined) keys.push([slowings.network, `network ${network}`]);
  if (near !== undefined) keys.push([slowings.around, `near ${near}`]);
  if (area !== undefined) keys.push([slowings.around, `area ${area}`]);
  return keys;
}
