import type { AuditEvent, AuditedEvent } from "../../domain/audit.ts";
import { Counted } from "./counted.ts";
import { keyOf, type Share, shareOf } from "./shares.ts";

interface Rate {
  /** Of lines, in the long run. */
  readonly perMinute: number;
  readonly atOnce: number;
}

/** What all may have written, one of them, and one of them who does nothing unusual. */
interface Rates {
  readonly all: Rate;
  readonly one: Rate;
  /** As much again as all may have is kept for those who stay below this. */
  readonly usual: Rate;
  /** So many of one who asks are counted by themselves. */
  readonly mostWhole?: number;
}

const failures: Rates = {
  all: { perMinute: 10, atOnce: 300 },
  one: { perMinute: 2, atOnce: 30 },
  usual: { perMinute: 1, atOnce: 10 },
};
const downloads: Rates = {
  all: { perMinute: 60, atOnce: 3000 },
  one: { perMinute: 20, atOnce: 1000 },
  usual: { perMinute: 10, atOnce: 100 },
};
const weighty: Rates = { ...downloads, mostWhole: 500 };
const others: Rates = {
  all: { perMinute: 60, atOnce: 1000 },
  one: { perMinute: 20, atOnce: 300 },
  usual: { perMinute: 5, atOnce: 50 },
};

/** Each kind by itself, so that nobody hides one behind another one. */
const kinds: Partial<Record<AuditEvent, readonly [kind: string, Rates]>> = {
  "download-begun": ["downloads", downloads],
  downloaded: ["downloads", downloads],
  "backup-fetched": ["weighty", weighty],
  "sign-in-failed": ["failed", failures],
  refused: ["refused", failures],
};

/** Downloads that take much away at once: no others hide them. */
const weightyDownloads: ReadonlySet<string> = new Set(["archive", "files", "audit.csv", "printers.csv"]);

function kindOf({ event, what = "" }: AuditedEvent): readonly [kind: string, Rates] {
  const [kind, rates] = kinds[event] ?? ["other", others];
  return kind === "downloads" && weightyDownloads.has(what) ? ["weighty", weighty] : [kind, rates];
}

/** What nobody can make happen by asking. */
const unbounded: ReadonlySet<AuditEvent> = new Set<AuditEvent>([
  ...(["started", "stopped", "recovered", "backup-restored"] as const),
  ...(["log-shortened", "log-mended", "log-broken", "entries-lost"] as const),
]);

/**
 * Keeps anybody from filling the disk with what is written down of their requests, and from hiding others' by it. What
 * comes too often is counted, and written later as one line with its number. People, programs and strangers have each
 * their own part, so that no token's flood takes anything from those who sign in.
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
    const [kind, rates] = kindOf(event);
    const name = `${kind} of a ${share.of}`;
    const bound = this.#kinds.get(name) ?? new Bound(rates);
    this.#kinds.set(name, bound);
    return bound.admit(event, counted, share);
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

/** What one who asks has left, of all and of what is usual. */
interface ShareLeft {
  readonly own: Bucket;
  readonly usual: Bucket;
}

class Bound {
  readonly #rates: Rates;
  readonly #all: Bucket;
  readonly #kept: Bucket;
  readonly #shares = new Map<string, ShareLeft>();
  readonly #counted: Counted;
  /** What has its line in this minute, of what has one line a minute. */
  readonly #written = new Set<string>();
  #writtenSince = 0;

  constructor(rates: Rates) {
    this.#rates = rates;
    this.#all = new Bucket(rates.all);
    this.#kept = new Bucket(rates.all);
    this.#counted = new Counted(rates.mostWhole);
  }

  /** @param counted what it is counted as */
  admit(event: AuditedEvent, counted: AuditedEvent, share: Share): boolean {
    const { at } = event;
    const key = isOnceAMinute(event) ? keyOf(counted) : undefined;
    const isRepeated = key !== undefined && this.#writtenIn(at).has(key);
    if (isRepeated || !this.#take(share, costOf(event), at)) {
      // What strangers choose is not repeated.
      this.#counted.add(talliedOf(share.of === "stranger" ? counted : event), share, talliedOf(counted));
      return false;
    }
    if (key !== undefined) this.#written.add(key);
    return true;
  }

  /** @returns whether it had as much */
  #take(share: Share, cost: number, now: number): boolean {
    const { own, usual } = this.#shareOf(share);
    const isUsual = usual.has(cost, now);
    if (!own.has(cost, now)) return false;
    const isFree = this.#all.has(cost, now);
    // Strangers are without end: nothing can be kept for each of them.
    const isKept = share.of !== "stranger" && isUsual && this.#kept.has(cost, now);
    if (!isFree && !isKept) return false;
    (isFree ? this.#all : this.#kept).take(cost);
    own.take(cost);
    if (isUsual) usual.take(cost);
    return true;
  }

  get isCounting(): boolean {
    return this.#counted.size > 0;
  }

  take(isLast: boolean): AuditedEvent[] {
    return this.#counted.take(isLast ? Number.POSITIVE_INFINITY : this.#rates.all.perMinute);
  }

  #shareOf({ name }: Share): ShareLeft {
    const { one, usual } = this.#rates;
    const left = this.#shares.get(name) ?? { own: new Bucket(one), usual: new Bucket(usual) };
    this.#shares.delete(name);
    this.#shares.set(name, left);
    const [oldest] = this.#shares.keys();
    if (this.#shares.size > mostShares && oldest !== undefined) this.#shares.delete(oldest);
    return left;
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

/** What is counted of downloads is counted for their printers at once. */
function talliedOf(event: AuditedEvent): AuditedEvent {
  return event.event === "downloaded" && event.printers ? { ...event, isTallied: true } : event;
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
