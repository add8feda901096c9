import { csvRow } from "../csv.ts";
import { neutral } from "../import/printer-csv.ts";
import type { AuditEntry, ChangedField } from "./audit.ts";

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
