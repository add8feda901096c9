import { UserError } from "../domain/errors.ts";
import { count } from "../domain/text.ts";
import type { Queries } from "./database/rows.ts";

/** The most records of each kind, because the whole database is in memory. */
export const maxRecords = {
  printers: 10_000,
  clients: 2_000,
  drivers: 2_000,
  accounts: 1_000,
  links: 50_000,
} as const;

/** The limit for the database without its free pages. `checkRoom` and `checkBytes` refuse a write that exceeds it. */
export const databaseLimitBytes = 256 * 1024 * 1024;

/** The size of the database, with the earlier rows, up to which changes can be undone. The rest is for records. */
export const undoLimitBytes = databaseLimitBytes / 2;

/** Call this within a write that adds a record, after its changes. @throws UserError "full" that names the limit */
export function checkRoom(db: Queries): void {
  for (const [table, max] of Object.entries(maxRecords)) {
    if (Number(db.first(`SELECT count(*) AS n FROM ${table}`)?.n) > max) {
      throw new UserError(
        "full",
        `Nothing was saved. The limit of ${count(max)} ${table} is reached. Delete records that you no longer need.`,
      );
    }
  }
  checkBytes(db);
}

/** The same for a write that only changes records: checks the size of the database. @throws UserError "full" */
export function checkBytes(db: Queries): void {
  if (bytesIn(db) <= databaseLimitBytes) return;
  throw new UserError(
    "full",
    `Nothing was saved. The database has reached its limit of ${databaseLimitBytes / 1024 / 1024} MB. Delete records that you no longer need.`,
  );
}

/** Whether a change may keep its earlier rows. */
export function hasRoomForUndo(db: Queries): boolean {
  return bytesIn(db) <= undoLimitBytes;
}

function bytesIn(db: Queries): number {
  const pragma = (name: string) => Number(db.first(`PRAGMA ${name}`)?.[name]);
  return (pragma("page_count") - pragma("freelist_count")) * pragma("page_size");
}
