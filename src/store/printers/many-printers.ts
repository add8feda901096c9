import type { DeletedRecord, KeptChange } from "../../domain/deletion.ts";
import { UserError } from "../../domain/errors.ts";
import type { ImportWrite } from "../../domain/import/import-plan.ts";
import { nameKey } from "../../domain/text.ts";
import type { Database } from "../database/database.ts";
import { digestIn, packText } from "../database/rows.ts";
import { keepDeleted, type References, type Removal } from "../deletions.ts";
import type { Drivers } from "../drivers/drivers.ts";
import { keepEarlier } from "../kept-changes.ts";
import { checkRoom } from "../record-limits.ts";
import type { Clients } from "./clients.ts";
import { columnsOf, type Printers } from "./printers.ts";

/** SQL: the parameter is a JSON list of values. */
const among = "IN (SELECT value FROM json_each(?))";

/** Creates a printer, or changes the one with the id. Without a ticket (null) the printer keeps its ticket. */
const putPrinter = `INSERT INTO printers (created_at, updated_at, id, client_id, driver_id, arm64_driver_id, name, settings, print_ticket)
  VALUES (?1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, coalesce(?8, ''))
  ON CONFLICT (id) DO UPDATE SET updated_at = ?1, client_id = ?3, driver_id = ?4, arm64_driver_id = ?5, name = ?6,
    settings = ?7, print_ticket = coalesce(?8, print_ticket)`;

/** Changes of many printers in one write, and the deletion of printers. */
export class ManyPrinters {
  readonly #db: Database;
  readonly #clock: () => number;
  readonly #clients: Clients;
  readonly #drivers: Drivers;
  readonly #printers: Printers;

  constructor(db: Database, clock: () => number, clients: Clients, drivers: Drivers, printers: Printers) {
    this.#db = db;
    this.#clock = clock;
    this.#clients = clients;
    this.#drivers = drivers;
    this.#printers = printers;
  }

  /** @throws UserError "invalid" with the ids that do not exist */
  checkExist(ids: readonly number[]): void {
    const rows = this.#db.all(`SELECT id FROM printers WHERE id ${among}`, [JSON.stringify(ids)]);
    if (rows.length === ids.length) return;
    const existing = new Set(rows.map(({ id }) => Number(id)));
    const missing = ids.filter((id) => !existing.has(id));
    const more = missing.length > 5 ? ` and ${missing.length - 5} more` : "";
    const message = `Nothing was changed. These printers do not exist: ${missing.slice(0, 5).join(", ")}${more}. Reload the list.`;
    throw new UserError("invalid", message);
  }

  /**
   * Within a write: sets the driver of printers, and their `driver_desc`. Nothing is checked.
   * @param models `driver_desc` by printer id
   * @param prefix of the field names: empty for the first driver, `arm64_` for the driver for ARM64
   */
  useDriver(driverId: number | null, models: ReadonlyMap<number, string>, prefix: "" | "arm64_" = ""): void {
    // One statement for all printers, whatever the number of models.
    const given =
      "SELECT json_extract(value, '$[0]') AS id, json_extract(value, '$[1]') AS model FROM json_each(?3)";
    this.#db.all(
      `UPDATE printers SET updated_at = ?1, ${prefix}driver_id = ?2,
        settings = json_set(settings, '$.${prefix}driver_desc', given.model) FROM (${given}) AS given WHERE printers.id = given.id`,
      [this.#clock(), driverId, JSON.stringify([...models])],
    );
  }

  /** Within a write: creates and changes printers, and creates their new clients. Nothing is checked. */
  importAll(writes: readonly ImportWrite[]): void {
    const createdClients = new Map<string, number>();
    const clientOf = ({ newClient, settings }: ImportWrite) => {
      if (newClient === undefined) return settings.client_id;
      const key = nameKey(newClient.name);
      const id = createdClients.get(key) ?? this.#clients.insert(newClient);
      createdClients.set(key, id);
      return id;
    };
    const now = this.#clock();
    // Tickets are read before anything is written: the same list may change the printer that a ticket comes from.
    const tickets = this.#ticketsOf(writes.flatMap(({ ticket }) => ticket?.of ?? []));
    for (const write of writes) {
      const [, driverId, arm64DriverId, name, , settings] = columnsOf(write.settings);
      const { of = 0, text = "" } = write.ticket ?? {};
      const ticket = write.ticket && (tickets.get(of) ?? packText(text));
      const ids = [write.printerId ?? null, clientOf(write), driverId, arm64DriverId];
      this.#db.all(putPrinter, [now, ...ids, name, settings, ticket ?? null]);
    }
    checkRoom(this.#db);
  }

  /** Packed tickets, as in their column, by printer id. */
  #ticketsOf(ids: readonly number[]): Map<number, string> {
    const rows = this.#db.all(`SELECT id, print_ticket FROM printers WHERE id ${among}`, [
      JSON.stringify(ids),
    ]);
    return new Map(rows.map(({ id, print_ticket }) => [Number(id), String(print_ticket)]));
  }

  /** Deletes a printer with its files and downloads. @throws UserError "not-found" */
  remove(id: number): Promise<Removal> {
    return this.#db.freeingWrite((isFinal) => {
      const { printer } = this.#printers.get(id);
      return this.#remove([id], { kind: "printer", recordId: id, name: printer.name }, isFinal);
    });
  }

  /** Deletes all or none. @throws UserError "invalid" where one does not exist */
  removeMany(ids: readonly number[]): Promise<Removal> {
    return this.#db.freeingWrite((isFinal) => {
      this.checkExist(ids);
      return this.#remove(ids, { kind: "printers", recordId: 0, name: nameOf(ids) }, isFinal);
    });
  }

  /** Within a write. */
  #remove(ids: readonly number[], deleted: DeletedRecord, isFinal: boolean): Removal {
    const files = (["icons", "preferences"] as const).flatMap((kind) =>
      this.#distinct(ids, "sha256", kind, "printer_id").map((sha256) => {
        return { kind, sha256: digestIn({ sha256 }) };
      }),
    );
    const references = this.#references(ids);
    const rows = [
      ["printers", "id", ids] as const,
      ["icons", "printer_id", ids] as const,
      ["preferences", "printer_id", ids] as const,
      ["downloads", "printer_id", ids] as const,
    ];
    const removal = keepDeleted(this.#db, this.#clock(), { ...deleted, rows, references, files }, isFinal);
    this.#db.all(`DELETE FROM printers WHERE id ${among}`, [JSON.stringify(ids)]);
    return removal;
  }

  /** Within a write: moves printers to a client. Nothing is checked. */
  useClient(clientId: number | null, ids: readonly number[]): void {
    const set = "UPDATE printers SET client_id = ?1, updated_at = ?2 WHERE client_id IS NOT ?1 AND id";
    const values = "IN (SELECT value FROM json_each(?3))";
    this.#db.all(`${set} ${values}`, [clientId, this.#clock(), JSON.stringify(ids)]);
  }

  /** Within a write: runs a change of printers that can be undone. */
  keepEarlier(ids: readonly number[], work: () => void): KeptChange {
    const references = this.#references(ids);
    const record = { kind: "changed-printers", recordId: 0, name: nameOf(ids), references } as const;
    return keepEarlier(this.#db, this.#clock(), { ...record, table: "printers", ids }, work);
  }

  /** The clients and drivers of printers. */
  #references(ids: readonly number[]): References {
    const idsOf = (column: string) => this.#distinct(ids, column, "printers", "id").map(Number);
    return {
      clients: this.#clients.references(idsOf("client_id")),
      drivers: this.#drivers.references([...new Set([...idsOf("driver_id"), ...idsOf("arm64_driver_id")])]),
    };
  }

  #distinct(ids: readonly number[], column: string, table: string, key: string) {
    const where = `WHERE ${column} IS NOT NULL AND ${key} ${among}`;
    const rows = this.#db.all(`SELECT DISTINCT ${column} AS value FROM ${table} ${where}`, [
      JSON.stringify(ids),
    ]);
    return rows.map(({ value = null }) => value);
  }
}

/** The name of several printers in a deletion or change. */
function nameOf({ length }: readonly number[]): string {
  return length === 1 ? "1 printer" : `${length} printers`;
}
