import type { AuditedEvent } from "../../domain/audit.ts";

/** What is counted is written so long after the first of it, in milliseconds. */
export const countedForMs = 60_000;
/** So many different events are counted with their addresses, and as many without. */
const mostCounted = 1000;
/** What stands in place of names and addresses that are too many. */
const several = "several";

interface Rate {
  /** Of lines, in the long run. */
  readonly perMinute: number;
  readonly atOnce: number;
}

/** Each by itself, so that nobody hides one kind of events behind another one. */
const rates = {
  downloaded: { perMinute: 60, atOnce: 3000 },
  "sign-in-failed": { perMinute: 10, atOnce: 300 },
  refused: { perMinute: 10, atOnce: 300 },
  other: { perMinute: 60, atOnce: 1000 },
} as const satisfies Record<string, Rate>;

/** What nobody can make happen by asking. */
const unbounded: ReadonlySet<string> = new Set([
  "started",
  "stopped",
  "log-shortened",
  "log-mended",
  "log-broken",
]);

/**
 * Keeps anybody from filling the disk with what is written down of his requests. What comes too often is counted for a
 * minute, and written as one line with its number; where addresses are too many, without them.
 */
export class AuditBounds {
  readonly #kinds = new Map(Object.entries(rates).map(([kind, rate]) => [kind, new Bound(rate)] as const));

  /** @returns the event where it is to be written now; undefined where it is counted */
  admit(event: AuditedEvent): AuditedEvent | undefined {
    if (unbounded.has(event.event)) return event;
    const bound = this.#kinds.get(event.event) ?? this.#kinds.get("other");
    return bound?.admit(event);
  }

  /** Whether anything is counted. */
  get isCounting(): boolean {
    return [...this.#kinds.values()].some(({ isCounting }) => isCounting);
  }

  /** What was counted, and is to be written now. */
  take(): AuditedEvent[] {
    return [...this.#kinds.values()].flatMap((bound) => bound.take());
  }
}

class Bound {
  readonly #rate: Rate;
  readonly #counted = new Map<string, AuditedEvent>();
  /** Failures of this minute that have their line. */
  readonly #told = new Set<string>();
  #left: number;
  #filledAt = 0;
  #toldSince = 0;

  constructor(rate: Rate) {
    this.#rate = rate;
    this.#left = rate.atOnce;
  }

  admit(event: AuditedEvent): AuditedEvent | undefined {
    this.#fill(event.at);
    const isFailure = event.event === "sign-in-failed" || event.event === "refused";
    const key = keyOf(event);
    if (this.#left < 1 || (isFailure && this.#told.has(key))) {
      this.#count(event);
      return undefined;
    }
    this.#left--;
    if (isFailure) this.#told.add(key);
    return event;
  }

  get isCounting(): boolean {
    return this.#counted.size > 0;
  }

  take(): AuditedEvent[] {
    const events = [...this.#counted.values()];
    this.#counted.clear();
    return events;
  }

  #count(event: AuditedEvent): void {
    const nameless = { ...event, who: several, from: several };
    if (this.#add(event, mostCounted) || this.#add(nameless, 2 * mostCounted)) return;
    this.#add({ at: event.at, who: several, from: several, event: event.event }, Number.POSITIVE_INFINITY);
  }

  #add(event: AuditedEvent, most: number): boolean {
    const key = keyOf(event);
    const known = this.#counted.get(key);
    if (known === undefined && this.#counted.size >= most) return false;
    const count = (known?.count ?? 0) + (event.count ?? 1);
    const who = known === undefined || known.who === event.who ? event.who : several;
    this.#counted.set(key, { ...event, who, count });
    return true;
  }

  #fill(now: number): void {
    const minutes = Math.max(0, now - this.#filledAt) / 60_000;
    this.#left = Math.min(this.#rate.atOnce, this.#left + minutes * this.#rate.perMinute);
    this.#filledAt = now;
    if (Math.abs(now - this.#toldSince) < countedForMs) return;
    this.#told.clear();
    this.#toldSince = now;
  }
}

/** Of sign-ins that fail the address alone: whoever tries a thousand names gets one line a minute all the same. */
function keyOf({ event, who, from, record, what, by, digest, printers }: AuditedEvent): string {
  if (event === "sign-in-failed") return JSON.stringify([event, from]);
  return JSON.stringify([event, who, from, record, what, by, digest, printers]);
}
