import type { SqlValue } from "sql.js";
import type { KeptChange } from "../../domain/deletion.ts";
import { chosenInf, type DriverSummary } from "../../domain/drivers/driver.ts";
import { hasModel } from "../../domain/drivers/models.ts";
import { ippProblem } from "../../domain/drivers/windows-drivers.ts";
import { type FieldMessages, missingRecord } from "../../domain/errors.ts";
import { throwIfAny } from "../../domain/fields.ts";
import type { Icon } from "../../domain/printers/icon.ts";
import type { ListedPrinter, PrinterDetails, PrinterWithModels } from "../../domain/printers/listings.ts";
import type { Printer, PrinterSettings } from "../../domain/printers/printer.ts";
import { arm64Problem } from "../../domain/printers/printer-drivers.ts";
import {
  listedSettingsFrom,
  type PrinterReferences,
  printerSettingsFrom,
} from "../../domain/printers/printer-fields.ts";
import type { Database } from "../database/database.ts";
import { digestIn, idOrNull, packText, type Row, readRow, unpackText } from "../database/rows.ts";
import { type Drivers, usesDriver } from "../drivers/drivers.ts";
import { keepEarlier } from "../kept-changes.ts";
import { checkBytes, checkRoom, maxRecords } from "../record-limits.ts";
import type { Clients } from "./clients.ts";

const byName = "ORDER BY name COLLATE NOCASE, id";

const select = `SELECT printers.*, preferences.sha256 AS preferences_sha256 FROM printers
  LEFT JOIN preferences ON printer_id = printers.id`;

/** The SQL about single printers and lists; `ManyPrinters` has the rest. */
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

  /** Ordered by client (printers without one last), then by name. */
  list(): ListedPrinter[] {
    return this.#listed("");
  }

  count(): number {
    return Number(this.#db.first("SELECT count(*) AS n FROM printers")?.n);
  }

  /** Ordered by name. */
  ofClient(clientId: number): ListedPrinter[] {
    return this.#listed("WHERE client_id = ?1", [clientId]);
  }

  /** These printers and all other printers of their clients, in the order of `list`. */
  ofSameClients(ids: readonly number[]): ListedPrinter[] {
    const these = "printers.id IN (SELECT value FROM json_each(?1))";
    const theirs = `client_id IN (SELECT client_id FROM printers WHERE ${these})`;
    return this.#listed(`WHERE ${these} OR ${theirs}`, [JSON.stringify(ids)]);
  }

  /** The printers that use a driver, also for ARM64, with all settings, ordered by name. */
  withSettingsOfDriver(driverId: number): Printer[] {
    return this.#db.all(`${select} WHERE ${usesDriver} ${byName}`, [driverId]).map(printerOf);
  }

  /** The ids of the printers that use a driver, also for ARM64, ordered by name. */
  idsOfDriver(driverId: number): number[] {
    return this.#db
      .all(`SELECT id FROM printers WHERE ${usesDriver} ${byName}`, [driverId])
      .map(({ id }) => Number(id));
  }

  /** Whether a printer, or any printer of a client, uses a driver, also for ARM64. */
  ownerHasDriver(
    owner: { readonly kind: "client" | "printer"; readonly id: number },
    driverId: number,
  ): boolean {
    const column = { client: "client_id", printer: "id" }[owner.kind];
    const statement = `SELECT 1 FROM printers WHERE ${column} = ? AND ? IN (driver_id, arm64_driver_id) LIMIT 1`;
    return this.#db.first(statement, [owner.id, driverId]) !== undefined;
  }

  /** The first printers in the order of their names, with the names of their clients. */
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

  /** Null for a printer without a client; undefined where there is no such printer. */
  clientIdOf(id: number): number | null | undefined {
    const row = this.#db.first("SELECT client_id FROM printers WHERE id = ?", [id]);
    return row && idOrNull(row.client_id);
  }

  /** These printers with their drivers and models, in this order. Unknown ids are left out. */
  modelsOf(ids: readonly number[]): PrinterWithModels[] {
    const columns = "id, created_at, updated_at, name, settings, client_id, driver_id, arm64_driver_id";
    return this.#rows(ids, `SELECT ${columns} FROM printers`).map((row) => {
      const { id, name, driver_desc, arm64_driver_desc, protocol } = this.#listedSettings.of(row);
      const client_id = idOrNull(row.client_id);
      const [driver_id, arm64_driver_id] = [idOrNull(row.driver_id), idOrNull(row.arm64_driver_id)];
      return { id, name, client_id, driver_id, arm64_driver_id, driver_desc, arm64_driver_desc, protocol };
    });
  }

  /** Bytes of the names, settings and packed tickets of these printers in the database. */
  settingsBytes(ids: readonly number[]): number {
    const bytes = ["name", "settings", "print_ticket"].map((column) => `octet_length(${column})`);
    const where = "WHERE id IN (SELECT value FROM json_each(?))";
    const row = this.#db.first(`SELECT sum(${bytes.join(" + ")}) AS n FROM printers ${where}`, [
      JSON.stringify(ids),
    ]);
    return Number(row?.n ?? 0);
  }

  /** Bytes of the unpacked PrintTickets of these printers. Counting stops above the limit. */
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

  /** These printers with all settings, in this order. Unknown ids are left out. */
  findMany(ids: readonly number[]): Printer[] {
    return this.#rows(ids, select).map(printerOf);
  }

  #rows(ids: readonly number[], statement: string): Row[] {
    const where = "WHERE id IN (SELECT value FROM json_each(?))";
    const rows = this.#db.all(`${statement} ${where}`, [JSON.stringify(ids)]);
    const found = new Map(rows.map((row) => [Number(row.id), row]));
    return ids.map((id) => found.get(id)).filter((row) => row !== undefined);
  }

  /** All printers with all settings, ordered by id. */
  withSettings(): Printer[] {
    return this.#db.all(`${select} ORDER BY id`).map(printerOf);
  }

  find(id: number): PrinterDetails | undefined {
    const row = this.#db.first(`${select} WHERE id = ?`, [id]);
    if (row === undefined) return undefined;
    const printer = printerOf(row);
    const client = printer.client_id === null ? undefined : this.#clients.find(printer.client_id);
    return { printer, client };
  }

  /** @throws UserError "not-found" */
  get(id: number): PrinterDetails {
    const found = this.find(id);
    if (found === undefined) throw missingRecord("Printer", id);
    return found;
  }

  /** @throws UserError "invalid" where the client, a driver or a model does not exist */
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
   * @param change the new settings, or a function that makes them from the saved printer within the write
   * @throws UserError "not-found", or "invalid" where the client, a driver or a model does not exist; and what `change` throws
   */
  update(id: number, change: PrinterSettings | ((saved: Printer) => PrinterSettings)): Promise<KeptChange> {
    return this.#db.write(() => {
      const { printer } = this.get(id);
      const settings = typeof change === "function" ? change(printer) : change;
      throwIfAny(this.referenceProblems(settings));
      const { client_id, driver_id, arm64_driver_id, name } = printer;
      const references = {
        clients: this.#clients.references([client_id ?? 0]),
        drivers: this.#drivers.references([driver_id ?? 0, arm64_driver_id ?? 0]),
      };
      const record = { kind: "changed-printer", recordId: id, name, references } as const;
      const kept = keepEarlier(this.#db, this.#clock(), { ...record, table: "printers", ids: [id] }, () => {
        this.#db.all(
          `UPDATE printers SET updated_at = ?, ${columns.map((name) => `${name} = ?`).join()} WHERE id = ?`,
          [this.#clock(), ...columnsOf(settings), id],
        );
      });
      checkBytes(this.#db);
      return kept;
    });
  }

  /** The icon of each of these printers' apps: its own, else its client's. Printers without one are left out. */
  appIcons(ids: readonly number[]): Map<number, Pick<Icon, "sha256" | "size">> {
    const rows = this.#db.all(
      `SELECT printers.id, coalesce(icons.sha256, icon_sha256) AS sha256, coalesce(icons.size, icon_size) AS size
        FROM printers LEFT JOIN icons ON printer_id = printers.id LEFT JOIN clients ON clients.id = client_id
        WHERE printers.id IN (SELECT value FROM json_each(?)) AND coalesce(icons.sha256, icon_sha256, '') <> ''`,
      [JSON.stringify(ids)],
    );
    return new Map(rows.map((row) => [Number(row.id), { sha256: digestIn(row), size: Number(row.size) }]));
  }

  /** Problems with the records that a printer refers to, by field. */
  referenceProblems(printer: PrinterReferences): FieldMessages {
    const { client_id, driver_id, driver_desc, protocol } = printer;
    const [clients, drivers] = [this.#clients, this.#drivers];
    const problems: Record<string, string> = {};
    if (client_id !== null && clients.find(client_id) === undefined) {
      problems.client_id = `Client ${client_id} does not exist.`;
    }
    const driver = driver_id === null ? undefined : drivers.findSummary(driver_id);
    if (driver_id !== null && driver === undefined)
      problems.driver_id = `Driver ${driver_id} does not exist.`;
    if (driver !== undefined)
      Object.assign(problems, modelProblem(drivers, driver, ["driver_desc", driver_desc, "The driver"]));
    const others = { ...arm64Problems(drivers, printer), ...problems };
    if (protocol === undefined || driver === undefined) return others;
    return { ...ippProblem(protocol, driver), ...others };
  }

  /** Reads every row when the service starts. @throws Error with the first unreadable row */
  check(): void {
    for (const row of this.#db.all("SELECT * FROM printers ORDER BY id"))
      readRow(`the printer ${row.id}`, () => printerOf(row).print_ticket);
  }

  /**
   * Clients and drivers are few and shared by many printers, so each is read once. JavaScript parses the settings:
   * SQLite's JSON functions take twice as long in WebAssembly.
   */
  #listed(where: string, parameters: readonly SqlValue[] = []): ListedPrinter[] {
    const clients = byId(this.#clients.names());
    const drivers = byId(this.#drivers.summaries());
    const columns =
      "printers.id, created_at, updated_at, printers.name, settings, client_id, driver_id, arm64_driver_id";
    const saved = this.#db.all("SELECT printer_id, sha256, driver_sha256, driver_desc FROM preferences");
    const preferences = new Map(saved.map((row) => [row.printer_id, savedPreferencesOf(row)]));
    const rows = new Map<Row[string] | undefined, ListedPrinter>();
    for (const row of this.#db.all(`SELECT ${columns} FROM printers ${where}`, parameters)) {
      const printer = this.#listedSettings.of(row);
      const client = clients.get(row.client_id);
      const [driver, arm64Driver] = [drivers.get(row.driver_id), drivers.get(row.arm64_driver_id)];
      rows.set(row.id, { printer, client, driver, arm64Driver, preferences: preferences.get(row.id) });
    }
    // A second statement sorts the ids: SQLite would sort rows with their settings, in a temporary file where they are long.
    const order = this.#db.all(
      `SELECT printers.id FROM printers LEFT JOIN clients ON clients.id = client_id ${where}
        ORDER BY clients.id IS NULL, clients.name_key, printers.name COLLATE NOCASE, printers.id`,
      parameters,
    );
    return order.flatMap(({ id }) => rows.get(id) ?? []);
  }
}

/** The columns that a save writes, in the order of `columnsOf`. */
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

function savedPreferencesOf({ sha256, driver_sha256, driver_desc }: Row): ListedPrinter["preferences"] {
  return {
    sha256: String(sha256),
    driver_sha256: String(driver_sha256),
    driver_desc: String(driver_desc),
  };
}

type Listed = ListedPrinter["printer"];

/**
 * A cache of the settings that lists show. Comparing the saved JSON is faster than parsing it. `of` returns the same
 * object until the printer changes, so callers can cache by that object. The cache needs no invalidation: a changed
 * row has other JSON or another `updated_at`.
 */
class ListedSettings {
  readonly #read = new Map<
    number,
    { readonly json: string; readonly updatedAt: number; readonly listed: Listed }
  >();

  /** @throws Error when the settings are not a JSON object */
  of(row: Row): Listed {
    const [id, name, json] = [Number(row.id), String(row.name), String(row.settings)];
    // A change of the ticket changes `updated_at` only: the ticket is not in the settings.
    const updatedAt = Number(row.updated_at);
    const known = this.#read.get(id);
    if (known?.json === json && known.updatedAt === updatedAt && known.listed.name === name)
      return known.listed;
    const times = { created_at: Number(row.created_at), updated_at: updatedAt };
    const listed = { id, ...times, name, ...listedSettingsFrom(json) };
    if (known === undefined && this.#read.size >= maxRecords.printers) this.#read.clear();
    this.#read.set(id, { json, updatedAt, listed });
    return listed;
  }
}

/** @throws Error where the settings cannot be read */
function printerOf(row: Row): Printer {
  const own = {
    id: Number(row.id),
    created_at: Number(row.created_at),
    updated_at: Number(row.updated_at),
    name: String(row.name),
    preferences_sha256: String(row.preferences_sha256 ?? ""),
    client_id: idOrNull(row.client_id),
    driver_id: idOrNull(row.driver_id),
    arm64_driver_id: idOrNull(row.arm64_driver_id),
  };
  // Object.assign: V8 takes four times as long to spread so many settings.
  const printer = Object.assign(printerSettingsFrom(String(row.settings)), own);
  const packed = String(row.print_ticket);
  if (packed === "") return printer;
  // A ticket can be a thousand times as large as its column, so it is unpacked only when it is read.
  const ticket = { enumerable: true, get: () => unpackText(packed) };
  return Object.defineProperty(printer, "print_ticket", ticket);
}

function modelProblem(
  drivers: Drivers,
  { id, driver_desc }: DriverSummary,
  [field, model, what]: readonly [field: string, model: string, what: string],
): FieldMessages {
  if (model === "" || model === driver_desc) return {};
  const driver = drivers.find(id);
  if (driver === undefined || hasModel(chosenInf(driver), model)) return {};
  return { [field]: `${what} does not contain the model “${model}”. Choose one from the list.` };
}

/** Problems with the driver for ARM64. */
function arm64Problems(drivers: Drivers, printer: PrinterReferences): FieldMessages {
  const { protocol, arm64_driver_id = null, arm64_driver_desc = "" } = printer;
  if (arm64_driver_id === null) {
    const problem = `Choose the driver for ARM64 that has the model “${arm64_driver_desc}”, or leave the model empty.`;
    return arm64_driver_desc === "" ? {} : { arm64_driver_id: problem };
  }
  const driver = drivers.findSummary(arm64_driver_id);
  if (driver === undefined)
    return { arm64_driver_id: `Driver ${arm64_driver_id} for ARM64 does not exist. Choose another.` };
  const problem = arm64Problem(driver, protocol);
  if (problem !== undefined) return { arm64_driver_id: problem };
  return modelProblem(drivers, driver, ["arm64_driver_desc", arm64_driver_desc, "The driver for ARM64"]);
}
