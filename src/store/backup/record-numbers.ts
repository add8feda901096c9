import type { Queries } from "../database/rows.ts";

/** The numbers of all records of a kind, and the highest that there ever was. */
interface Numbers {
  readonly ids: readonly number[];
  readonly last: number;
}

export type RecordNumbers = Readonly<Record<"printers" | "clients" | "drivers", Numbers>>;

/** The numbers that records have and had, without those of the drivers that Windows brings. */
export function recordNumbers(db: Queries): RecordNumbers {
  const of = (table: string, where = ""): Numbers => {
    // One row of many numbers is read far quicker than many rows.
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

/** More than anybody makes between a backup and going back to it. Uploaded drivers count up to a million. */
const maxSince = { printers: 10_000, clients: 1_000, drivers: 1_000 } as const;

/**
 * Leaves out the numbers that records may have got since the state of a database that is gone back to: apps in Intune and
 * machines know those records by them.
 */
export function leaveOutNumbers(db: Queries): void {
  for (const [table, max] of Object.entries(maxSince)) {
    const row = db.first("SELECT seq FROM sqlite_sequence WHERE name = ?", [table]);
    db.all("DELETE FROM sqlite_sequence WHERE name = ?", [table]);
    db.all("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [table, Number(row?.seq ?? 0) + max]);
  }
}
