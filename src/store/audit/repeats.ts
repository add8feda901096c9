import { siteOf } from "../../domain/address.ts";
import type { AuditedEvent, DownloadedRange } from "../../domain/audit/audit.ts";

/** Lines in a minute for the same download of one address; its parts, and refusals of one kind, have one. */
const sameDownloads = 10;
/** Different refusals of strangers that have lines of their own in a minute: the others have one line together. */
const maxRefusals = 100;
const minuteMs = 60_000;
const several = "several";

interface Seen {
  lines: number;
  /** What came after these lines, as one event. */
  more: AuditedEvent | undefined;
}

/**
 * Keeps a machine in a loop and a stranger who guesses passwords from filling the disk. The first of the same events have
 * lines of their own; one line says a minute later how many more there were.
 */
export class Repeats {
  readonly #write: (event: AuditedEvent) => void;
  readonly #seen = new Map<string, Seen>();
  /** How many different refusals of strangers have lines of their own in this minute. */
  #refusals = 0;
  /** When the minute began. */
  #began = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param write is given the events that say how many more there were */
  constructor(write: (event: AuditedEvent) => void) {
    this.#write = write;
  }

  /**
   * @param same the event in words that its client cannot choose: events are the same when these are
   * @returns whether the event has a line of its own; otherwise it is counted
   */
  admit(event: AuditedEvent, same: AuditedEvent): boolean {
    if (!isLimited(event)) return true;
    if (Math.abs(event.at - this.#began) >= minuteMs) this.end();
    if (this.#timer === undefined) this.#began = event.at;
    this.#timer ??= setTimeout(() => this.end(), minuteMs).unref();
    const counted = isStrangers(event) ? this.#withinLimit(same) : same;
    const key = keyOf(counted);
    const seen = this.#seen.get(key) ?? { lines: 0, more: undefined };
    this.#seen.set(key, seen);
    if (seen.lines < (isWholeDownload(event) ? sameDownloads : 1)) {
      seen.lines++;
      return true;
    }
    seen.more = together(seen.more, counted);
    return false;
  }

  /** Ends the minute: writes what was counted in it. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const { more } of this.#seen.values()) if (more !== undefined) this.#write(more);
    this.#seen.clear();
    this.#refusals = 0;
  }

  /** The event itself, or without its details where strangers caused too many different ones. */
  #withinLimit(event: AuditedEvent): AuditedEvent {
    if (this.#seen.has(keyOf(event))) return event;
    if (this.#refusals === maxRefusals)
      return { at: event.at, event: event.event, who: several, from: several };
    this.#refusals++;
    return event;
  }
}

function isWholeDownload({ event, range }: AuditedEvent): boolean {
  return ["download-begun", "downloaded", "backup-fetched"].includes(event) && range === undefined;
}

function isLimited(event: AuditedEvent): boolean {
  return event.range !== undefined || isWholeDownload(event) || isRefusal(event);
}

function isRefusal({ event }: AuditedEvent): boolean {
  return event === "refused" || event === "sign-in-failed";
}

/** Of a failed sign-in the name is only what was typed. */
function isStrangers(event: AuditedEvent): boolean {
  const isUnnamed = event.who === "nobody" || event.who === "anyone";
  return isRefusal(event) && (isUnnamed || event.event === "sign-in-failed");
}

function keyOf({ event, who, from, record, what, by, digest, range }: AuditedEvent): string {
  const isPart = range !== undefined;
  return JSON.stringify([event, who, siteOf(from), record?.kind, record?.id, what, by, digest, isPart]);
}

function together(before: AuditedEvent | undefined, event: AuditedEvent): AuditedEvent {
  if (before === undefined) return { ...event, since: event.at, count: 1 };
  const range = around(before.range, event.range);
  return { ...event, since: before.since, count: (before.count ?? 0) + 1, range };
}

/** From the first byte of both to the last one. */
function around(a: DownloadedRange | undefined, b: DownloadedRange | undefined): DownloadedRange | undefined {
  if (a === undefined || b === undefined) return undefined;
  return { first: Math.min(a.first, b.first), last: Math.max(a.last, b.last), size: b.size };
}
