import type { Icon } from "../domain/icon.ts";
import type { Database, Row } from "./database.ts";
import type { Printers } from "./printers.ts";

/** The icons' only SQL. */
export class Icons {
  readonly #db: Database;
  readonly #clock: () => number;
  readonly #printers: Printers;

  constructor(db: Database, clock: () => number, printers: Printers) {
    this.#db = db;
    this.#clock = clock;
    this.#printers = printers;
  }

  find(printerId: number): Icon | undefined {
    const row = this.#db.first("SELECT * FROM icons WHERE printer_id = ?", [printerId]);
    return row && iconOf(row);
  }

  digests(): Set<string> {
    return new Set(this.#db.all("SELECT DISTINCT sha256 FROM icons").map((row) => String(row.sha256)));
  }

  /**
   * Gives the printer this icon in place of the one it had.
   * @throws UserError "not-found" when there is no such printer
   */
  put(printerId: number, icon: Pick<Icon, "sha256" | "size">): Promise<void> {
    return this.#db.write(() => {
      this.#printers.get(printerId);
      this.#db.all(
        "INSERT OR REPLACE INTO icons (printer_id, sha256, size, uploaded_at) VALUES (?, ?, ?, ?)",
        [printerId, icon.sha256, icon.size, this.#clock()],
      );
    });
  }

  remove(printerId: number): Promise<void> {
    return this.#db.write(() => {
      this.#db.all("DELETE FROM icons WHERE printer_id = ?", [printerId]);
    });
  }
}

function iconOf(row: Row): Icon {
  const { printer_id, sha256, size, uploaded_at } = row;
  return {
    printer_id: Number(printer_id),
    sha256: String(sha256),
    size: Number(size),
    uploaded_at: Number(uploaded_at),
  };
}
