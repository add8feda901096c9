import type { AuditedEvent, DownloadedRange } from "../../domain/audit.ts";
import { siteOf } from "../../domain/site.ts";
import { keyOf, type Share } from "./shares.ts";

/** So many different events are counted by themselves, as many again without names, and of one share so many. */
const mostCounted = 1000;
const mostOfShare = 50;
/** So many printers are held by what is counted, with their revisions. */
const mostPrintersHeld = 20_000;
/** What stands in place of names and addresses that are too many. */
const several = "several";

interface CountedEvent {
  readonly event: AuditedEvent;
  readonly share: string;
}

/** Events that came too often, by what they have in common. */
export class Counted {
  /** The oldest first. */
  readonly #events = new Map<string, CountedEvent>();
  /** How many of them each share has. */
  readonly #held = new Map<string, number>();
  #printers = 0;

  get size(): number {
    return this.#events.size;
  }

  /** Counts an event, as exactly as there is room for. */
  add(event: AuditedEvent, share: Share): void {
    const { at, who, event: kind, printers } = event;
    const nameless = { ...event, who: several, from: several };
    if (this.#add(event, share.name, mostCounted)) return;
    // What counts for printers goes on counting for them.
    if (printers !== undefined && this.#add(nameless, share.name, 2 * mostCounted)) return;
    const own = { at, who, from: share.isStranger ? prefixOf(share.name) : several, event: kind };
    if (this.#add(own, "", 3 * mostCounted)) return;
    this.#add({ ...own, who: several, from: several }, "", Number.POSITIVE_INFINITY);
  }

  /** The oldest of them, which are counted anew from now on. */
  take(most: number): AuditedEvent[] {
    const taken = [...this.#events].slice(0, most);
    for (const [key, { event, share }] of taken) {
      this.#events.delete(key);
      this.#hold(share, -1);
      this.#printers -= event.printers?.length ?? 0;
    }
    return taken.map(([, { event }]) => event);
  }

  /** @returns whether there was room */
  #add(event: AuditedEvent, share: string, most: number): boolean {
    const key = keyOf(event);
    const known = this.#events.get(key);
    if (known !== undefined) {
      this.#events.set(key, { ...known, event: together(known.event, event) });
      return true;
    }
    const printers = this.#printers + (event.printers?.length ?? 0);
    const isFull = this.#events.size >= most || printers > mostPrintersHeld;
    if (isFull || (share !== "" && (this.#held.get(share) ?? 0) >= mostOfShare)) return false;
    this.#events.set(key, { event: { ...event, count: event.count ?? 1 }, share });
    this.#hold(share, 1);
    this.#printers = printers;
    return true;
  }

  #hold(share: string, change: number): void {
    const held = (this.#held.get(share) ?? 0) + change;
    if (held > 0) this.#held.set(share, held);
    else this.#held.delete(share);
  }
}

/** As the last of both, with what they have in common. */
function together(before: AuditedEvent, event: AuditedEvent): AuditedEvent {
  const count = (before.count ?? 1) + (event.count ?? 1);
  const range = around(before.range, event.range);
  return {
    ...event,
    who: before.who === event.who ? event.who : several,
    from: before.from === event.from ? event.from : prefixOf(siteOf(event.from)),
    count,
    ...(range && { range }),
  };
}

/** `2001:db8:0:7::/64` of an IPv6 site or network; of IPv4 the address. */
function prefixOf(site: string): string {
  return site.includes(":") ? `${site}::/${16 * site.split(":").length}` : site;
}

/** From the first byte of both to the last one. */
function around(a: DownloadedRange | undefined, b: DownloadedRange | undefined): DownloadedRange | undefined {
  if (a === undefined || b === undefined) return undefined;
  return { first: Math.min(a.first, b.first), last: Math.max(a.last, b.last), size: b.size };
}
