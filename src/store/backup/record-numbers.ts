import type { Queries } from "../database/rows.ts";

/** The ids of all records of a kind. */
interface Numbers {
  readonly ids: readonly number[];
  /** The highest id that was ever used. */
  readonly last: number;
}

export type RecordNumbers = Readonly<Record<"printers" | "clients" | "drivers", Numbers>>;

/** The ids of records, without the drivers included with Windows. */
export function recordNumbers(db: Queries): RecordNumbers {
  const of = (table: string, where = ""): Numbers => {
    // Reading one row with all ids is much faster than many rows.
    const all = db.first(
      `SELECT json_group_array(id) AS ids FROM (SELECT id FROM ${table} ${where} ORDER BY id)`,
    );
    const ids = JSON.parse(String(all?.ids)) as number[];
    const row = db.first("SELECT seq FROM sqlite_sequence WHERE name = ?", [table]);
    return { ids, last: Math.max(Number(row?.seq ?? 0), ids.at(-1) ?? 0) };
  };
  return {
    printers: of("printers"),
    clients: of("clients"),
    drivers: of("drivers", "WHERE origin = 'upload'"),
  };
}

/** More records than a user makes between a backup and its restore. Ids of uploaded drivers end at a million. */
const skippedNumbers = { printers: 10_000, clients: 1_000, drivers: 1_000 } as const;

/**
 * Skips the ids that new records may have got after a restored state was saved. Apps in Intune and installed machines still
 * refer to records by those ids.
 */
export function skipNumbers(db: Queries): void {
  for (const [table, max] of Object.entries(skippedNumbers)) {
    const row = db.first("SELECT seq FROM sqlite_sequence WHERE name = ?", [table]);
    db.all("DELETE FROM sqlite_sequence WHERE name = ?", [table]);
    db.all("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [table, Number(row?.seq ?? 0) + max]);
  }
}
