import initSqlJs, { type Database as SqlJsDatabase, type SqlJsStatic, type SqlValue } from "sql.js";
import wasm from "sql.js/dist/sql-wasm.wasm";
import { openChecked, readIfThere, unreadable } from "./database-file.ts";
import { writeDurably } from "./files.ts";
import { migrations } from "./migrations.ts";
import { isDiskFull, noRoom, Reserve } from "./reserve.ts";
import type { Row } from "./rows.ts";

interface DatabaseOptions {
  /** UTC, milliseconds since 1970. */
  readonly clock?: () => number;
  /** Reads every row; the file is refused, and not touched, when it throws. */
  readonly check?: (db: Database) => void;
  /** Asked before each save; what it throws refuses the save. */
  readonly confirm?: () => Promise<void>;
}

/** So many empty pages may stay: a database of a few records is not made anew for each of them. */
const freePages = 64;

/** How a batch is saved: as ever; on a full disk, where the file may not grow; or there, with nothing kept of what goes. */
type SaveMode = "ordinary" | "reserve" | "final";

interface PendingWrite {
  readonly work: (isFinal: boolean) => unknown;
  /** Whether it frees space, and may use the reserve where there is none. */
  readonly frees: boolean;
  readonly done: (result: unknown) => void;
  readonly failed: (error: unknown) => void;
}

interface AppliedWrite {
  readonly pending: PendingWrite;
  readonly result: unknown;
}

/**
 * SQLite in memory, saved whole. A write is acknowledged only when the file that holds it is synced and
 * in its place; writes that arrive while one is being saved share the next save.
 */
export class Database {
  readonly #sql: SqlJsStatic;
  readonly #path: string;
  readonly #reserve: Reserve;
  readonly #clock: () => number;
  readonly #confirm: () => Promise<void>;
  readonly #queue: PendingWrite[] = [];
  #db: SqlJsDatabase;
  /** What is on disk: where a failed save goes back to. */
  #saved: Uint8Array;
  #saving: Promise<void> | undefined;
  #version = 0;

  private constructor(
    sql: SqlJsStatic,
    path: string,
    saved: Uint8Array | undefined,
    options: DatabaseOptions,
  ) {
    this.#sql = sql;
    this.#path = path;
    this.#reserve = new Reserve(`${path}.reserve`);
    this.#clock = options.clock ?? Date.now;
    this.#confirm = options.confirm ?? (async () => {});
    this.#db = saved === undefined ? new sql.Database() : openChecked(sql, saved);
    this.#saved = saved ?? new Uint8Array();
    this.#configure();
  }

  /** @throws Error that says what to do, when the file cannot be read or is newer than this program. */
  static async open(path: string, options: DatabaseOptions = {}): Promise<Database> {
    const sql = await initSqlJs({ wasmBinary: wasm.buffer as ArrayBuffer });
    const bytes = await readIfThere(path);
    let database: Database;
    let version: number;
    try {
      database = new Database(sql, path, bytes, options);
      version = Number(database.first("PRAGMA user_version")?.user_version);
      if (version <= migrations.length) database.#migrate(version, bytes !== undefined);
      if (version <= migrations.length) options.check?.(database);
    } catch (error) {
      throw unreadable(path, error);
    }
    if (version > migrations.length) {
      throw new Error(
        `${path} was written by a newer Platen (schema ${version}, this one knows ${migrations.length}). Start that version again; nothing was changed.`,
      );
    }
    if (version < migrations.length) await database.#save("ordinary");
    else await database.#reserve.ensure(database.#saved.length).catch(() => {});
    return database;
  }

  /** Another number whenever a row may have changed: who remembers what was read asks again then. */
  get version(): number {
    return this.#version;
  }

  /** When the last write was, by the clock of that time; 0 for a database that holds none yet. */
  lastWrite(): number {
    return Number(this.first("SELECT saved_at FROM saves")?.saved_at ?? 0);
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
   * Runs `work` as one transaction and saves. `work` is synchronous, and may run twice.
   * @throws what `work` throws (nothing is changed then), or an error of the disk (likewise).
   */
  write<T>(work: () => T): Promise<T> {
    return this.#ask(work, false);
  }

  /**
   * The same for work that takes records away: it is saved on a full disk too, since the reserve is given up for what
   * frees space and for nothing else. Where the reserve is not enough it runs again and is told to keep nothing.
   */
  freeingWrite<T>(work: (isFinal: boolean) => T): Promise<T> {
    return this.#ask(work, true);
  }

  /** Waits until every write that was asked for is on disk or refused. */
  async settle(): Promise<void> {
    while (this.#saving !== undefined) await this.#saving;
  }

  close(): void {
    this.#db.close();
  }

  #ask<T>(work: (isFinal: boolean) => T, frees: boolean): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ work, frees, done: (result) => resolve(result as T), failed: reject });
      this.#saving ??= Promise.resolve().then(() => this.#drain());
    });
  }

  async #drain(): Promise<void> {
    try {
      while (this.#queue.length > 0) await this.#saveBatch(this.#queue.splice(0));
    } finally {
      this.#saving = undefined;
    }
  }

  async #saveBatch(batch: readonly PendingWrite[], mode: SaveMode = "ordinary"): Promise<void> {
    const applied = this.#apply(batch, mode === "final");
    if (applied.length === 0) return;
    try {
      this.#transact(() => this.all("UPDATE saves SET saved_at = ?", [this.#clock()]));
      await this.#save(mode);
    } catch (error) {
      this.#goBack();
      // What frees space is tried again by itself: only it may use the reserve.
      const isRoomMissing = isDiskFull(error) && mode !== "final";
      const isTriedAgain = ({ pending }: AppliedWrite) => isRoomMissing && pending.frees;
      for (const write of applied) if (!isTriedAgain(write)) write.pending.failed(error);
      const again = applied.filter(isTriedAgain).map(({ pending }) => pending);
      return this.#saveBatch(again, mode === "ordinary" ? "reserve" : "final");
    }
    for (const { pending, result } of applied) pending.done(result);
  }

  /** What of a batch could be written, not yet saved; the rest has failed. */
  #apply(batch: readonly PendingWrite[], isFinal: boolean): AppliedWrite[] {
    const applied: AppliedWrite[] = [];
    for (const pending of batch) {
      try {
        applied.push({ pending, result: this.#transact(() => pending.work(isFinal)) });
      } catch (error) {
        pending.failed(error);
      }
    }
    return applied;
  }

  /** Acknowledged only with a reserve for the next deletion, save for what frees space on a full disk. */
  async #save(mode: SaveMode): Promise<void> {
    this.#giveBack();
    const bytes = this.#db.export();
    this.#configure();
    // A file that does not grow leaves room for a reserve of the same size when the old one is gone.
    if (mode === "reserve" && bytes.length > this.#saved.length) throw noRoom();
    await this.#confirm();
    if (mode === "ordinary") {
      await this.#reserve.ensure(bytes.length);
      await writeDurably(this.#path, bytes);
    } else await this.#reserve.spend(this.#path, bytes);
    this.#saved = bytes;
  }

  /** Pages that deleting left empty would be written with each save: many of them are given back. */
  #giveBack(): void {
    const free = Number(this.first("PRAGMA freelist_count")?.freelist_count);
    if (free > freePages && 4 * free > Number(this.first("PRAGMA page_count")?.page_count))
      this.#db.run("VACUUM");
  }

  #transact(work: () => unknown): unknown {
    this.#version++;
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

  /** In memory alone: the file stays as it is until its rows have been read. */
  #migrate(from: number, isFile: boolean): void {
    const tables = Number(this.first("SELECT count(*) AS n FROM sqlite_schema")?.n);
    if (isFile && (from <= 0 || tables === 0)) throw new Error("it is no database of Platen’s");
    this.#transact(() => {
      for (const step of migrations.slice(from)) {
        if (typeof step === "string") this.#db.exec(step);
        else step(this);
      }
    });
    this.#db.run(`PRAGMA user_version = ${migrations.length}`);
  }

  /** `export` reopens the database, which forgets its pragmas. */
  #configure(): void {
    this.#db.run("PRAGMA foreign_keys = ON");
  }

  #goBack(): void {
    this.#version++;
    this.#db.close();
    this.#db = new this.#sql.Database(this.#saved);
    this.#configure();
  }
}
