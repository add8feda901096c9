import type { AuditEntry, ChangedField } from "./audit.ts";
import { csvRow } from "./csv.ts";
import { neutral } from "./printer-csv.ts";

const columns = [
  "seq",
  "time",
  "who",
  "from",
  "event",
  "kind",
  "id",
  "name",
  "fields",
  "what",
  "by",
  "count",
  "digest",
  "printers",
  "range",
  "since",
];

/** The first line. Excel takes a file for UTF-8 where it begins with the mark. */
export const auditCsvHead = `\ufeff${csvRow(columns, ",")}`;

/** An entry's line. */
export function auditCsvLine(entry: AuditEntry): string {
  const {
    seq,
    at,
    who,
    from,
    event,
    record,
    fields = [],
    what = "",
    by = "",
    count = 1,
    digest = "",
    printers = [],
    range,
    since,
  } = entry;
  const { kind = "", id = "", name = "" } = record ?? {};
  const changes = fields.map(changeOf).join("\n");
  const cells = [String(seq), new Date(at).toISOString(), who, from, event, kind, String(id), name, changes];
  const held = printers.map(([printer, revision]) => `${printer} ${revision}`).join("\n");
  const part = range === undefined ? "" : `${range.first}-${range.last}/${range.size}`;
  const first = since === undefined ? "" : new Date(since).toISOString();
  return csvRow([...cells, what, by, String(count), digest, held, part, first].map(neutral), ",");
}

/** `address: 10.0.0.9 → 10.0.0.10` */
function changeOf({ name, from, to }: ChangedField): string {
  if (to === undefined) return `${name}: changed`;
  return from === undefined ? `${name}: ${to}` : `${name}: ${from} → ${to}`;
}
