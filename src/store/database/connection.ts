import type { Database as SqlJsDatabase, SqlJsStatic, SqlValue } from "sql.js";
import type { Queries, Row } from "./rows.ts";
import { pagesOf, sealed } from "./seal.ts";

/** So many empty pages may stay: a database of a few records is not made anew for each of them. */
const freePages = 64;

/** One SQLite database in memory. Whoever opened it closes it, which gives its memory back. */
export class Connection implements Queries {
  readonly #db: SqlJsDatabase;
  /** Names what its rows are: no other content ever has the same number. */
  version: number;
  #readers = 0;
  #isOver = false;

  constructor(db: SqlJsDatabase, version: number) {
    this.#db = db;
    this.version = version;
    this.#configure();
  }

  /** A copy of what a save wrote. */
  static copyOf(sql: SqlJsStatic, saved: Uint8Array, version: number): Connection {
    return new Connection(new sql.Database(pagesOf(saved)), version);
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

  /** Takes back a transaction that failed; SQLite may have done so itself. */
  rollBack(): void {
    try {
      this.run("ROLLBACK");
    } catch {}
  }

  /** Lets nothing be changed any more. */
  freeze(): void {
    this.run("PRAGMA query_only = ON");
  }

  /** The bytes of the file that it would be, without what is temporary. Not within a transaction. */
  export(): Uint8Array {
    this.#giveBack();
    return sealed(this.#db.export());
  }

  /** Stays open until `work` is done. */
  async reading<T>(work: () => Promise<T>): Promise<T> {
    this.#readers++;
    try {
      return await work();
    } finally {
      this.#readers--;
      if (this.#isOver && this.#readers === 0) this.#db.close();
    }
  }

  /** At once, or as soon as nobody reads it. */
  close(): void {
    this.#isOver = true;
    if (this.#readers === 0) this.#db.close();
  }

  /** What belongs to every opened connection and is never saved: pragmas, temporary tables and triggers. */
  #configure(): void {
    this.run("PRAGMA foreign_keys = ON");
  }

  /** Pages that deleting left empty would be written with each save: many of them are given back. */
  #giveBack(): void {
    const free = Number(this.first("PRAGMA freelist_count")?.freelist_count);
    if (free > freePages && 4 * free > Number(this.first("PRAGMA page_count")?.page_count))
      this.run("VACUUM");
  }
}
