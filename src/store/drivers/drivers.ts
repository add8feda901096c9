import type { KeptChange } from "../../domain/deletion.ts";
import type { AddedDriver } from "../../domain/drivers/driver.ts";
import {
  type Driver,
  type DriverOrigin,
  type DriverSettings,
  type DriverSummary,
  driverOrigins,
  driverTitle,
} from "../../domain/drivers/driver.ts";
import { DriverNames, proposedNames } from "../../domain/drivers/driver-name.ts";
import { listedInf, listedInfFrom, reportFrom } from "../../domain/drivers/report.ts";
import { isWindowsDriver } from "../../domain/drivers/windows-drivers.ts";
import { missingRecord, UserError } from "../../domain/errors.ts";
import type { ListedDriver } from "../../domain/printers/listings.ts";
import { modelsOf } from "../../domain/printers/printer-drivers.ts";
import { listedSettingsFrom } from "../../domain/printers/printer-fields.ts";
import { nameKey } from "../../domain/text.ts";
import type { Database } from "../database/database.ts";
import { digestIn, idOrNull, packText, type Row, readRow, unpackText } from "../database/rows.ts";
import { keepDeleted, type References, type Removal } from "../deletions.ts";
import { keepEarlier } from "../kept-changes.ts";
import { inUseError } from "../printers/clients.ts";
import { checkRoom } from "../record-limits.ts";

export type NewDriver = Omit<
  Driver,
  "id" | "origin" | "uploaded_at" | "updated_at" | "listed" | "name" | "former_title"
>;

const selectWithReport =
  "SELECT drivers.*, reports.report FROM drivers JOIN reports ON reports.driver_id = drivers.id";

/** SQL condition: the printer uses the driver ?1 as its first driver or for ARM64. */
export const usesDriver = "(driver_id = ?1 OR arm64_driver_id = ?1)";

/** SQL: one row for each driver of each printer. */
const references = `SELECT driver_id AS driver FROM printers
  UNION ALL SELECT arm64_driver_id FROM printers WHERE arm64_driver_id IS NOT driver_id`;

export class Drivers {
  readonly #db: Database;
  readonly #clock: () => number;

  constructor(db: Database, clock: () => number) {
    this.#db = db;
    this.#clock = clock;
  }

  /** Uploaded drivers, the newest first. */
  list(): ListedDriver[] {
    return this.#listed("origin = 'upload'", "drivers.id DESC");
  }

  /** Drivers that come with Windows. */
  windowsDrivers(): ListedDriver[] {
    return this.#listed("origin <> 'upload'", "drivers.id");
  }

  #listed(where: string, order: string): ListedDriver[] {
    const users = `SELECT driver, count(*) AS n FROM (${references}) GROUP BY driver`;
    const rows = this.#db.all(`SELECT drivers.*, coalesce(n, 0) AS printer_count FROM drivers
      LEFT JOIN (${users}) AS users ON users.driver = drivers.id WHERE ${where} ORDER BY ${order}`);
    return rows.map((row) => ({ ...summaryOf(row), printer_count: Number(row.printer_count) }));
  }

  /** All drivers: first the uploaded ones, the newest first, then those that come with Windows. */
  summaries(): DriverSummary[] {
    const order = "origin <> 'upload', CASE origin WHEN 'upload' THEN -id ELSE id END";
    return this.#db.all(`SELECT * FROM drivers ORDER BY ${order}`).map(summaryOf);
  }

  digests(): Set<string> {
    const rows = this.#db.all("SELECT sha256 FROM drivers WHERE origin = 'upload'");
    return new Set(rows.map((row) => String(row.sha256)));
  }

  /** The size of all uploaded ZIPs. */
  totalBytes(): number {
    return Number(
      this.#db.first("SELECT sum(size) AS bytes FROM drivers WHERE origin = 'upload'")?.bytes ?? 0,
    );
  }

  find(id: number): Driver | undefined {
    const row = this.#db.first(`${selectWithReport} WHERE drivers.id = ?`, [id]);
    return row && driverOf(row);
  }

  findByDigest(sha256: string): Driver | undefined {
    const row = this.#db.first(`${selectWithReport} WHERE drivers.sha256 = ?`, [sha256]);
    return row && driverOf(row);
  }

  has(id: number): boolean {
    return this.#db.first("SELECT 1 FROM drivers WHERE id = ?", [id]) !== undefined;
  }

  /** A driver without its report. */
  findSummary(id: number): DriverSummary | undefined {
    const row = this.#db.first("SELECT * FROM drivers WHERE id = ?", [id]);
    return row && summaryOf(row);
  }

  hasDigest(sha256: string): boolean {
    return this.#db.first("SELECT 1 FROM drivers WHERE sha256 = ?", [sha256]) !== undefined;
  }

  /** Reads every row at start. @throws Error that names the first unreadable row */
  check(): void {
    for (const { id } of this.#db.all("SELECT id FROM drivers ORDER BY id")) {
      const what = `the driver ${id}`;
      readRow(what, () => this.#db.all("SELECT * FROM drivers WHERE id = ?", [id ?? null]).map(summaryOf));
      readRow(what, () => this.get(Number(id)));
    }
  }

  /** @throws UserError "not-found" */
  get(id: number): Driver {
    const driver = this.find(id);
    if (driver === undefined) throw missingRecord("Driver", id);
    return driver;
  }

  /** Adds a driver under the name that it proposes, or returns the existing one with the same content. @throws UserError "full" */
  add(driver: NewDriver): Promise<AddedDriver> {
    return this.#db.write(() => {
      const known = this.findByDigest(driver.sha256);
      if (known !== undefined) return { driver: known, isNew: false };
      const now = this.#clock();
      const { sha256, file_name, size } = driver;
      const file = { sha256, file_name, size, uploaded_at: now };
      const settings = { ...driver, name: this.#otherNames(0).take(proposedNames(driver)) };
      const values = { ...file, ...valuesOf(settings, driver.report, []), updated_at: now };
      const names = Object.keys(values);
      const row = this.#db.first(
        `INSERT INTO drivers (id, ${names.join()}) VALUES
          ((SELECT seq + 1 FROM sqlite_sequence WHERE name = 'drivers'), ${names.map(() => "?").join()}) RETURNING id`,
        Object.values(values),
      );
      const id = Number(row?.id);
      const report = packText(JSON.stringify(driver.report));
      this.#db.all("INSERT INTO reports (driver_id, report) VALUES (?, ?)", [id, report]);
      checkRoom(this.#db);
      return { driver: this.get(id), isNew: true };
    });
  }

  /**
   * Call it within a write. An empty name becomes the one that the driver proposes.
   * @throws UserError "not-found", or "conflict" for a driver that comes with Windows, or if another driver has the name
   */
  set(id: number, settings: DriverSettings): KeptChange {
    const { report, ...driver } = this.get(id);
    checkUploaded(driver);
    this.#checkName(settings.name, id);
    const name =
      settings.name || this.#otherNames(id).take(proposedNames({ ...driver, ...settings, report }));
    const former_title = name === driver.name ? driver.former_title : "";
    const chosen = valuesOf({ ...settings, name }, report, this.chosenModels(id));
    const values = { ...chosen, former_title, updated_at: this.#clock() };
    const set = Object.keys(values).map((name) => `${name} = ?`);
    const record = { kind: "changed-driver", recordId: id, name: driverTitle(driver), ids: [id] } as const;
    return keepEarlier(this.#db, this.#clock(), { ...record, table: "drivers" }, () => {
      this.#db.all(`UPDATE drivers SET ${set.join()} WHERE id = ?`, [...Object.values(values), id]);
    });
  }

  /** Within a write: gives a restored driver another name if its own is taken or empty. @returns the new name */
  giveFreeName(id: number): string | undefined {
    const driver = this.get(id);
    const wanted = driver.name === "" ? proposedNames(driver) : ([driver.name] as const);
    const name = this.#otherNames(id).take(wanted);
    if (name === driver.name) return undefined;
    this.#db.all("UPDATE drivers SET name = ? WHERE id = ?", [name, id]);
    return name;
  }

  #otherNames(except: number): DriverNames {
    const rows = this.#db.all("SELECT name FROM drivers WHERE id <> ?", [except]);
    return new DriverNames(rows.map(({ name }) => String(name)));
  }

  #checkName(name: string, except: number): void {
    const others = this.#db.all("SELECT name, file_name FROM drivers WHERE id <> ?", [except]);
    const taken = others.find((other) => nameKey(String(other.name)) === nameKey(name));
    if (taken === undefined) return;
    const whose =
      taken.file_name === "" ? "a driver that comes with Windows" : `another driver (${taken.file_name})`;
    const message = `“${taken.name}” is already the name of ${whose}. Choose another name.`;
    throw new UserError("conflict", message, { name: message });
  }

  /** The models of a driver that printers use. An empty text means the driver's own model. */
  chosenModels(id: number): string[] {
    const printers = this.#db.all(
      `SELECT driver_id, arm64_driver_id, settings FROM printers WHERE ${usesDriver}`,
      [id],
    );
    return printers.flatMap(({ settings, ...row }) => {
      const ids = { driver_id: idOrNull(row.driver_id), arm64_driver_id: idOrNull(row.arm64_driver_id) };
      return modelsOf(id, { ...ids, ...listedSettingsFrom(String(settings)) });
    });
  }

  /**
   * @throws UserError "not-found", or "conflict" for a driver that comes with Windows and for one with printers, which the
   *   message names
   */
  remove(id: number, isFinal = false): Promise<Removal> {
    return this.#db.freeingWrite((hasNoRoom) => {
      const driver = this.findSummary(id);
      if (driver === undefined) throw missingRecord("Driver", id);
      checkUploaded(driver);
      const users = this.#db.all(`SELECT id, name FROM printers WHERE ${usesDriver} ORDER BY id`, [id]);
      if (users.length > 0) throw inUseError("This driver", users, { kind: "move", driver: id });
      const rows = [["drivers", "id", [id]] as const, ["reports", "driver_id", [id]] as const];
      const files = [{ kind: "drivers", sha256: driver.sha256 } as const];
      const deleted = { kind: "driver", recordId: id, name: driverTitle(driver) } as const;
      const removal = keepDeleted(this.#db, this.#clock(), { ...deleted, rows, files }, isFinal || hasNoRoom);
      this.#db.all("DELETE FROM drivers WHERE id = ?", [id]);
      return removal;
    });
  }

  /** What a deletion keeps of the drivers that its printers refer to. */
  references(ids: readonly number[]): References["drivers"] {
    const where = "WHERE id IN (SELECT value FROM json_each(?))";
    const rows = this.#db.all(`SELECT * FROM drivers ${where}`, [JSON.stringify(ids)]);
    return rows.map((row) => {
      const { id, sha256, inf_path } = summaryOf(row);
      return { id, name: driverTitle(summaryOf(row)), sha256, models: `${inf_path}\n${row.listed}` };
    });
  }

  /** Within a write: updates what lists show of a driver, after printers that use it were restored. */
  updateListed(id: number): void {
    const driver = this.get(id);
    const listed = listedText(driver, this.chosenModels(id));
    this.#db.all("UPDATE drivers SET listed = ? WHERE id = ?", [listed, id]);
  }
}

/** @throws UserError "conflict" */
function checkUploaded(driver: DriverSummary): void {
  if (!isWindowsDriver(driver)) return;
  const message = `“${driverTitle(driver)}” comes with Windows. You cannot change or delete it.`;
  throw new UserError("conflict", message);
}

/** A driver's settings by column. @param used the models that printers choose */
function valuesOf(settings: DriverSettings, report: Driver["report"], used: readonly string[]) {
  const { name, comment, inf_path, driver_desc } = settings;
  return {
    ...{ name, comment, inf_path, driver_desc },
    trust_publisher: Number(settings.trust_publisher),
    model_chosen: Number(settings.model_chosen),
    drop_unused: Number(settings.drop_unused),
    exact_version: Number(settings.exact_version),
    listed: listedText({ inf_path, driver_desc, report }, used),
  };
}

function listedText(
  driver: Pick<Driver, "inf_path" | "driver_desc" | "report">,
  used: readonly string[],
): string {
  return JSON.stringify(listedInf(driver, used) ?? null);
}

function driverOf(row: Row): Driver {
  return { ...summaryOf(row), report: reportFrom(unpackText(String(row.report))) };
}

function originIn({ origin }: Row): DriverOrigin {
  return driverOrigins.find((known) => known === origin) ?? "upload";
}

function summaryOf(row: Row): DriverSummary {
  return {
    id: Number(row.id),
    origin: originIn(row),
    name: String(row.name),
    driver_desc: String(row.driver_desc),
    file_name: String(row.file_name),
    inf_path: String(row.inf_path),
    sha256: digestIn(row),
    size: Number(row.size),
    uploaded_at: Number(row.uploaded_at),
    updated_at: Number(row.updated_at),
    comment: String(row.comment),
    former_title: String(row.former_title),
    trust_publisher: row.trust_publisher === 1,
    model_chosen: row.model_chosen === 1,
    drop_unused: row.drop_unused === 1,
    exact_version: row.exact_version === 1,
    listed: listedInfFrom(String(row.listed)),
  };
}
