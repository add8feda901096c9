import { csvRow, neutralizeCell } from "../csv.ts";
import { JsonFields } from "../json-fields.ts";

/** Changes of a record. */
const recordEvents = ["created", "changed", "deleted", "restored"] as const;
/** All other events. */
const otherEvents = [
  /** A download was sent to its last byte. */
  "downloaded",
  "signed-in",
  "sign-in-failed",
  "signed-out",
  "refused",
  "sessions-ended",
  "link-made",
  "links-ended",
  "signed",
  "signatures-deleted",
  "backup-made",
  "backup-fetched",
  "backup-files-deleted",
  "recovered",
  "backup-restored",
  "deleted-for-good",
  "started",
  "stopped",
  /** Events of the log itself. */
  "log-shortened",
  "log-mended",
  "log-broken",
  "entries-lost",
] as const;
/** Lines of earlier versions: the first byte of a download was sent. */
const oldEvents = ["download-begun"] as const;
export const auditEvents = [...recordEvents, ...otherEvents, ...oldEvents] as const;

export type OtherEvent = (typeof otherEvents)[number];
export type AuditEvent = (typeof auditEvents)[number];

/** The kinds of records whose changes are recorded. */
export const recordKinds = [
  "client",
  "driver",
  "printer",
  "icon",
  "preferences",
  "account",
  "token",
] as const;
export type RecordKind = (typeof recordKinds)[number];

/** A record with its name at that time. */
export interface AuditedRecord {
  readonly kind: RecordKind;
  /** For an icon or preferences, their printer's id. */
  readonly id: number;
  readonly name: string;
}

/** A changed field. Secret and large values are left out. */
export interface ChangedField {
  readonly name: string;
  readonly from?: string;
  readonly to?: string;
}

/** A printer in a download, with its revision. */
type DownloadedPrinter = readonly [id: number, revision: string];

export interface AuditedEvent {
  /** UTC, milliseconds since 1970. */
  readonly at: number;
  readonly who: string;
  readonly from: string;
  readonly event: AuditEvent;
  readonly record?: AuditedRecord | undefined;
  readonly fields?: readonly ChangedField[];
  /** For a download, the package format or the kind of script; otherwise a short description. */
  readonly what?: string | undefined;
  /** For a download: `browser`, `script` or `crossSitePage`. */
  readonly by?: string | undefined;
  /** For a download: identifies its content. */
  readonly digest?: string | undefined;
  /** For a download: the printers in it. */
  readonly printers?: readonly DownloadedPrinter[] | undefined;
  /** How often it happened; once by default. */
  readonly count?: number | undefined;
}

/** An event with its place in the log. */
export interface AuditEntry extends AuditedEvent {
  /** Counted from 1, without gaps. */
  readonly seq: number;
  /** The number of the change in the database, for changes of records. */
  readonly change?: number | undefined;
  // Earlier versions of Platen wrote these.
  /** The requested part of a download: `0-9/1000`. */
  readonly range?: string;
  /** The first time, for events that are counted in one entry. */
  readonly since?: number | undefined;
  /** Whether the download was already counted when the entry was written. */
  readonly isCounted?: boolean;
}

/** Deleted tokens are called revoked. */
export function isRevoked({ event, record }: AuditedEvent): boolean {
  return event === "deleted" && record?.kind === "token";
}

/** For names and values, in UTF-16 code units. */
const maxCharacters = 500;
const maxFields = 200;

/** Shortens a text for an entry. */
function shortText(text: string): string {
  const whole = text.toWellFormed();
  return whole.length <= maxCharacters ? whole : `${whole.slice(0, maxCharacters).toWellFormed()}…`;
}

/** An entry as a JSON object without its closing brace, because the hash follows. */
export function entryHead(entry: AuditEntry): string {
  const { seq, at, event, who, from, record, fields, what, by, digest, printers, count, change } = entry;
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
    count,
    change,
  };
  return JSON.stringify(values).slice(0, -1);
}

/** Reads a line; undefined when it is no entry. The line is untrusted: anyone who can write the file may have made it. */
export function readEntry(line: string): AuditEntry | undefined {
  try {
    return entryOf(JsonFields.parse(line));
  } catch {
    return undefined;
  }
}

function entryOf(json: JsonFields): AuditEntry | undefined {
  const seq = json.integer("seq");
  const at = Date.parse(json.text("at"));
  const event = auditEvents.find((known) => known === json.text("event"));
  if (seq === 0 || Number.isNaN(at) || event === undefined) return undefined;
  const optional = (name: string) => json.textOrNull(name) ?? undefined;
  return {
    ...{ seq, at, event, who: json.text("who"), from: json.text("from") },
    ...{ record: recordOf(json), fields: json.objects("fields").map(fieldOf) },
    ...{ what: optional("what"), by: optional("by"), digest: optional("digest") },
    printers: json.has("printers") ? json.lists("printers").flatMap(printerOf) : undefined,
    range: json.text("range"),
    count: json.integer("count") || undefined,
    since: Date.parse(json.text("since")) || undefined,
    isCounted: json.flag("tallied"),
    change: json.integer("change") || undefined,
  };
}

function recordOf(json: JsonFields): AuditedRecord | undefined {
  const kind = recordKinds.find((known) => known === json.text("kind"));
  return kind && { kind, id: json.integer("id"), name: json.text("name") };
}

function fieldOf(json: JsonFields): ChangedField {
  const [from, to] = [json.textOrNull("from"), json.textOrNull("to")];
  return { name: json.text("name"), ...(from !== null && { from }), ...(to !== null && { to }) };
}

function printerOf([id, revision]: readonly unknown[]): DownloadedPrinter[] {
  const isPrinter = Number.isSafeInteger(id) && Number(id) > 0 && typeof revision === "string";
  return isPrinter ? [[Number(id), revision]] : [];
}

const columns: readonly (readonly [name: string, of: (entry: AuditEntry) => unknown])[] = [
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
  ["range", ({ range }) => range],
  ["since", ({ since }) => since && new Date(since).toISOString()],
];

const headings = columns.map(([name]) => name);

/** The first line. It begins with a byte order mark, so that Excel reads the file as UTF-8. */
export const auditCsvHead = `\ufeff${csvRow(headings, ",")}`;

export function auditCsvLine(entry: AuditEntry): string {
  const cells = columns.map(([, of]) => neutralizeCell(String(of(entry) ?? "")));
  return csvRow(cells, ",");
}

/** `address: 10.0.0.9 → 10.0.0.10` */
function changeOf({ name, from, to }: ChangedField): string {
  if (to === undefined) return `${name}: changed`;
  return from === undefined ? `${name}: ${to}` : `${name}: ${from} → ${to}`;
}
