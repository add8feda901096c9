import type { FileOwner, Icon } from "../../domain/printers/icon.ts";
import type { Preferences } from "../../domain/printers/preferences.ts";
import type { Database } from "../database/database.ts";
import { digestIn, type Row, readRow } from "../database/rows.ts";
import { keepDeleted, type Removal } from "../deletions.ts";
import type { Printers } from "./printers.ts";

const nothingRemoved: Removal = { deletionId: undefined, finalDeletions: [] };

/** A kind of files of which a printer has at most one. */
interface FileKind<T> {
  /** Its table, and its folder in the data folder. */
  readonly table: "icons" | "preferences";
  /** The kind of its deletions. */
  readonly kind: "icon" | "preferences";
  /** The beginning of the names of its deletions. */
  readonly label: string;
  /** The columns besides the printer's id and the time of the upload. */
  readonly columns: readonly (keyof T & string)[];
  readonly read: (row: Row) => T;
  /** Other records with files in the same folder, as columns like those of `#ownersSql`. */
  readonly otherOwners?: string;
}

const stored = (row: Row) => ({
  sha256: digestIn(row),
  size: Number(row.size),
  uploaded_at: Number(row.uploaded_at),
});

export const iconFiles: FileKind<Icon> = {
  table: "icons",
  kind: "icon",
  label: "Icon",
  columns: ["sha256", "size"],
  read: stored,
  otherOwners: "SELECT icon_sha256, 'client', id, name FROM clients WHERE icon_sha256 <> ''",
};

export const preferencesFiles: FileKind<Preferences> = {
  table: "preferences",
  kind: "preferences",
  label: "Vendor preferences",
  columns: ["sha256", "size", "crc32", "driver_sha256", "driver_desc"],
  read: (row) => ({
    ...stored(row),
    crc32: Number(row.crc32),
    driver_sha256: String(row.driver_sha256),
    driver_desc: String(row.driver_desc),
  }),
};

type StoredFile = Pick<Icon, "sha256" | "uploaded_at">;

/** All SQL about one kind of files of printers. */
export class PrinterFiles<T extends StoredFile> {
  readonly #db: Database;
  readonly #clock: () => number;
  readonly #printers: Printers;
  readonly #kind: FileKind<T>;

  constructor(db: Database, clock: () => number, printers: Printers, kind: FileKind<T>) {
    this.#db = db;
    this.#clock = clock;
    this.#printers = printers;
    this.#kind = kind;
  }

  find(printerId: number): T | undefined {
    const row = this.#db.first(`SELECT * FROM ${this.#kind.table} WHERE printer_id = ?`, [printerId]);
    return row && this.#kind.read(row);
  }

  digests(): Set<string> {
    return new Set(this.#db.all(this.#ownersSql()).map(digestIn));
  }

  hasDigest(sha256: string): boolean {
    return this.ownersOf(sha256).length > 0;
  }

  /** The records with this file. */
  ownersOf(sha256: string): (Pick<FileOwner, "kind" | "id"> & { readonly name: string })[] {
    const rows = this.#db.all(`SELECT * FROM (${this.#ownersSql()}) WHERE sha256 = ?`, [sha256]);
    return rows.map(({ kind, id, name }) => ({
      kind: kind === "client" ? "client" : "printer",
      id: Number(id),
      name: String(name),
    }));
  }

  #ownersSql(): string {
    const { table, otherOwners } = this.#kind;
    const own = `SELECT sha256, 'printer' AS kind, id, name FROM ${table} JOIN printers ON id = printer_id`;
    return otherOwners ? `${own} UNION ALL ${otherOwners}` : own;
  }

  /**
   * Replaces the printer's file. The old file is kept like a deleted one.
   * @throws UserError "not-found" where there is no such printer
   */
  put(printerId: number, file: Omit<T, "uploaded_at">): Promise<Removal> {
    return this.#db.write(() => {
      const { table, columns } = this.#kind;
      const isSame = this.find(printerId)?.sha256 === (file as Omit<T, "uploaded_at"> & StoredFile).sha256;
      const removal = isSame ? nothingRemoved : this.removeReplaced(printerId);
      const values = columns.map((name) => (file as Record<string, string | number>)[name] ?? "");
      const names = [...columns, "uploaded_at"];
      this.#db.all(
        `INSERT INTO ${table} (printer_id, ${names.join()}) VALUES (?, ${names.map(() => "?").join()})
          ON CONFLICT DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join()}`,
        [printerId, ...values, this.#clock()],
      );
      return removal;
    });
  }

  /** A printer without a file is no error. @throws UserError "not-found" where there is no such printer */
  remove(printerId: number): Promise<Removal> {
    return this.#db.freeingWrite((isFinal) => this.#remove(printerId, "", isFinal));
  }

  /** Within a write: removes a file that another one replaces. */
  removeReplaced(printerId: number): Removal {
    return this.#remove(printerId, " (replaced)");
  }

  /** Within a write. @param suffix is appended to the deletion's name */
  #remove(printerId: number, suffix: string, isFinal = false): Removal {
    const { table, kind, label } = this.#kind;
    const { name } = this.#printers.get(printerId).printer;
    const file = this.find(printerId);
    if (file === undefined) return nothingRemoved;
    const files = [{ kind: table, sha256: file.sha256 } as const];
    const deleted = { kind, recordId: printerId, name: `${label} of ${name}${suffix}` } as const;
    const rows = [[table, "printer_id", [printerId]] as const];
    const removal = keepDeleted(this.#db, this.#clock(), { ...deleted, rows, files }, isFinal);
    this.#db.all(`DELETE FROM ${table} WHERE printer_id = ?`, [printerId]);
    return removal;
  }

  /** Reads every row when the service starts. @throws Error with the first unreadable row */
  check(): void {
    const { table, label, read } = this.#kind;
    for (const row of this.#db.all(`SELECT * FROM ${table} ORDER BY printer_id`))
      readRow(`the ${label.toLowerCase()} of printer ${row.printer_id}`, () => read(row));
  }
}
