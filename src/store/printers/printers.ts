import type { SqlValue } from "sql.js";
import { type FieldMessages, UserError } from "../../domain/errors.ts";
import { checkOpened, throwIfAny } from "../../domain/fields.ts";
import type { ListedPrinter, PrinterDetails, PrinterModel } from "../../domain/printers/listings.ts";
import type { Printer, PrinterSettings } from "../../domain/printers/printer.ts";
import {
  listedSettingsFrom,
  type PrinterReferences,
  printerFormValues,
  printerSettingsFrom,
} from "../../domain/printers/printer-fields.ts";
import type { Database } from "../database/database.ts";
import { idOrNull, packText, type Row, readable, unpackText } from "../database/rows.ts";
import { type Drivers, usesDriver } from "../drivers/drivers.ts";
import { checkBytes, checkRoom, maxRecords } from "../record-limits.ts";
import type { Clients } from "./clients.ts";
import { referenceProblems } from "./printer-references.ts";

const byName = "ORDER BY name COLLATE NOCASE, id";

/** The printers' only SQL. */
export class Printers {
  readonly #db: Database;
  readonly #clock: () => number;
  readonly #clients: Clients;
  readonly #drivers: Drivers;
  readonly #listedSettings = new ListedSettings();

  constructor(db: Database, clock: () => number, clients: Clients, drivers: Drivers) {
    this.#db = db;
    this.#clock = clock;
    this.#clients = clients;
    this.#drivers = drivers;
  }

  /** By client, those without one last, then by name. */
  list(): ListedPrinter[] {
    return this.#listed("");
  }

  /** A client's printers, by name. */
  ofClient(clientId: number): ListedPrinter[] {
    return this.#listed("WHERE client_id = ?1", [clientId]);
  }

  /** These printers and all others of their clients, in the order of `list`. */
  withNeighbours(ids: readonly number[]): ListedPrinter[] {
    const these = "printers.id IN (SELECT value FROM json_each(?1))";
    const theirs = `client_id IN (SELECT client_id FROM printers WHERE ${these})`;
    return this.#listed(`WHERE ${these} OR ${theirs}`, [JSON.stringify(ids)]);
  }

  /** The printers that a driver is the first or the second of, with all of their settings, by name. */
  wholeOfDriver(driverId: number): Printer[] {
    return this.#db.all(`SELECT * FROM printers WHERE ${usesDriver} ${byName}`, [driverId]).map(printerOf);
  }

  /** The ids of the same printers, by name. */
  idsOfDriver(driverId: number): number[] {
    return this.#db
      .all(`SELECT id FROM printers WHERE ${usesDriver} ${byName}`, [driverId])
      .map(({ id }) => Number(id));
  }

  /** Whether a printer, or one of a client's, has a driver as its first or second one. */
  haveDriver(owner: { readonly kind: "client" | "printer"; readonly id: number }, driverId: number): boolean {
    const column = { client: "client_id", printer: "id" }[owner.kind];
    const statement = `SELECT 1 FROM printers WHERE ${column} = ? AND ? IN (driver_id, arm64_driver_id) LIMIT 1`;
    return this.#db.first(statement, [owner.id, driverId]) !== undefined;
  }

  /** The first ones by name, with their clients'. */
  names(
    limit: number,
  ): { readonly id: number; readonly name: string; readonly client: string | undefined }[] {
    const rows = this.#db.all(
      `SELECT printers.id, printers.name AS name, clients.name AS client FROM printers
        LEFT JOIN clients ON clients.id = client_id ORDER BY printers.name COLLATE NOCASE, printers.id LIMIT ?`,
      [limit],
    );
    return rows.map(({ id, name, client }) => ({
      id: Number(id),
      name: String(name),
      client: client === null ? undefined : String(client),
    }));
  }

  /** The client of a printer; null for one without, undefined where there is no such printer. */
  clientIdOf(id: number): number | null | undefined {
    const row = this.#db.first("SELECT client_id FROM printers WHERE id = ?", [id]);
    return row && idOrNull(row.client_id);
  }

  /** These printers with the models that they choose, in this order; those that there are not are left out. */
  models(ids: readonly number[]): PrinterModel[] {
    const columns = "id, created_at, updated_at, name, settings, client_id, driver_id, arm64_driver_id";
    return this.#rows(ids, columns).map((row) => {
      const { id, name, driver_desc, arm64_driver_desc, protocol } = this.#listedSettings.of(row);
      const client_id = idOrNull(row.client_id);
      const [driver_id, arm64_driver_id] = [idOrNull(row.driver_id), idOrNull(row.arm64_driver_id)];
      return { id, name, client_id, driver_id, arm64_driver_id, driver_desc, arm64_driver_desc, protocol };
    });
  }

  /** How many bytes the names and settings of these printers take in the database. */
  settingsBytes(ids: readonly number[]): number {
    const bytes = ["name", "settings", "print_ticket"].map((column) => `octet_length(${column})`);
    const where = "WHERE id IN (SELECT value FROM json_each(?))";
    const row = this.#db.first(`SELECT sum(${bytes.join(" + ")}) AS n FROM printers ${where}`, [
      JSON.stringify(ids),
    ]);
    return Number(row?.n ?? 0);
  }

  /** How many bytes the PrintTickets of these printers have as scripts carry them; beyond the limit they are not counted on. */
  ticketBytes(ids: readonly number[], limit: number): number {
    const where = "WHERE print_ticket <> '' AND id IN (SELECT value FROM json_each(?))";
    const rows = this.#db.all(`SELECT print_ticket FROM printers ${where}`, [JSON.stringify(ids)]);
    let sum = 0;
    for (const row of rows) {
      if (sum > limit) break;
      sum += Buffer.byteLength(unpackText(String(row.print_ticket)));
    }
    return sum;
  }

  /** These printers with all of their settings, in this order; those that there are not are left out. */
  several(ids: readonly number[]): Printer[] {
    return this.#rows(ids, "*").map(printerOf);
  }

  /** The rows of these printers, in this order; those that there are not are left out. */
  #rows(ids: readonly number[], columns: string): Row[] {
    const where = "WHERE id IN (SELECT value FROM json_each(?))";
    const rows = this.#db.all(`SELECT ${columns} FROM printers ${where}`, [JSON.stringify(ids)]);
    const found = new Map(rows.map((row) => [Number(row.id), row]));
    return ids.map((id) => found.get(id)).filter((row) => row !== undefined);
  }

  /** All printers with all of their settings, by id. */
  whole(): Printer[] {
    return this.#db.all("SELECT * FROM printers ORDER BY id").map(printerOf);
  }

  find(id: number): PrinterDetails | undefined {
    const row = this.#db.first("SELECT * FROM printers WHERE id = ?", [id]);
    if (row === undefined) return undefined;
    const printer = printerOf(row);
    const client = printer.client_id === null ? undefined : this.#clients.find(printer.client_id);
    return { printer, client };
  }

  /** @throws UserError "not-found" */
  get(id: number): PrinterDetails {
    const found = this.find(id);
    if (found === undefined) throw new UserError("not-found", `There is no printer ${id}.`);
    return found;
  }

  /** @throws UserError "invalid" when the client or the driver does not exist. */
  add(settings: PrinterSettings): Promise<number> {
    return this.#db.write(() => {
      throwIfAny(this.referenceProblems(settings));
      const now = this.#clock();
      const row = this.#db.first(
        `INSERT INTO printers (created_at, updated_at, ${columns.join()}) VALUES (?, ?, ${columns.map(() => "?").join()})
          RETURNING id`,
        [now, now, ...columnsOf(settings)],
      );
      checkRoom(this.#db);
      return Number(row?.id);
    });
  }

  /**
   * @param opened names what the form was opened with, where it says so
   * @throws UserError "not-found", "stale" when somebody has saved it since, or "invalid" when the client or the driver
   *   does not exist
   */
  update(id: number, settings: PrinterSettings, opened?: string): Promise<void> {
    return this.#db.write(() => {
      checkOpened(opened, printerFormValues(this.get(id).printer));
      throwIfAny(this.referenceProblems(settings));
      this.#db.all(
        `UPDATE printers SET updated_at = ?, ${columns.map((name) => `${name} = ?`).join()} WHERE id = ?`,
        [this.#clock(), ...columnsOf(settings), id],
      );
      checkBytes(this.#db);
    });
  }

  /** Reads every row, as a start does. @throws Error that names the row that cannot be read */
  check(): void {
    for (const row of this.#db.all("SELECT * FROM printers ORDER BY id"))
      readable(`the printer ${row.id}`, () => printerOf(row).print_ticket);
  }

  /**
   * Clients and drivers are few and named again and again: they are read by themselves, each once. Settings are not
   * taken apart by SQLite, whose JSON functions take twice as long in WebAssembly.
   */
  #listed(where: string, parameters: readonly SqlValue[] = []): ListedPrinter[] {
    const clients = byId(this.#clients.names());
    const drivers = byId(this.#drivers.summaries());
    const columns =
      "printers.id, created_at, updated_at, printers.name, settings, client_id, driver_id, arm64_driver_id";
    const rows = new Map<Row[string] | undefined, ListedPrinter>();
    for (const row of this.#db.all(`SELECT ${columns} FROM printers ${where}`, parameters)) {
      const printer = this.#listedSettings.of(row);
      const client = clients.get(row.client_id);
      const [driver, arm64Driver] = [drivers.get(row.driver_id), drivers.get(row.arm64_driver_id)];
      rows.set(row.id, { printer, client, driver, arm64Driver });
    }
    // SQLite would sort whole settings, and put them into a file when they are long.
    const order = this.#db.all(
      `SELECT printers.id FROM printers LEFT JOIN clients ON clients.id = client_id ${where}
        ORDER BY clients.id IS NULL, clients.name_key, printers.name COLLATE NOCASE, printers.id`,
      parameters,
    );
    return order.flatMap(({ id }) => rows.get(id) ?? []);
  }

  /** What is wrong with the records that a printer refers to, by field. */
  referenceProblems(printer: PrinterReferences): FieldMessages {
    return referenceProblems({ clients: this.#clients, drivers: this.#drivers }, printer);
  }
}

/** What a save writes, in the order of `columnsOf`. */
const columns = ["client_id", "driver_id", "arm64_driver_id", "name", "print_ticket", "settings"] as const;

export function columnsOf({
  client_id,
  driver_id,
  arm64_driver_id,
  name,
  print_ticket,
  ...rest
}: PrinterSettings) {
  const settings = JSON.stringify(rest);
  return [client_id, driver_id, arm64_driver_id, name, packText(print_ticket), settings] as const;
}

function byId<T extends { readonly id: number }>(records: readonly T[]): Map<Row[string] | undefined, T> {
  return new Map(records.map((record) => [record.id, record]));
}

type Listed = ListedPrinter["printer"];

/**
 * What lists show of printers, remembered with the text that it was read from: a long list compares texts instead of
 * parsing them, and answers the same object until its printer changes, so that others can remember what they made of
 * it. Nothing has to be told of a change, since another text is read anew.
 */
class ListedSettings {
  readonly #read = new Map<
    number,
    { readonly json: string; readonly updatedAt: number; readonly listed: Listed }
  >();

  /** @throws Error when the text is no object in JSON */
  of(row: Row): Listed {
    const [id, name, json] = [Number(row.id), String(row.name), String(row.settings)];
    // The ticket is not among the settings.
    const updatedAt = Number(row.updated_at);
    const known = this.#read.get(id);
    if (known?.json === json && known.updatedAt === updatedAt && known.listed.name === name)
      return known.listed;
    const listed = { id, created_at: Number(row.created_at), name, ...listedSettingsFrom(json) };
    if (known === undefined && this.#read.size >= maxRecords.printers) this.#read.clear();
    this.#read.set(id, { json, updatedAt, listed });
    return listed;
  }
}

/** A printer's whole row as a record. @throws Error where its settings cannot be read */
function printerOf(row: Row): Printer {
  const own = {
    id: Number(row.id),
    created_at: Number(row.created_at),
    updated_at: Number(row.updated_at),
    name: String(row.name),
    client_id: idOrNull(row.client_id),
    driver_id: idOrNull(row.driver_id),
    arm64_driver_id: idOrNull(row.arm64_driver_id),
  };
  // V8 takes four times as long to spread so many settings.
  const printer = Object.assign(printerSettingsFrom(String(row.settings)), own);
  const packed = String(row.print_ticket);
  if (packed === "") return printer;
  // A ticket can be a thousand times as large as its column: it is unpacked for who asks for it.
  const ticket = { enumerable: true, get: () => unpackText(packed) };
  return Object.defineProperty(printer, "print_ticket", ticket);
}
