import type { Client } from "../domain/client.ts";
import { type Driver, hasModel } from "../domain/driver.ts";
import { UserError } from "../domain/errors.ts";
import { throwIfAny } from "../domain/fields.ts";
import { type Printer, type PrinterSettings, printerSettingsFrom } from "../domain/printer.ts";
import type { Clients } from "./clients.ts";
import type { Database } from "./database.ts";
import type { Drivers } from "./drivers.ts";
import { digestIfUnused } from "./icons.ts";
import { type Row, readable } from "./rows.ts";

/** A printer with what it refers to. */
export interface PrinterListing {
  readonly printer: Printer;
  readonly client: Pick<Client, "id" | "name"> | undefined;
  readonly driver: Pick<Driver, "id" | "name" | "driver_desc" | "file_name" | "inf_path"> | undefined;
  readonly has_icon: boolean;
}

const listing = `SELECT printers.*, clients.name AS client_name, drivers.name AS driver_name,
  drivers.driver_desc AS driver_driver_desc, drivers.file_name AS driver_file_name, drivers.inf_path AS driver_inf_path,
  icons.sha256 AS icon
  FROM printers LEFT JOIN clients ON clients.id = printers.client_id
  LEFT JOIN drivers ON drivers.id = printers.driver_id
  LEFT JOIN icons ON icons.printer_id = printers.id`;

/** The printers' only SQL. */
export class Printers {
  readonly #db: Database;
  readonly #clock: () => number;
  readonly #clients: Clients;
  readonly #drivers: Drivers;

  constructor(db: Database, clock: () => number, clients: Clients, drivers: Drivers) {
    this.#db = db;
    this.#clock = clock;
    this.#clients = clients;
    this.#drivers = drivers;
  }

  /** By client, those without one last, then by name. */
  list(): PrinterListing[] {
    const order = "ORDER BY clients.id IS NULL, clients.name_key, printers.name COLLATE NOCASE, printers.id";
    return this.#db.all(`${listing} ${order}`).map(listingOf);
  }

  /** The newest first. */
  recent(limit: number): PrinterListing[] {
    return this.#db.all(`${listing} ORDER BY printers.id DESC LIMIT ?`, [limit]).map(listingOf);
  }

  /** Those that have a driver, the newest first. */
  recentWithDriver(limit: number): PrinterListing[] {
    const where = "WHERE printers.driver_id IS NOT NULL ORDER BY printers.id DESC LIMIT ?";
    return this.#db.all(`${listing} ${where}`, [limit]).map(listingOf);
  }

  ofClient(clientId: number): PrinterListing[] {
    const where = "WHERE printers.client_id = ? ORDER BY printers.name COLLATE NOCASE, printers.id";
    return this.#db.all(`${listing} ${where}`, [clientId]).map(listingOf);
  }

  ofDriver(driverId: number): PrinterListing[] {
    const where = "WHERE printers.driver_id = ? ORDER BY printers.name COLLATE NOCASE, printers.id";
    return this.#db.all(`${listing} ${where}`, [driverId]).map(listingOf);
  }

  find(id: number): PrinterListing | undefined {
    const row = this.#db.first(`${listing} WHERE printers.id = ?`, [id]);
    return row && listingOf(row);
  }

  /** @throws UserError "not-found" */
  get(id: number): PrinterListing {
    const found = this.find(id);
    if (found === undefined) throw new UserError("not-found", `There is no printer ${id}.`);
    return found;
  }

  /** @throws UserError "invalid" when the client or the driver does not exist. */
  add(settings: PrinterSettings): Promise<number> {
    return this.#db.write(() => {
      this.#checkReferences(settings);
      const now = this.#clock();
      const row = this.#db.first(
        `INSERT INTO printers (created_at, updated_at, client_id, driver_id, name, settings)
          VALUES (?, ?, ?, ?, ?, ?) RETURNING id`,
        [now, now, ...columnsOf(settings)],
      );
      return Number(row?.id);
    });
  }

  /** @throws UserError "not-found", or "invalid" when the client or the driver does not exist. */
  update(id: number, settings: PrinterSettings): Promise<void> {
    return this.#db.write(() => {
      this.get(id);
      this.#checkReferences(settings);
      this.#db.all(
        "UPDATE printers SET updated_at = ?, client_id = ?, driver_id = ?, name = ?, settings = ? WHERE id = ?",
        [this.#clock(), ...columnsOf(settings), id],
      );
    });
  }

  /**
   * Its icon's record goes with it.
   * @returns the digest of a picture that no printer has any more
   * @throws UserError "not-found"
   */
  remove(id: number): Promise<string | undefined> {
    return this.#db.freeingWrite(() => {
      this.get(id);
      const icon = this.#db.first("SELECT sha256 FROM icons WHERE printer_id = ?", [id]);
      this.#db.all("DELETE FROM printers WHERE id = ?", [id]);
      return digestIfUnused(this.#db, icon);
    });
  }

  /** Reads every row, as a start does. @throws Error that names the row that cannot be read */
  check(): void {
    for (const row of this.#db.all("SELECT * FROM printers ORDER BY id"))
      readable(`the printer ${row.id}`, () => listingOf(row));
  }

  #checkReferences({ client_id, driver_id, driver_desc }: PrinterSettings): void {
    const problems: Record<string, string> = {};
    if (client_id !== null && this.#clients.find(client_id) === undefined) {
      problems.client_id = `There is no client ${client_id}.`;
    }
    if (driver_id !== null && !this.#drivers.has(driver_id))
      problems.driver_id = `There is no driver ${driver_id}.`;
    const driver = driver_id === null || driver_desc === "" ? undefined : this.#drivers.find(driver_id);
    if (driver !== undefined && !hasModel(driver, driver_desc)) {
      problems.driver_desc = `The driver has no model “${driver_desc}”.`;
    }
    throwIfAny(problems);
  }
}

function columnsOf({ client_id, driver_id, name, ...rest }: PrinterSettings) {
  return [client_id, driver_id, name, JSON.stringify(rest)] as const;
}

function listingOf(row: Row): PrinterListing {
  const clientId = row.client_id === null ? null : Number(row.client_id);
  const driverId = row.driver_id === null ? null : Number(row.driver_id);
  const printer = {
    ...printerSettingsFrom(String(row.settings)),
    id: Number(row.id),
    created_at: Number(row.created_at),
    updated_at: Number(row.updated_at),
    name: String(row.name),
    client_id: clientId,
    driver_id: driverId,
  };
  return {
    printer,
    client: clientId === null ? undefined : { id: clientId, name: String(row.client_name) },
    driver:
      driverId === null
        ? undefined
        : {
            id: driverId,
            name: String(row.driver_name),
            driver_desc: String(row.driver_driver_desc),
            file_name: String(row.driver_file_name),
            inf_path: String(row.driver_inf_path),
          },
    has_icon: row.icon !== null,
  };
}
