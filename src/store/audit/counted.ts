import type { AuditedEvent, AuditedRecord, DownloadedRange } from "../../domain/audit.ts";
import { siteOf } from "../../domain/site.ts";
import { keyOf, type Share } from "./shares.ts";

/** So many different events are counted by themselves, and as many again with each part less that is said of them. */
const mostCounted = 1000;
/** So many more are kept for those of whom only a few are counted. */
const mostKept = 500;
const mostOfFew = 10;
/** Of one who asks so many are counted by themselves, and so many with less. */
const mostOfShare = 50;
const mostBriefOfShare = 200;
/** Accounts of which failed sign-ins are counted by their names, times the reasons. */
const mostNamed = 5000;
/** So many printers are held by what is counted, with their revisions. */
const mostPrintersHeld = 20_000;
/** What stands in place of names and addresses that are too many. */
const several = "several";

interface CountedEvent {
  readonly event: AuditedEvent;
  /** Whose it is, and how much is left of what was said. */
  readonly holder: string;
  readonly level: number;
}

/** Events that came too often, by what they have in common. */
export class Counted {
  readonly #mostOfShare: number;
  /** The oldest first. */
  readonly #events = new Map<string, CountedEvent>();
  /** How many of them each share has, and how many say how much. */
  readonly #held = new Map<string, number>();
  readonly #sizes: number[] = [];
  #printers = 0;

  /** @param mostWhole so many of one who asks are counted by themselves */
  constructor(mostWhole = mostOfShare) {
    this.#mostOfShare = mostWhole;
  }

  get size(): number {
    return this.#events.size;
  }

  /**
   * Counts an event, as exactly as there is room for.
   * @param general the same in words that whoever asks cannot choose: what is said where the events differ
   */
  add(event: AuditedEvent, share: Share, general = event): void {
    if (this.#add(event, { level: 0, share, general, isLast: false })) return;
    const [said, known] = [briefly(event, share), briefly(general, share)];
    for (const [at, one] of said.entries()) {
      const isLast = at === said.length - 1;
      if (this.#add(one, { level: at + 1, share, general: known[at] ?? one, isLast })) return;
    }
  }

  /** The oldest of them, which are counted anew from now on. */
  take(most: number): AuditedEvent[] {
    const taken = [...this.#events].slice(0, most);
    for (const [key, { event, holder, level }] of taken) {
      this.#events.delete(key);
      this.#hold(holder, level, -1);
      this.#printers -= event.printers?.length ?? 0;
    }
    return taken.map(([, { event }]) => event);
  }

  /** @returns whether there was room */
  #add(
    event: AuditedEvent,
    of: {
      readonly level: number;
      readonly share: Share;
      readonly general: AuditedEvent;
      readonly isLast: boolean;
    },
  ): boolean {
    const { level, share, general } = of;
    const key = level === 0 ? keyOf(general) : briefKeyOf(level, general);
    const known = this.#events.get(key);
    if (known !== undefined) {
      this.#events.set(key, { ...known, event: together(known.event, event, general) });
      return true;
    }
    const holder = `${level} ${share.name}`;
    const printers = this.#printers + (event.printers?.length ?? 0);
    const hasRoom = this.#hasRoom(event, level, holder, share) && printers <= mostPrintersHeld;
    if (!of.isLast && !hasRoom) return false;
    this.#events.set(key, { event: { ...event, count: event.count ?? 1 }, holder, level });
    this.#hold(holder, level, 1);
    this.#printers = printers;
    return true;
  }

  #hasRoom({ event }: AuditedEvent, level: number, holder: string, { of }: Share): boolean {
    const size = this.#sizes[level] ?? 0;
    if (event === "sign-in-failed" && level === 2) return size < mostNamed;
    const held = this.#held.get(holder) ?? 0;
    // Strangers are without end: nothing can be kept for each of them.
    const kept = of !== "stranger" && held < mostOfFew ? mostKept : 0;
    return size < mostCounted + kept && held < (level === 0 ? this.#mostOfShare : mostBriefOfShare);
  }

  #hold(holder: string, level: number, change: number): void {
    const held = (this.#held.get(holder) ?? 0) + change;
    if (held > 0) this.#held.set(holder, held);
    else this.#held.delete(holder);
    this.#sizes[level] = (this.#sizes[level] ?? 0) + change;
  }
}

/** What can be said of an event, each time with less. The reason of a failed sign-in is always said. */
function briefly(event: AuditedEvent, share: Share): AuditedEvent[] {
  const { at, who, event: kind, what, record, by } = event;
  const site = prefixOf(share.of === "stranger" ? share.name : siteOf(event.from));
  const said = what === undefined ? {} : { what };
  const atSite = { at, who, from: site, event: kind, ...said, record, ...(by !== undefined && { by }) };
  const anywhere = { ...atSite, from: several };
  const anybody = { at, who: several, from: several, event: kind, ...said };
  if (kind === "sign-in-failed") return [atSite, anywhere, anybody];
  const bare = { at, from: several, event: kind };
  return [atSite, anywhere, { ...bare, who }, anybody, { ...bare, who: several }];
}

function briefKeyOf(level: number, { event, who, from, what, record, by }: AuditedEvent): string {
  return JSON.stringify([level, event, who, from, what, record?.kind, by]);
}

/** As the last of both, with what they have in common. */
function together(before: AuditedEvent, event: AuditedEvent, general: AuditedEvent): AuditedEvent {
  const { what } = before.what === event.what ? event : general;
  const range = around(before.range, event.range);
  return {
    ...event,
    since: before.since ?? before.at,
    from: before.from === event.from ? event.from : prefixOf(siteOf(event.from)),
    record: isSame(before.record, event.record) ? event.record : undefined,
    ...(what !== undefined && { what }),
    count: (before.count ?? 1) + (event.count ?? 1),
    ...(range && { range }),
  };
}

function isSame(a: AuditedRecord | undefined, b: AuditedRecord | undefined): boolean {
  return a?.kind === b?.kind && a?.id === b?.id;
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
