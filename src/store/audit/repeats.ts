import { hostNetwork } from "../../domain/address.ts";
import type { AuditedEvent, DownloadedRange } from "../../domain/audit/audit.ts";

/** Lines in a minute for the same download from one network. Parts of a download, and refusals of one kind, get one line. */
const maxSameDownloads = 10;
/** Different unauthenticated refusals that get their own lines in a minute. All others share one line. */
const maxRefusals = 100;
const minuteMs = 60_000;
const severalSenders = "several";

interface CountedEvents {
  lines: number;
  /** All further events after these lines, as one event. */
  summary: AuditedEvent | undefined;
}

/**
 * Prevents a machine in a loop, or a client that guesses passwords, from filling the disk. The first of several equal events
 * get their own lines. After a minute, one line tells how many more there were.
 */
export class Repeats {
  readonly #write: (event: AuditedEvent) => void;
  readonly #counted = new Map<string, CountedEvents>();
  /** The number of different unauthenticated refusals with their own lines in this minute. */
  #refusals = 0;
  /** When the minute began: UTC, milliseconds since 1970. */
  #began = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param write is called with the summaries of counted events */
  constructor(write: (event: AuditedEvent) => void) {
    this.#write = write;
  }

  /**
   * @param same the event without text from the client: events are equal when these are equal
   * @returns whether the event gets its own line; otherwise it is counted
   */
  admit(event: AuditedEvent, same: AuditedEvent): boolean {
    if (!isLimited(event)) return true;
    if (Math.abs(event.at - this.#began) >= minuteMs) this.end();
    if (this.#timer === undefined) this.#began = event.at;
    this.#timer ??= setTimeout(() => this.end(), minuteMs).unref();
    const counted = isUnauthenticated(event) ? this.#withinLimit(same) : same;
    const key = keyOf(counted);
    const seen = this.#counted.get(key) ?? { lines: 0, summary: undefined };
    this.#counted.set(key, seen);
    if (seen.lines < (isWholeDownload(event) ? maxSameDownloads : 1)) {
      seen.lines++;
      return true;
    }
    seen.summary = withCount(seen.summary, counted);
    return false;
  }

  /** Ends the minute and writes the summaries of its counted events. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const { summary } of this.#counted.values()) if (summary !== undefined) this.#write(summary);
    this.#counted.clear();
    this.#refusals = 0;
  }

  /** The event itself, or without its details when there were too many different unauthenticated refusals. */
  #withinLimit(event: AuditedEvent): AuditedEvent {
    if (this.#counted.has(keyOf(event))) return event;
    if (this.#refusals === maxRefusals)
      return { at: event.at, event: event.event, who: severalSenders, from: severalSenders };
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

/** A failed sign-in counts too: its name is only what was typed. */
function isUnauthenticated(event: AuditedEvent): boolean {
  const isUnnamed = event.who === "nobody" || event.who === "anyone";
  return isRefusal(event) && (isUnnamed || event.event === "sign-in-failed");
}

function keyOf({ event, who, from, record, what, by, digest, range }: AuditedEvent): string {
  const isPart = range !== undefined;
  return JSON.stringify([event, who, hostNetwork(from), record?.kind, record?.id, what, by, digest, isPart]);
}

function withCount(before: AuditedEvent | undefined, event: AuditedEvent): AuditedEvent {
  if (before === undefined) return { ...event, since: event.at, count: 1 };
  const range = spanOf(before.range, event.range);
  return { ...event, since: before.since, count: (before.count ?? 0) + 1, range };
}

/** The smallest range that contains both. */
function spanOf(a: DownloadedRange | undefined, b: DownloadedRange | undefined): DownloadedRange | undefined {
  if (a === undefined || b === undefined) return undefined;
  return { first: Math.min(a.first, b.first), last: Math.max(a.last, b.last), size: b.size };
}
