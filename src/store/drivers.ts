import type { ArchiveReport, Driver, DriverSettings } from "../domain/driver.ts";
import { UserError } from "../domain/errors.ts";
import { stillInUse } from "./clients.ts";
import type { Database, Row } from "./database.ts";

export interface DriverWithCount extends Driver {
  readonly printer_count: number;
}

export type NewDriver = Omit<Driver, "id" | "uploaded_at" | "updated_at">;

/** The drivers' only SQL. */
export class Drivers {
  readonly #db: Database;
  readonly #clock: () => number;

  constructor(db: Database, clock: () => number) {
    this.#db = db;
    this.#clock = clock;
  }

  /** The newest first. */
  list(): DriverWithCount[] {
    const rows = this.#db.all(`SELECT drivers.*, count(printers.id) AS printer_count FROM drivers
      LEFT JOIN printers ON printers.driver_id = drivers.id GROUP BY drivers.id ORDER BY drivers.id DESC`);
    return rows.map((row) => ({ ...driverOf(row), printer_count: Number(row.printer_count) }));
  }

  count(): number {
    return Number(this.#db.first("SELECT count(*) AS n FROM drivers")?.n);
  }

  /** The digests of all archives. */
  digests(): Set<string> {
    return new Set(this.#db.all("SELECT sha256 FROM drivers").map((row) => String(row.sha256)));
  }

  find(id: number): Driver | undefined {
    const row = this.#db.first("SELECT * FROM drivers WHERE id = ?", [id]);
    return row && driverOf(row);
  }

  findByDigest(sha256: string): Driver | undefined {
    const row = this.#db.first("SELECT * FROM drivers WHERE sha256 = ?", [sha256]);
    return row && driverOf(row);
  }

  /** @throws UserError "not-found" */
  get(id: number): Driver {
    const driver = this.find(id);
    if (driver === undefined) throw new UserError("not-found", `There is no driver ${id}.`);
    return driver;
  }

  /** Adds a driver, or answers the one of the same content. */
  add(driver: NewDriver): Promise<{ driver: Driver; isNew: boolean }> {
    return this.#db.write(() => {
      const known = this.findByDigest(driver.sha256);
      if (known !== undefined) return { driver: known, isNew: false };
      const now = this.#clock();
      const row = this.#db.first(
        `INSERT INTO drivers (sha256, file_name, size, uploaded_at, updated_at, name, comment, inf_path, driver_desc,
          trust_publisher, report) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
        [
          driver.sha256,
          driver.file_name,
          driver.size,
          now,
          now,
          driver.name,
          driver.comment,
          driver.inf_path,
          driver.driver_desc,
          Number(driver.trust_publisher),
          JSON.stringify(driver.report),
        ],
      );
      if (row === undefined) throw new Error("the database did not answer the new driver");
      return { driver: driverOf(row), isNew: true };
    });
  }

  /** @throws UserError "not-found" */
  update(id: number, settings: DriverSettings): Promise<void> {
    return this.#db.write(() => {
      this.get(id);
      this.#db.all(
        `UPDATE drivers SET name = ?, comment = ?, inf_path = ?, driver_desc = ?, trust_publisher = ?, updated_at = ?
          WHERE id = ?`,
        [
          settings.name,
          settings.comment,
          settings.inf_path,
          settings.driver_desc,
          Number(settings.trust_publisher),
          this.#clock(),
          id,
        ],
      );
    });
  }

  /** @throws UserError "not-found", or "conflict" naming the printers that use the driver. */
  remove(id: number): Promise<Driver> {
    return this.#db.write(() => {
      const driver = this.get(id);
      const users = this.#db.all("SELECT name FROM printers WHERE driver_id = ? ORDER BY id", [id]);
      if (users.length > 0) throw stillInUse("This driver", users);
      this.#db.all("DELETE FROM drivers WHERE id = ?", [id]);
      return driver;
    });
  }
}

function driverOf(row: Row): Driver {
  return {
    id: Number(row.id),
    sha256: String(row.sha256),
    file_name: String(row.file_name),
    size: Number(row.size),
    uploaded_at: Number(row.uploaded_at),
    updated_at: Number(row.updated_at),
    name: String(row.name),
    comment: String(row.comment),
    inf_path: String(row.inf_path),
    driver_desc: String(row.driver_desc),
    trust_publisher: row.trust_publisher === 1,
    report: JSON.parse(String(row.report)) as ArchiveReport,
  };
}
