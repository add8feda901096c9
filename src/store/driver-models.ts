import { printerSettingsFrom } from "../domain/printer-fields.ts";
import type { Database } from "./database.ts";

/** Which models of drivers printers deploy. */
export class DriverModels {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** What each printer deploys of a driver, on ordinary machines or on ARM64 ones; empty: the driver's own model. */
  chosenOf(driverId: number): string[] {
    const columns = "driver_id, arm64_driver_id, settings";
    const where = "WHERE driver_id = ?1 OR arm64_driver_id = ?1";
    return this.#db.all(`SELECT ${columns} FROM printers ${where}`, [driverId]).flatMap((row) => {
      const { driver_desc, arm64_driver_desc } = printerSettingsFrom(String(row.settings));
      return [
        ...(row.driver_id === driverId ? [driver_desc] : []),
        ...(row.arm64_driver_id === driverId ? [arm64_driver_desc] : []),
      ];
    });
  }
}
