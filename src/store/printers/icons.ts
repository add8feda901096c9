import type { Icon } from "../../domain/printers/icon.ts";
import type { Database } from "../database/database.ts";
import { digestIn, type Row, readRow } from "../database/rows.ts";
import { keepDeleted, type Removal } from "../deletions.ts";
import type { Printers } from "./printers.ts";

const nothingRemoved: Removal = { deletionId: undefined, finalDeletions: [] };

/** All SQL about icons. */
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
    return new Set(this.#db.all("SELECT DISTINCT sha256 FROM icons").map(digestIn));
  }

  hasDigest(sha256: string): boolean {
    return this.#db.first("SELECT 1 FROM icons WHERE sha256 = ? LIMIT 1", [sha256]) !== undefined;
  }

  /**
   * Replaces the printer's icon. The old icon is kept like a deleted one.
   * @throws UserError "not-found" where there is no such printer
   */
  put(printerId: number, icon: Pick<Icon, "sha256" | "size">): Promise<Removal> {
    return this.#db.write(() => {
      const isSame = this.find(printerId)?.sha256 === icon.sha256;
      const removal = isSame ? nothingRemoved : this.removeReplaced(printerId);
      this.#db.all(
        `INSERT INTO icons (printer_id, sha256, size, uploaded_at) VALUES (?, ?, ?, ?)
          ON CONFLICT DO UPDATE SET uploaded_at = excluded.uploaded_at`,
        [printerId, icon.sha256, icon.size, this.#clock()],
      );
      return removal;
    });
  }

  /** A printer without an icon is no error. @throws UserError "not-found" where there is no such printer */
  remove(printerId: number): Promise<Removal> {
    return this.#db.freeingWrite((isFinal) => this.#remove(printerId, "", isFinal));
  }

  /** Within a write: removes an icon that another one replaces. */
  removeReplaced(printerId: number): Removal {
    return this.#remove(printerId, " (replaced)");
  }

  /** Within a write. @param suffix is appended to the deletion's name */
  #remove(printerId: number, suffix: string, isFinal = false): Removal {
    const { name } = this.#printers.get(printerId).printer;
    const icon = this.find(printerId);
    if (icon === undefined) return nothingRemoved;
    const files = [{ kind: "icons", sha256: icon.sha256 } as const];
    const deleted = { kind: "icon", recordId: printerId, name: `Icon of ${name}${suffix}` } as const;
    const rows = [["icons", "printer_id", [printerId]] as const];
    const removal = keepDeleted(this.#db, this.#clock(), { ...deleted, rows, files }, isFinal);
    this.#db.all("DELETE FROM icons WHERE printer_id = ?", [printerId]);
    return removal;
  }

  /** Reads every row when the service starts. @throws Error with the first unreadable row */
  check(): void {
    for (const row of this.#db.all("SELECT * FROM icons ORDER BY printer_id"))
      readRow(`the icon of printer ${row.printer_id}`, () => iconOf(row));
  }
}

function iconOf(row: Row): Icon {
  return { sha256: digestIn(row), size: Number(row.size), uploaded_at: Number(row.uploaded_at) };
}
