import type { SqlValue } from "sql.js";
import { clientNameKey } from "../domain/client.ts";
import { UserError } from "../domain/errors.ts";
import type { ImportWrite } from "../domain/import-plan.ts";
import type { Database } from "./database.ts";
import { packText } from "./packed-text.ts";

/** The table's columns, each with the value that it is given. */
const columns = {
  id: "?",
  client_id: "?",
  client_key: "?",
  driver_id: "?",
  arm64_driver_id: "?",
  name: "?",
  settings: "CAST(? AS TEXT)",
  print_ticket: "coalesce((SELECT print_ticket FROM printers WHERE id = ?), ?)",
};
const rowsAtOnce = 250;

/**
 * Puts printers that are to be written into a table beside the others, a part at a time, because making thousands of
 * rows from texts takes longer than anybody should wait. The table lasts until the next save, and is never saved.
 * @param version the database's, when they were planned
 * @throws UserError "conflict" where anything was written since
 */
export async function stagePrinters(
  db: Database,
  version: number,
  writes: readonly ImportWrite[],
): Promise<void> {
  db.all("DROP TABLE IF EXISTS temp.staged");
  db.all(`CREATE TEMP TABLE staged (${Object.keys(columns).join()})`);
  for (let i = 0; i < writes.length; i += rowsAtOnce) {
    checkVersion(db, version);
    const part = writes.slice(i, i + rowsAtOnce);
    const row = `(${Object.values(columns).join()})`;
    db.all(`INSERT INTO temp.staged VALUES ${part.map(() => row).join()}`, part.flatMap(stagedRow));
    await new Promise(setImmediate);
  }
}

/** Makes printers of what was staged, and changes those that are there: within a write. */
export function movePrinters(db: Database, now: number): void {
  db.all(
    `INSERT INTO printers (id, created_at, updated_at, client_id, driver_id, arm64_driver_id, name, settings,
        print_ticket)
      SELECT id, ?, ?, coalesce(client_id, (SELECT id FROM clients WHERE name_key = client_key)), driver_id,
        arm64_driver_id, name, settings, print_ticket FROM temp.staged WHERE true ORDER BY rowid
      ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at, client_id = excluded.client_id,
        driver_id = excluded.driver_id, arm64_driver_id = excluded.arm64_driver_id, name = excluded.name, settings = excluded.settings,
        print_ticket = excluded.print_ticket`,
    [now, now],
  );
  db.all("DROP TABLE temp.staged");
}

/** @throws UserError "conflict" */
export function checkVersion(db: Database, version: number): void {
  if (db.version !== version) throw new UserError("conflict", "Something was changed meanwhile.");
}

function stagedRow(write: ImportWrite): SqlValue[] {
  const { printerId, clientId, newClient, driverId, arm64DriverId, name, settings, ticket } = write;
  const clientKey = newClient === undefined ? null : clientNameKey(newClient.name);
  // Bytes are copied at once, texts a character after the other.
  return [
    ...[printerId ?? null, clientId, clientKey, driverId, arm64DriverId, name, Buffer.from(settings)],
    ...[ticket.of ?? null, packText(ticket.text)],
  ];
}
