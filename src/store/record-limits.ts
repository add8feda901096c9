import { UserError } from "../domain/errors.ts";
import type { Queries } from "./database/rows.ts";

/** So many records there may be: lists show all of them, and all of the database is in memory. */
export const maxRecords = { printers: 10_000, clients: 2_000, drivers: 2_000, accounts: 1_000 } as const;

/** Of the database, free pages apart. A write that adds or changes is refused above it; what was deleted can be put back. */
export const databaseLimitBytes = 256 * 1024 * 1024;

/**
 * Called within a write, after what it adds or makes longer.
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

/** The same of a write that makes no record. @throws UserError "full" */
export function checkBytes(db: Queries): void {
  const pragma = (name: string) => Number(db.first(`PRAGMA ${name}`)?.[name]);
  const bytes = (pragma("page_count") - pragma("freelist_count")) * pragma("page_size");
  if (bytes <= databaseLimitBytes) return;
  throw new UserError(
    "full",
    `The database holds ${databaseLimitBytes / 1024 / 1024} MB, as much as it may: nothing was saved. Delete what is no longer needed.`,
  );
}
