import type { AuditEvent, AuditedEvent } from "../../domain/audit.ts";
import { Counted } from "./counted.ts";
import { keyOf, type Share, shareOf } from "./shares.ts";

interface Rate {
  /** Of lines, in the long run. */
  readonly perMinute: number;
  readonly atOnce: number;
}

/** What all may have written, and one of them. */
interface Rates {
  readonly all: Rate;
  readonly one: Rate;
}

const failures: Rates = { all: { perMinute: 10, atOnce: 300 }, one: { perMinute: 2, atOnce: 30 } };
const downloads: Rates = { all: { perMinute: 60, atOnce: 3000 }, one: { perMinute: 20, atOnce: 1000 } };
const others: Rates = { all: { perMinute: 60, atOnce: 1000 }, one: { perMinute: 20, atOnce: 300 } };

/** Each kind by itself, so that nobody hides one behind another one. */
const kinds: Partial<Record<AuditEvent, readonly [kind: string, Rates]>> = {
  "download-begun": ["downloads", downloads],
  downloaded: ["downloads", downloads],
  "sign-in-failed": ["failed", failures],
  refused: ["refused", failures],
};

/** What nobody can make happen by asking. */
const unbounded: ReadonlySet<AuditEvent> = new Set<AuditEvent>([
  ...(["started", "stopped", "recovered", "backup-restored"] as const),
  ...(["log-shortened", "log-mended", "log-broken", "entries-lost"] as const),
]);

/**
 * Keeps anybody from filling the disk with what is written down of their requests, and from hiding others' by it. What
 * comes too often is counted, and written later as one line with its number. Strangers have a share of their own.
 */
export class AuditBounds {
  readonly #kinds = new Map<string, Bound>();

  /**
   * @param counted what it is counted as, where that is less than what happened
   * @returns whether it is to be written now; else it is counted
   */
  admit(event: AuditedEvent, counted = event): boolean {
    if (unbounded.has(event.event)) return true;
    const share = shareOf(event);
    const [kind, rates] = kinds[event.event] ?? ["other", others];
    const name = `${kind}${share.isStranger ? " of strangers" : ""}`;
    const bound = this.#kinds.get(name) ?? new Bound(rates);
    this.#kinds.set(name, bound);
    return bound.admit(counted, share);
  }

  /** Whether anything is counted. */
  get isCounting(): boolean {
    return [...this.#kinds.values()].some(({ isCounting }) => isCounting);
  }

  /** Of what was counted, what is to be written in this minute; all of it where there is no other one. */
  take(isLast: boolean): AuditedEvent[] {
    return [...this.#kinds.values()].flatMap((bound) => bound.take(isLast));
  }
}

/** So many who ask have a share that is remembered. */
const mostShares = 2000;
const minute = 60_000;

class Bound {
  readonly #rates: Rates;
  readonly #all: Bucket;
  readonly #shares = new Map<string, Bucket>();
  readonly #counted = new Counted();
  /** What has its line in this minute, of what has one line a minute. */
  readonly #written = new Set<string>();
  #writtenSince = 0;

  constructor(rates: Rates) {
    this.#rates = rates;
    this.#all = new Bucket(rates.all);
  }

  admit(event: AuditedEvent, share: Share): boolean {
    const { at } = event;
    const key = isOnceAMinute(event) ? keyOf(event) : undefined;
    const [own, cost] = [this.#shareOf(share), costOf(event)];
    const isFree = own.has(cost, at) && this.#all.has(cost, at);
    if (!isFree || (key !== undefined && this.#writtenIn(at).has(key))) {
      this.#counted.add(event, share);
      return false;
    }
    for (const bucket of [own, this.#all]) bucket.take(cost);
    if (key !== undefined) this.#written.add(key);
    return true;
  }

  get isCounting(): boolean {
    return this.#counted.size > 0;
  }

  take(isLast: boolean): AuditedEvent[] {
    return this.#counted.take(isLast ? Number.POSITIVE_INFINITY : this.#rates.all.perMinute);
  }

  #shareOf({ name }: Share): Bucket {
    const bucket = this.#shares.get(name) ?? new Bucket(this.#rates.one);
    this.#shares.delete(name);
    this.#shares.set(name, bucket);
    const [oldest] = this.#shares.keys();
    if (this.#shares.size > mostShares && oldest !== undefined) this.#shares.delete(oldest);
    return bucket;
  }

  #writtenIn(now: number): ReadonlySet<string> {
    if (Math.abs(now - this.#writtenSince) >= minute) {
      this.#written.clear();
      this.#writtenSince = now;
    }
    return this.#written;
  }
}

/** Whoever tries again and again gets one line a minute, and so do the parts of a download that comes in many. */
function isOnceAMinute({ event, range }: AuditedEvent): boolean {
  return event === "sign-in-failed" || event === "refused" || range !== undefined;
}

/** A line with a thousand printers has some 30 KB: as much as forty ordinary ones. */
function costOf({ printers }: AuditedEvent): number {
  return 1 + Math.floor((printers?.length ?? 0) / 25);
}

/** Lines that may be written at once, which come back with time. */
class Bucket {
  readonly #rate: Rate;
  #left: number;
  #filledAt = 0;

  constructor(rate: Rate) {
    this.#rate = rate;
    this.#left = rate.atOnce;
  }

  has(cost: number, now: number): boolean {
    const minutes = Math.max(0, now - this.#filledAt) / minute;
    this.#left = Math.min(this.#rate.atOnce, this.#left + minutes * this.#rate.perMinute);
    this.#filledAt = now;
    return this.#left >= cost;
  }

  take(cost: number): void {
    this.#left -= cost;
  }
}
