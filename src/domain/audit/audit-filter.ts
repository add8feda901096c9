import { isPrinterFile } from "../deletion.ts";
import { cleanText, type FormInput } from "../fields.ts";
import {
  type AuditEntry,
  type AuditEvent,
  auditEvents,
  isRevoked,
  type RecordKind,
  recordKinds,
} from "./audit.ts";

/** An event, or the deletion of a token. */
export type FilterEvent = AuditEvent | "revoked";
export const filterEvents: readonly FilterEvent[] = [...auditEvents, "revoked"];

/** A search of the log. An entry must match all fields. */
export interface AuditFilter {
  /** Part of a name or of a network address. */
  readonly who: string;
  /** Undefined for any event. */
  readonly event: FilterEvent | undefined;
  readonly kind: RecordKind | undefined;
  /** The id of a record; of any kind when `kind` is undefined. */
  readonly id: number | undefined;
  /** The first day, as `2026-11-22`; empty for no limit. */
  readonly since: string;
  /** The last day, in the same form. */
  readonly until: string;
  /** Words that an entry must contain anywhere. */
  readonly q: string;
}

/** Longer search texts are cut off. */
export const maxFilterCharacters = 200;

/** Reads a query string. Invalid values are ignored. */
export function parseAuditFilter(input: FormInput): AuditFilter {
  const text = (name: string) => cleanText((input[name] ?? "").slice(0, maxFilterCharacters));
  const day = (name: string) => (isDay(text(name)) ? text(name) : "");
  return {
    who: text("who"),
    event: filterEvents.find((known) => known === text("event")),
    kind: recordKinds.find((known) => known === text("kind")),
    id: /^\d{1,15}$/.test(text("id")) ? Number(text("id")) : undefined,
    since: day("since"),
    until: day("until"),
    q: text("q"),
  };
}

function isDay(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** The parameters of a query string with values that no filter has. */
export function unusableFilters(input: FormInput): (keyof AuditFilter)[] {
  const filter = parseAuditFilter(input);
  const names = ["event", "kind", "id", "since", "until"] as const;
  return names.filter((name) => (input[name] ?? "").trim() !== "" && (filter[name] ?? "") === "");
}

/** The query string for a filter. */
export function auditQuery(filter: AuditFilter): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter))
    if (value !== undefined && value !== "") query.set(name, String(value));
  return query;
}

/** A filter prepared for many entries. */
export interface AuditMatcher {
  /** Entries before this time do not match. */
  readonly since: number;
  /** Entries from this time on do not match. */
  readonly until: number;
  /** @param text the entry's line */
  matches(entry: AuditEntry, text: string): boolean;
}

/** @param midnight returns the beginning of a day in the service's time zone, or of the day `later` days after it; NaN for an invalid day */
export function auditMatcher(
  filter: AuditFilter,
  midnight: (day: string, later?: number) => number,
): AuditMatcher {
  const timeOr = (time: number, unlimited: number) => (Number.isNaN(time) ? unlimited : time);
  const since = timeOr(midnight(filter.since), Number.NEGATIVE_INFINITY);
  const until = timeOr(midnight(filter.until, 1), Number.POSITIVE_INFINITY);
  const who = filter.who.toLowerCase();
  const words = filter.q.toLowerCase().split(/\s+/).filter(Boolean).map(jsonEscaped);
  const matches: AuditMatcher["matches"] = (entry, text) => {
    if (!isOfEvent(filter, entry)) return false;
    if (entry.at < since || (entry.since ?? entry.at) >= until) return false;
    if (!`${entry.who}\n${entry.from}`.toLowerCase().includes(who) || !concernsRecord(filter, entry))
      return false;
    if (words.length === 0) return true;
    const line = text.slice(0, text.lastIndexOf(',"hash":')).toLowerCase();
    return words.every((word) => line.includes(word) || line.includes(storedWords.get(word) ?? word));
  };
  return { since, until, matches };
}

function isOfEvent({ event }: AuditFilter, entry: AuditEntry): boolean {
  return event === "revoked" ? isRevoked(entry) : event === undefined || event === entry.event;
}

/** Words of the pages for which the log has others. */
const storedWords: ReadonlyMap<string, string> = new Map([["intune", '"what":"mdm"']]);

/** A file concerns its printer; a download concerns each printer in it. */
function concernsRecord({ kind, id }: AuditFilter, { record, printers }: AuditEntry): boolean {
  if (kind === undefined && id === undefined) return true;
  const isPrinter = kind === undefined || kind === "printer";
  if (isPrinter && id !== undefined && printers?.some(([printer]) => printer === id)) return true;
  const isKind =
    kind === undefined || record?.kind === kind || (isPrinter && isPrinterFile(record?.kind ?? ""));
  return isKind && (id === undefined || record?.id === id);
}

/** A word as it appears in JSON. */
function jsonEscaped(word: string): string {
  return JSON.stringify(word).slice(1, -1);
}
