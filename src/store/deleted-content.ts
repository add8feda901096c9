import type { SqlValue } from "sql.js";
import type { Row } from "./database/rows.ts";
import { inParts } from "./database/slices.ts";

/** The tables whose rows a deletion takes away, each before those that refer to it. */
export const deletedTables = ["clients", "drivers", "reports", "printers", "icons", "downloads"] as const;
export type DeletedTable = (typeof deletedTables)[number];

/** What deleted printers refer to without taking it along, as it was then. */
export interface References {
  readonly clients: readonly { readonly id: number; readonly name: string }[];
  readonly drivers: readonly {
    readonly id: number;
    readonly name: string;
    readonly sha256: string;
    /** What its models were judged by: `modelsKeyOf`. */
    readonly models: string;
  }[];
}

export const noReferences: References = { clients: [], drivers: [] };

/** What is deleted. */
export interface DeletedRows {
  readonly rows: Partial<Record<DeletedTable, readonly Row[]>>;
  readonly references: References;
}

/** The rows of a table: their columns' names once. */
interface PackedRows {
  readonly columns: readonly string[];
  readonly rows: (readonly SqlValue[])[];
}

/** What is kept of a deletion. */
export interface DeletedContent {
  readonly tables: Partial<Record<DeletedTable, PackedRows>>;
  readonly references: References;
}

/**
 * What is kept, as a text of which each line is JSON: all of it but the rows, then some rows of a table each, so that
 * thousands are neither written nor read at once. Former versions wrote a single line with all rows.
 */
export function* contentOf({ rows, references }: DeletedRows): Generator<undefined, Buffer> {
  const tables = Object.entries(rows).map(([table, found]) => {
    const columns = Object.keys(found[0] ?? {});
    return { table, columns, found };
  });
  const heads = tables.map(({ table, columns }) => [table, { columns, rows: [] }] as const);
  const lines = [Buffer.from(JSON.stringify({ tables: Object.fromEntries(heads), references }))];
  for (const { table, columns, found } of tables) {
    yield* inParts(found, (some) => {
      const cells = some.map((row) => columns.map((column) => row[column] ?? null));
      lines.push(Buffer.from(`\n${JSON.stringify([table, cells])}`));
    });
  }
  return Buffer.concat(lines);
}

/** @throws Error where the text is not what `contentOf` wrote */
export function* contentFrom(text: string): Generator<undefined, DeletedContent> {
  const [head = "", ...lines] = text.split("\n");
  const content = JSON.parse(head) as Partial<DeletedContent> | null;
  const { tables, references } = content ?? {};
  if (tables === undefined || !references?.clients || !references.drivers) throw notDeleted();
  for (const line of lines) {
    yield;
    const [table, cells] = JSON.parse(line) as [DeletedTable, SqlValue[][]];
    const rows = tables[table]?.rows;
    if (rows === undefined || !Array.isArray(cells)) throw notDeleted();
    for (const row of cells) rows.push(row);
  }
  return { tables, references };
}

function notDeleted(): Error {
  return new Error("it does not hold what was deleted");
}
