import { csvRow, neutral } from "../csv.ts";
import { StoredObject } from "../json-fields.ts";

/** What became of a record. */
const recordEvents = ["created", "changed", "deleted", "restored"] as const;
/** What else happens, and changes no record. */
const notedEvents = [
  "signed-in",
  "sign-in-failed",
  "signed-out",
  "refused",
  "sessions-ended",
  "link-made",
  "links-ended",
  "backup-made",
  "backup-fetched",
  "backup-files-deleted",
  "recovered",
  "backup-restored",
  "deleted-for-good",
  "started",
  "stopped",
  /** Of the log itself. */
  "log-shortened",
  "log-mended",
  "log-broken",
  "entries-lost",
] as const;
/** Of a download that its first byte went out, and that a client was sent all of it. */
const downloadEvents = ["download-begun", "downloaded"] as const;
export const auditEvents = [...recordEvents, ...downloadEvents, ...notedEvents] as const;

export type NotedEvent = (typeof notedEvents)[number];
export type AuditEvent = (typeof auditEvents)[number];

/** The records whose changes are written down. */
export const recordKinds = ["client", "driver", "printer", "icon", "account", "token"] as const;
export type RecordKind = (typeof recordKinds)[number];

/** A record, by the name that it had. */
export interface AuditedRecord {
  readonly kind: RecordKind;
  /** Of an icon its printer's. */
  readonly id: number;
  readonly name: string;
}

/** A field that changed. Without values it is only known that it did: they are secret, or large. */
export interface ChangedField {
  readonly name: string;
  readonly from?: string;
  readonly to?: string;
}

/** A printer that a download held, with its revision. */
export type DownloadedPrinter = readonly [id: number, revision: string];

/** A part of a download, both its bytes included, and the size of the whole. */
export interface DownloadedRange {
  readonly first: number;
  readonly last: number;
  readonly size: number;
}

/** What happened. */
export interface AuditedEvent {
  /** UTC, milliseconds since 1970. */
  readonly at: number;
  readonly who: string;
  readonly from: string;
  readonly event: AuditEvent;
  readonly record?: AuditedRecord | undefined;
  readonly fields?: readonly ChangedField[];
  /** Of a download, a format of packages or a kind of scripts; else what there is to say, in few words. */
  readonly what?: string | undefined;
  /** Of a download: the class of its client. */
  readonly by?: string | undefined;
  /** Of a download: what names its bytes. */
  readonly digest?: string | undefined;
  /** Of a download: the printers that it holds. */
  readonly printers?: readonly DownloadedPrinter[] | undefined;
  /** Of a download that was asked for in part. */
  readonly range?: DownloadedRange | undefined;
  /** How often it happened; once unless it says so. */
  readonly count?: number | undefined;
  /** Of what happened often, when it did first. */
  readonly since?: number | undefined;
}

/** An event as the log has it. */
export interface AuditEntry extends AuditedEvent {
  /** Counted from 1, without a gap. */
  readonly seq: number;
  /** The number of the change that it is of, where it is of one. */
  readonly change?: number | undefined;
  /** Whether an earlier version of Platen counted its printers as deployed before it wrote the line. */
  readonly isCounted?: boolean;
}

/** Of names and values, in UTF-16 code units. */
const maxCharacters = 500;
const maxFields = 200;

/** A text as an entry holds it. */
function shortText(text: string): string {
  const whole = text.toWellFormed();
  return whole.length <= maxCharacters ? whole : `${whole.slice(0, maxCharacters).toWellFormed()}…`;
}

/** An entry as one object in JSON, without its closing brace: the hash comes behind it. */
export function entryHead(entry: AuditEntry): string {
  const { seq, at, event, who, from, record, fields, what, by, digest, printers, range, count, since } =
    entry;
  const short = (text: string | undefined) => (text === undefined ? undefined : shortText(text));
  const values = {
    seq,
    at: new Date(at).toISOString(),
    event,
    who: shortText(who),
    from: shortText(from),
    ...(record && { kind: record.kind, id: record.id, name: shortText(record.name) }),
    fields: fields
      ?.slice(0, maxFields)
      .map(({ name, from: before, to }) => ({ name, from: short(before), to: short(to) })),
    what: short(what),
    by,
    digest,
    printers,
    range: range && `${range.first}-${range.last}/${range.size}`,
    count,
    since: since === undefined ? undefined : new Date(since).toISOString(),
    change: entry.change,
  };
  return JSON.stringify(values).slice(0, -1);
}

/** What a line says; undefined where it is none of ours. It may come from anybody who could write the file. */
export function readEntry(line: string): AuditEntry | undefined {
  try {
    return entryOf(StoredObject.parse(line));
  } catch {
    return undefined;
  }
}

function entryOf(stored: StoredObject): AuditEntry | undefined {
  const seq = stored.integer("seq");
  const at = Date.parse(stored.text("at"));
  const event = auditEvents.find((known) => known === stored.text("event"));
  if (seq === 0 || Number.isNaN(at) || event === undefined) return undefined;
  const optional = (name: string) => stored.textOrNull(name) ?? undefined;
  return {
    ...{ seq, at, event, who: stored.text("who"), from: stored.text("from") },
    ...{ record: recordOf(stored), fields: stored.objects("fields").map(fieldOf) },
    ...{ what: optional("what"), by: optional("by"), digest: optional("digest") },
    printers: stored.has("printers") ? stored.lists("printers").flatMap(printerOf) : undefined,
    range: rangeOf(stored.text("range")),
    count: stored.integer("count") || undefined,
    since: Date.parse(stored.text("since")) || undefined,
    isCounted: stored.flag("tallied"),
    change: stored.integer("change") || undefined,
  };
}

function recordOf(stored: StoredObject): AuditedRecord | undefined {
  const kind = recordKinds.find((known) => known === stored.text("kind"));
  return kind && { kind, id: stored.integer("id"), name: stored.text("name") };
}

function fieldOf(stored: StoredObject): ChangedField {
  const [from, to] = [stored.textOrNull("from"), stored.textOrNull("to")];
  return { name: stored.text("name"), ...(from !== null && { from }), ...(to !== null && { to }) };
}

function printerOf([id, revision]: readonly unknown[]): DownloadedPrinter[] {
  const isPrinter = Number.isSafeInteger(id) && Number(id) > 0 && typeof revision === "string";
  return isPrinter ? [[Number(id), revision]] : [];
}

function rangeOf(text: string): DownloadedRange | undefined {
  const numbers = /^(\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(text)?.slice(1).map(Number);
  if (numbers === undefined) return undefined;
  const [first = 0, last = 0, size = 0] = numbers;
  return { first, last, size };
}

type Cell = string | number | undefined;

const columns: readonly (readonly [name: string, of: (entry: AuditEntry) => Cell])[] = [
  ["seq", ({ seq }) => seq],
  ["time", ({ at }) => new Date(at).toISOString()],
  ["who", ({ who }) => who],
  ["from", ({ from }) => from],
  ["event", ({ event }) => event],
  ["kind", ({ record }) => record?.kind],
  ["id", ({ record }) => record?.id],
  ["name", ({ record }) => record?.name],
  ["fields", ({ fields }) => fields?.map(changeOf).join("\n")],
  ["what", ({ what }) => what],
  ["by", ({ by }) => by],
  ["count", ({ count }) => count ?? 1],
  ["digest", ({ digest }) => digest],
  ["printers", ({ printers }) => printers?.map(([id, revision]) => `${id} ${revision}`).join("\n")],
  ["range", ({ range }) => range && `${range.first}-${range.last}/${range.size}`],
  ["since", ({ since }) => since && new Date(since).toISOString()],
];

const headings = columns.map(([name]) => name);

/** The first line. Excel takes a file for UTF-8 where it begins with the mark. */
export const auditCsvHead = `\ufeff${csvRow(headings, ",")}`;

/** An entry's line. */
export function auditCsvLine(entry: AuditEntry): string {
  const cells = columns.map(([, of]) => neutral(String(of(entry) ?? "")));
  return csvRow(cells, ",");
}

/** `address: 10.0.0.9 → 10.0.0.10` */
function changeOf({ name, from, to }: ChangedField): string {
  if (to === undefined) return `${name}: changed`;
  return from === undefined ? `${name}: ${to}` : `${name}: ${from} → ${to}`;
}
