import initSqlJs, { type Database as SqlJsDatabase, type SqlJsStatic, type SqlValue } from "sql.js";
import wasm from "sql.js/dist/sql-wasm.wasm";
import type { Queries, Row } from "./rows.ts";
import { pagesOf, sealed } from "./seal.ts";

/** So many empty pages may stay: a database of a few records is not made anew for each of them. */
const freePages = 64;

/** One SQLite database in memory. Whoever opened it closes it, which gives its memory back. */
export class Connection implements Queries {
  readonly #db: SqlJsDatabase;

  constructor(db: SqlJsDatabase) {
    this.#db = db;
    this.run("PRAGMA foreign_keys = ON");
  }

  /** A copy of what a save wrote. */
  static copyOf(sql: SqlJsStatic, saved: Uint8Array): Connection {
    return new Connection(new sql.Database(pagesOf(saved)));
  }

  all(statement: string, parameters: readonly SqlValue[] = []): Row[] {
    const prepared = this.#db.prepare(statement);
    try {
      prepared.bind([...parameters]);
      const names = prepared.getColumnNames();
      const rows: Row[] = [];
      while (prepared.step()) {
        const values = prepared.get();
        const row: Row = {};
        for (let i = 0; i < names.length; i++) row[names[i] ?? ""] = values[i] ?? null;
        rows.push(row);
      }
      return rows;
    } finally {
      prepared.free();
    }
  }

  first(statement: string, parameters: readonly SqlValue[] = []): Row | undefined {
    return this.all(statement, parameters)[0];
  }

  /** Runs several statements, which have no parameters. */
  run(statements: string): void {
    this.#db.exec(statements);
  }

  /** Does all of `work` as one transaction, or nothing of it. @throws what `work` throws */
  transact<T>(work: () => T): T {
    this.run("BEGIN");
    try {
      const result = work();
      this.run("COMMIT");
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  /** The bytes of the file that it would be, without what is temporary. Not within a transaction. */
  export(): Uint8Array {
    this.#dropFreePages();
    return sealed(this.#db.export());
  }

  close(): void {
    this.#db.close();
  }

  #rollBack(): void {
    try {
      this.run("ROLLBACK");
    } catch {
      // SQLite has done so itself.
    }
  }

  /** Pages that deleting left empty would be written with each save. */
  #dropFreePages(): void {
    const free = Number(this.first("PRAGMA freelist_count")?.freelist_count);
    if (free > freePages && 4 * free > Number(this.first("PRAGMA page_count")?.page_count))
      this.run("VACUUM");
  }
}

/** The bytes of a sound database after some statements, without its file being touched. Its version stays. */
export async function alteredBytes(bytes: Uint8Array, alter: (db: Queries) => void): Promise<Uint8Array> {
  const sql = await initSqlJs({ wasmBinary: wasm.buffer as ArrayBuffer });
  const copy = Connection.copyOf(sql, bytes);
  try {
    alter(copy);
    return copy.export();
  } finally {
    copy.close();
  }
}
