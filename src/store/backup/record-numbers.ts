import type { Queries } from "../database/rows.ts";

/** The ids of all records of a kind. */
interface Numbers {
  readonly ids: readonly number[];
  /** The highest id that was ever used. */
  readonly last: number;
}

export type RecordNumbers = Readonly<Record<"printers" | "clients" | "drivers", Numbers>>;

/** The ids of all records except the drivers included with Windows. */
export function recordNumbers(db: Queries): RecordNumbers {
  const idsOf = (table: string, where = ""): Numbers => {
    // Reading one row with all ids is much faster than reading one row per id.
    const all = db.first(
      `SELECT json_group_array(id) AS ids FROM (SELECT id FROM ${table} ${where} ORDER BY id)`,
    );
    const ids = JSON.parse(String(all?.ids)) as number[];
    const row = db.first("SELECT seq FROM sqlite_sequence WHERE name = ?", [table]);
    return { ids, last: Math.max(Number(row?.seq ?? 0), ids.at(-1) ?? 0) };
  };
  return {
    printers: idsOf("printers"),
    clients: idsOf("clients"),
    drivers: idsOf("drivers", "WHERE origin = 'upload'"),
  };
}

/**
 * How many ids are skipped: more than the records that users add between a backup and its restore. The ids of uploaded
 * drivers must stay below a million, where the ids of the drivers included with Windows start.
 */
const skippedIds = { printers: 10_000, clients: 1_000, drivers: 1_000 } as const;

/**
 * Skips the ids of records that were added after the restored backup was saved. Apps in Intune and machines may still
 * use those ids, so new records must not get them.
 */
export function skipIds(db: Queries): void {
  for (const [table, count] of Object.entries(skippedIds)) {
    const row = db.first("SELECT seq FROM sqlite_sequence WHERE name = ?", [table]);
    db.all("DELETE FROM sqlite_sequence WHERE name = ?", [table]);
    db.all("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [table, Number(row?.seq ?? 0) + count]);
  }
}
