import { cleanText, type FormInput } from "../fields.ts";
import { type AuditEntry, type AuditEvent, auditEvents, type RecordKind, recordKinds } from "./audit.ts";

/** What of the log is looked for: what matches all of it. */
export interface AuditFilter {
  /** A part of a name or of an address. */
  readonly who: string;
  /** Undefined is any. */
  readonly event: AuditEvent | undefined;
  readonly kind: RecordKind | undefined;
  /** Of whatever kind, where none is asked for. */
  readonly id: number | undefined;
  /** The first day and the last one, as `2026-11-22`; empty where there is none. */
  readonly since: string;
  readonly until: string;
  /** Words in anything that an entry says. */
  readonly q: string;
}

/** More of a text is not looked at. */
export const maxFilterCharacters = 200;

/** What an address says; what it says wrongly narrows nothing. */
export function parseAuditFilter(input: FormInput): AuditFilter {
  const text = (name: string) => cleanText((input[name] ?? "").slice(0, maxFilterCharacters));
  const day = (name: string) => (/^\d{4}-\d{2}-\d{2}$/.test(text(name)) ? text(name) : "");
  const kind = recordKinds.find((known) => known === text("kind"));
  const id = /^\d{1,15}$/.test(text("id")) ? Number(text("id")) : undefined;
  return {
    who: text("who"),
    event: auditEvents.find((known) => known === text("event")),
    kind,
    id,
    since: day("since"),
    until: day("until"),
    q: text("q"),
  };
}

/** The same behind the question mark of an address. */
export function auditQuery(filter: AuditFilter): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter))
    if (value !== undefined && value !== "") query.set(name, String(value));
  return query;
}

/** A filter that is asked of many entries. */
export interface AuditMatcher {
  /** Nothing is looked for before this time. */
  readonly since: number;
  /** Nothing is looked for from this time on. */
  readonly until: number;
  /** @param text the entry's line */
  matches(entry: AuditEntry, text: string): boolean;
}

/** @param midnight the time at which a day begins where the service is, or another so many days later; NaN of no day */
export function auditMatcher(
  filter: AuditFilter,
  midnight: (day: string, later?: number) => number,
): AuditMatcher {
  const timeOr = (time: number, unlimited: number) => (Number.isNaN(time) ? unlimited : time);
  const since = timeOr(midnight(filter.since), Number.NEGATIVE_INFINITY);
  const until = timeOr(midnight(filter.until, 1), Number.POSITIVE_INFINITY);
  const who = filter.who.toLowerCase();
  const words = filter.q.toLowerCase().split(/\s+/).filter(Boolean).map(escaped);
  const matches: AuditMatcher["matches"] = (entry, text) => {
    if (filter.event !== undefined && entry.event !== filter.event) return false;
    if (entry.at < since || (entry.since ?? entry.at) >= until) return false;
    if (!`${entry.who}\n${entry.from}`.toLowerCase().includes(who) || !isOf(filter, entry)) return false;
    if (words.length === 0) return true;
    const line = text.slice(0, text.lastIndexOf(',"hash":')).toLowerCase();
    return words.every((word) => line.includes(word));
  };
  return { since, until, matches };
}

/** An icon belongs to its printer; a download to each printer that it held. */
function isOf({ kind, id }: AuditFilter, { record, printers }: AuditEntry): boolean {
  if (kind === undefined && id === undefined) return true;
  const isPrinter = kind === undefined || kind === "printer";
  if (isPrinter && id !== undefined && printers?.some(([printer]) => printer === id)) return true;
  const isKind = kind === undefined || record?.kind === kind || (isPrinter && record?.kind === "icon");
  return isKind && (id === undefined || record?.id === id);
}

/** As it stands in JSON. */
function escaped(word: string): string {
  return JSON.stringify(word).slice(1, -1);
}
