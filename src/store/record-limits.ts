import { UserError } from "../domain/errors.ts";
import type { Queries } from "./database/rows.ts";

/** The most records of each kind. Lists show all of them, and the whole database is in memory. */
export const maxRecords = { printers: 10_000, clients: 2_000, drivers: 2_000, accounts: 1_000 } as const;

/** The limit for the database without its free pages. Above it, writes that add or change are refused; undoing a deletion is allowed. */
export const databaseLimitBytes = 256 * 1024 * 1024;

/**
 * Call this within a write, after its changes.
 * @throws UserError "full" that says what there is too much of
 */
export function checkRoom(db: Queries): void {
  for (const [table, max] of Object.entries(maxRecords)) {
    const count = Number(db.first(`SELECT count(*) AS n FROM ${table}`)?.n);
    if (count > max) {
      throw new UserError(
        "full",
        `There are ${max.toLocaleString("en")} ${table}, as many as there may be: nothing was saved. Delete some that are no longer needed.`,
      );
    }
  }
  checkBytes(db);
}

/** The same for a write that adds no record. @throws UserError "full" */
export function checkBytes(db: Queries): void {
  const pragma = (name: string) => Number(db.first(`PRAGMA ${name}`)?.[name]);
  const bytes = (pragma("page_count") - pragma("freelist_count")) * pragma("page_size");
  if (bytes <= databaseLimitBytes) return;
  throw new UserError(
    "full",
    `The database holds ${databaseLimitBytes / 1024 / 1024} MB, as much as it may: nothing was saved. Delete what is no longer needed.`,
  );
}
