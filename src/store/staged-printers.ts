import type { SqlValue } from "sql.js";
import { clientNameKey } from "../domain/client.ts";
import type { ImportWrite } from "../domain/import-plan.ts";
import type { Queries } from "./database/rows.ts";
import { inParts } from "./database/slices.ts";
import { packText } from "./packed-text.ts";
import { checkRoom } from "./room.ts";

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

/**
 * Puts printers that are to be written into a table beside the others, within a write: a PrintTicket may be that of a
 * printer which the same write changes. The table is never saved.
 */
export function* stagePrinters(db: Queries, writes: readonly ImportWrite[]): Generator<undefined, void> {
  db.all(`CREATE TEMP TABLE staged (${Object.keys(columns).join()})`);
  const row = `(${Object.values(columns).join()})`;
  yield* inParts(writes, (part) =>
    db.all(`INSERT INTO temp.staged VALUES ${part.map(() => row).join()}`, part.flatMap(stagedRow)),
  );
}

/** Makes printers of what was staged, and changes those that are there. */
export function* movePrinters(db: Queries, now: number): Generator<undefined, void> {
  const rowids = db.all("SELECT rowid FROM temp.staged ORDER BY rowid").map(({ rowid }) => Number(rowid));
  yield* inParts(rowids, (part) =>
    db.all(
      `INSERT INTO printers (id, created_at, updated_at, client_id, driver_id, arm64_driver_id, name, settings,
          print_ticket)
        SELECT id, ?1, ?1, coalesce(client_id, (SELECT id FROM clients WHERE name_key = client_key)), driver_id,
          arm64_driver_id, name, settings, print_ticket FROM temp.staged WHERE rowid BETWEEN ?2 AND ?3 ORDER BY rowid
        ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at, client_id = excluded.client_id,
          driver_id = excluded.driver_id, arm64_driver_id = excluded.arm64_driver_id, name = excluded.name, settings = excluded.settings,
          print_ticket = excluded.print_ticket`,
      [now, part[0] ?? 0, part.at(-1) ?? 0],
    ),
  );
  db.all("DROP TABLE temp.staged");
  checkRoom(db);
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
