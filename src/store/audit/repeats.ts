import { hostNetwork } from "../../domain/address.ts";
import type { AuditedEvent, DownloadedRange } from "../../domain/audit/audit.ts";

/** Lines per minute for equal downloads from one network. Equal partial downloads, and equal refusals, get one line. */
const maxSameDownloads = 10;
/** Different unauthenticated refusals per minute that get their own lines. Others of the same kind share one line. */
const maxRefusals = 100;
const minuteMs = 60_000;
const severalSenders = "several";

interface CountedEvents {
  lines: number;
  /** All later equal events of the minute, as one event with a count. */
  summary: AuditedEvent | undefined;
}

/**
 * Prevents a machine in a loop, or a client that guesses passwords, from filling the disk. The first equal events of a
 * minute get their own lines. After the minute, one line says how many more there were.
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
   * @param countedAs the event without text from the client; it decides which events are equal
   * @returns whether the event gets its own line; otherwise it is counted
   */
  admit(event: AuditedEvent, countedAs: AuditedEvent): boolean {
    if (!isLimited(event)) return true;
    if (Math.abs(event.at - this.#began) >= minuteMs) this.end();
    if (this.#timer === undefined) this.#began = event.at;
    this.#timer ??= setTimeout(() => this.end(), minuteMs).unref();
    const counted = isUnauthenticated(event) ? this.#limitDetails(countedAs) : countedAs;
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

  /** Removes the details from an unauthenticated refusal when there were too many different ones in this minute. */
  #limitDetails(event: AuditedEvent): AuditedEvent {
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

/** Includes failed sign-ins: anyone can type any name. */
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
