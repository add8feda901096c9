import initSqlJs, { type Database as SqlJsDatabase, type SqlJsStatic, type SqlValue } from "sql.js";
import wasm from "sql.js/dist/sql-wasm.wasm";
import type { Queries, Row } from "./rows.ts";
import { pagesOf, sealed } from "./seal.ts";

/** A save rebuilds the database only if it has more empty pages than this: a small one is not rebuilt at every save. */
const maxFreePages = 64;

export function loadSqlite(): Promise<SqlJsStatic> {
  return initSqlJs({ wasmBinary: wasm.buffer as ArrayBuffer });
}

/** One SQLite database in memory. The caller closes it, which frees its memory. */
export class Connection implements Queries {
  readonly #db: SqlJsDatabase;

  constructor(db: SqlJsDatabase) {
    this.#db = db;
    this.run("PRAGMA foreign_keys = ON");
  }

  /** @param saved the bytes of a saved file */
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

  /** Runs several statements without parameters. */
  run(statements: string): void {
    this.#db.exec(statements);
  }

  /** Runs `work` as one transaction. @throws what `work` throws, after a rollback */
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

  /** The bytes of the database file, without temporary tables. Do not call this within a transaction. */
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
      // SQLite has already rolled back.
    }
  }

  /** Otherwise, pages that deletions left empty would be written with every save. */
  #dropFreePages(): void {
    const free = Number(this.first("PRAGMA freelist_count")?.freelist_count);
    if (free > maxFreePages && 4 * free > Number(this.first("PRAGMA page_count")?.page_count))
      this.run("VACUUM");
  }
}

/** Changes a copy of a sound database and returns its bytes. The file and the schema version stay as they are. */
export async function alteredBytes(bytes: Uint8Array, alter: (db: Queries) => void): Promise<Uint8Array> {
  const copy = Connection.copyOf(await loadSqlite(), bytes);
  try {
    alter(copy);
    return copy.export();
  } finally {
    copy.close();
  }
}
