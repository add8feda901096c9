import { access, constants, readFile } from "node:fs/promises";
import initSqlJs, { type Database as SqlJsDatabase, type SqlJsStatic, type SqlValue } from "sql.js";
import wasm from "sql.js/dist/sql-wasm.wasm";
import { writeDurably } from "./files.ts";
import { migrations } from "./migrations.ts";

export type Row = Record<string, SqlValue>;

interface PendingWrite {
  readonly work: () => unknown;
  readonly done: (result: unknown) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * SQLite in memory, saved whole. A write is acknowledged only when the file that holds it is synced and
 * in its place; writes that arrive while one is being saved share the next save.
 */
export class Database {
  readonly #sql: SqlJsStatic;
  readonly #path: string;
  readonly #queue: PendingWrite[] = [];
  #db: SqlJsDatabase;
  /** What is on disk: where a failed save goes back to. */
  #saved: Uint8Array;
  #saving: Promise<void> | undefined;

  private constructor(sql: SqlJsStatic, path: string, db: SqlJsDatabase, saved: Uint8Array) {
    this.#sql = sql;
    this.#path = path;
    this.#db = db;
    this.#saved = saved;
  }

  /** @throws Error that says what to do, when the file cannot be read or is newer than this program. */
  static async open(path: string): Promise<Database> {
    const sql = await initSqlJs({ wasmBinary: wasm.buffer as ArrayBuffer });
    const bytes = await readIfThere(path);
    const db = bytes === undefined ? new sql.Database() : openChecked(sql, path, bytes);
    const version = Number(db.exec("PRAGMA user_version")[0]?.values[0]?.[0] ?? 0);
    if (version > migrations.length) {
      throw new Error(
        `${path} was written by a newer Platen (schema ${version}, this one knows ${migrations.length}). Start that version again; nothing was changed.`,
      );
    }
    const database = new Database(sql, path, db, bytes ?? new Uint8Array());
    database.#configure();
    if (version < migrations.length) await database.write(() => migrate(db, version));
    return database;
  }

  /** Runs one statement; its rows as objects by column name. */
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

  /** The first row; undefined when there is none. */
  first(statement: string, parameters: readonly SqlValue[] = []): Row | undefined {
    return this.all(statement, parameters)[0];
  }

  /**
   * Runs `work` as one transaction and saves. `work` is synchronous.
   * @throws what `work` throws (nothing is changed then), or an error of the disk (likewise).
   */
  write<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ work, done: (result) => resolve(result as T), failed: reject });
      this.#saving ??= Promise.resolve().then(() => this.#drain());
    });
  }

  /** Waits until every write that was asked for is on disk or refused. */
  async settle(): Promise<void> {
    while (this.#saving !== undefined) await this.#saving;
  }

  close(): void {
    this.#db.close();
  }

  async #drain(): Promise<void> {
    try {
      while (this.#queue.length > 0) await this.#saveBatch(this.#queue.splice(0));
    } finally {
      this.#saving = undefined;
    }
  }

  async #saveBatch(batch: readonly PendingWrite[]): Promise<void> {
    const finished: (() => void)[] = [];
    for (const pending of batch) {
      try {
        const result = this.#transact(pending.work);
        finished.push(() => pending.done(result));
      } catch (error) {
        pending.failed(error);
      }
    }
    if (finished.length === 0) return;
    try {
      const bytes = this.#db.export();
      this.#configure();
      await writeDurably(this.#path, bytes);
      this.#saved = bytes;
    } catch (error) {
      this.#goBack();
      for (const pending of batch) pending.failed(error);
      return;
    }
    for (const finish of finished) finish();
  }

  #transact(work: () => unknown): unknown {
    this.#db.run("BEGIN");
    try {
      const result = work();
      this.#db.run("COMMIT");
      return result;
    } catch (error) {
      this.#db.run("ROLLBACK");
      throw error;
    }
  }

  /** `export` reopens the database, which forgets its pragmas. */
  #configure(): void {
    this.#db.run("PRAGMA foreign_keys = ON");
  }

  #goBack(): void {
    this.#db.close();
    this.#db = new this.#sql.Database(this.#saved);
    this.#configure();
  }
}

async function readIfThere(path: string): Promise<Uint8Array | undefined> {
  try {
    const bytes = await readFile(path);
    await access(path, constants.W_OK);
    return bytes;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function openChecked(sql: SqlJsStatic, path: string, bytes: Uint8Array): SqlJsDatabase {
  try {
    const db = new sql.Database(bytes);
    const result = String(db.exec("PRAGMA integrity_check(1)")[0]?.values[0]?.[0]);
    if (bytes.length > 0 && result === "ok") return db;
    throw new Error(bytes.length === 0 ? "it is empty" : result);
  } catch (error) {
    throw new Error(
      `${path} cannot be read as a database (${error instanceof Error ? error.message : error}). Put a backup in its place, or move it away to start afresh; nothing was changed.`,
    );
  }
}

function migrate(db: SqlJsDatabase, from: number): void {
  for (const step of migrations.slice(from)) db.exec(step);
  db.run(`PRAGMA user_version = ${migrations.length}`);
}
