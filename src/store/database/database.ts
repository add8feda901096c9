import initSqlJs, { type SqlJsStatic, type SqlValue } from "sql.js";
import wasm from "sql.js/dist/sql-wasm.wasm";
import type { AuditedEvent, NotedEvent } from "../../domain/audit/audit.ts";
import { currentActor } from "../actor.ts";
import type { ChangeRecorder } from "../audit/change-recorder.ts";
import { Connection } from "./connection.ts";
import { NewerDatabase, openChecked, readIfThere, unreadable } from "./file.ts";
import { migrate, migrations } from "./migrations.ts";
import type { Queries, Row } from "./rows.ts";
import { modeAfter, SavedFile, type SavedState, type SaveMode } from "./saved-file.ts";

interface DatabaseOptions {
  /** UTC, milliseconds since 1970. */
  readonly clock?: () => number;
  /** Reads every row; the file is refused, and not touched, when it throws. */
  readonly check?: (db: Database) => void;
  /** Writes down what writes change. */
  readonly recorder?: ChangeRecorder;
}

/**
 * What a write does. It may run twice.
 * @param isFinal whether nothing may be kept of what it takes away: there is no room
 */
type Work<T> = (isFinal: boolean) => T;

/** A write that was done in memory, or refused there, and is not answered yet. */
interface PendingWrite {
  readonly run: (isFinal: boolean) => unknown;
  /** Whether it frees space, and may use the reserve where there is none. */
  readonly frees: boolean;
  readonly done: (result: unknown) => void;
  readonly failed: (error: unknown) => void;
  /** Its answer, for when everything that it saw is on disk. */
  outcome: { readonly result: unknown } | { readonly refusal: unknown };
}

/**
 * SQLite in memory, saved whole. A write changes the memory at once, and is acknowledged when the file that holds it is
 * synced and in its place. Writes that arrive while a save is under way share the next one. A save that fails takes back
 * everything that is not on disk.
 */
export class Database implements Queries {
  readonly #sql: SqlJsStatic;
  readonly #clock: () => number;
  readonly #file: SavedFile;
  readonly #recorder: ChangeRecorder | undefined;
  #connection: Connection;
  #version = 0;
  /** What the next save is of. */
  #pending: PendingWrite[] = [];
  #saving: Promise<void> | undefined;
  /** Whether the write under way says nothing of the records' age. */
  #isUpkeep = false;
  /** Told after each save. */
  #listener: (state: SavedState) => void = () => {};

  private constructor(
    sql: SqlJsStatic,
    path: string,
    saved: Uint8Array | undefined,
    options: DatabaseOptions,
  ) {
    this.#sql = sql;
    this.#clock = options.clock ?? Date.now;
    this.#recorder = options.recorder;
    this.#file = new SavedFile(path, saved ?? new Uint8Array(), () => this.write(() => {}));
    this.#connection = new Connection(saved === undefined ? new sql.Database() : openChecked(sql, saved));
  }

  /** @throws Error that says what to do, when the file cannot be read or is newer than this program. */
  static async open(path: string, options: DatabaseOptions = {}): Promise<Database> {
    const sql = await initSqlJs({ wasmBinary: wasm.buffer as ArrayBuffer });
    const bytes = await readIfThere(path);
    const { database, version } = Database.#openChecked(sql, path, bytes, options);
    if (version < migrations.length) await database.#file.save(database.#connection.export(), "ordinary");
    else await database.#file.prepare();
    database.#prepare();
    return database;
  }

  /**
   * A copy in memory of what a file holds, checked as `open` checks it. Nothing of it is ever saved.
   * @throws DamagedDatabase, NewerDatabase
   */
  static async openCopy(path: string, bytes: Uint8Array, options: DatabaseOptions = {}): Promise<Database> {
    const sql = await initSqlJs({ wasmBinary: wasm.buffer as ArrayBuffer });
    return Database.#openChecked(sql, path, bytes, options).database;
  }

  static #openChecked(
    sql: SqlJsStatic,
    path: string,
    bytes: Uint8Array | undefined,
    options: DatabaseOptions,
  ): { readonly database: Database; readonly version: number } {
    let database: Database | undefined;
    try {
      database = new Database(sql, path, bytes, options);
      const version = Number(database.first("PRAGMA user_version")?.user_version);
      if (version > migrations.length) throw new NewerDatabase(path, version, migrations.length);
      migrate(database.#connection, version, bytes !== undefined);
      options.check?.(database);
      return { database, version };
    } catch (error) {
      if (database !== undefined) database.#connection.close();
      throw error instanceof NewerDatabase ? error : unreadable(path, error);
    }
  }

  /** Another number whenever what is read is another. Within a write it is that of before the write. */
  get version(): number {
    return this.#version;
  }

  /** When the last write was, by the clock of that time; 0 for a database that holds none yet. */
  lastWrite(): number {
    return Number(this.first("SELECT saved_at FROM saves")?.saved_at ?? 0);
  }

  /** What is on disk; to be asked where no write is under way. */
  current(): SavedState {
    return { bytes: this.#file.bytes, savedAt: this.lastWrite() };
  }

  /** @param listener is told of each state as soon as it is on disk, and must not throw */
  onSaved(listener: (state: SavedState) => void): void {
    this.#listener = listener;
  }

  /** Runs one statement; its rows as objects by column name. Only within a write may it change anything. */
  all(statement: string, parameters: readonly SqlValue[] = []): Row[] {
    return this.#connection.all(statement, parameters);
  }

  /** The first row; undefined when there is none. */
  first(statement: string, parameters: readonly SqlValue[] = []): Row | undefined {
    return this.#connection.first(statement, parameters);
  }

  /**
   * Runs `work` at once as one transaction, in the name of who asks for it, and saves.
   * @throws what `work` throws (nothing is changed then), or an error of the disk (likewise).
   */
  write<T>(work: Work<T>): Promise<T> {
    return this.#write(work, false);
  }

  /**
   * The same for work that takes records away: it is saved on a full disk too, since the reserve is given up for what
   * frees space and for nothing else. Where the reserve is not enough it runs again and is told to keep nothing.
   */
  freeingWrite<T>(work: Work<T>): Promise<T> {
    return this.#write(work, true);
  }

  /** Within a write: has the audit log say so as surely as it is saved. */
  note(event: NotedEvent, of: Pick<AuditedEvent, "record" | "what">): void {
    this.#recorder?.note(event, of);
  }

  /** Within a write: what it changes says nothing of how old the records are. */
  upkeep(run: () => void): void {
    this.#isUpkeep = true;
    run();
  }

  /** Waits until every write that was asked for is on disk or refused. */
  async settle(): Promise<void> {
    while (this.#saving !== undefined) await this.#saving;
  }

  close(): void {
    this.#file.close();
    this.#connection.close();
  }

  #write<T>(work: Work<T>, frees: boolean): Promise<T> {
    const actor = currentActor();
    const run = (isFinal: boolean) =>
      this.#transact(() => {
        this.#recorder?.beginWrite();
        const result = work(isFinal);
        this.#recorder?.record(this, actor);
        return result;
      });
    const outcome = outcomeOf(() => run(false));
    return new Promise<T>((resolve, reject) => {
      this.#pending.push({ run, frees, outcome, done: (result) => resolve(result as T), failed: reject });
      this.#saving ??= this.#saveAll();
    });
  }

  #transact<T>(work: () => T): T {
    const connection = this.#connection;
    return connection.transact(() => {
      connection.run("PRAGMA query_only = OFF");
      try {
        const before = changesIn(connection);
        this.#isUpkeep = false;
        const result = work();
        const isChanged = changesIn(connection) !== before;
        if (isChanged && !this.#isUpkeep) connection.all("UPDATE saves SET saved_at = ?", [this.#clock()]);
        this.#version++;
        return result;
      } finally {
        connection.run("PRAGMA query_only = ON");
      }
    });
  }

  async #saveAll(): Promise<void> {
    try {
      while (this.#pending.length > 0) {
        // Whoever asks may have held others up until now.
        await new Promise(setImmediate);
        await this.#save(this.#pending.splice(0), "ordinary");
      }
    } finally {
      this.#saving = undefined;
    }
  }

  /** Saves what is in memory, and answers these writes. */
  async #save(writes: readonly PendingWrite[], mode: SaveMode): Promise<void> {
    try {
      if (writes.some(({ outcome }) => "result" in outcome)) await this.#saveFile(mode);
      for (const write of writes) answer(write);
    } catch (error) {
      await this.#takeBack([...writes, ...this.#pending.splice(0)], mode, error);
    }
  }

  async #saveFile(mode: SaveMode): Promise<void> {
    this.#connection.run("PRAGMA query_only = OFF");
    this.#recorder?.settle(this.#connection);
    const bytes = this.#connection.export();
    this.#connection.run("PRAGMA query_only = ON");
    const state = { bytes, savedAt: this.lastWrite() };
    await this.#file.save(bytes, mode);
    this.#listener(state);
    this.#recorder?.saved();
  }

  /** Goes back to what is on disk. On a full disk, writes that free space are tried again: only they may use the reserve. */
  async #takeBack(writes: readonly PendingWrite[], mode: SaveMode, error: unknown): Promise<void> {
    const lost = this.#connection;
    this.#connection = Connection.copyOf(this.#sql, this.#file.bytes);
    lost.close();
    this.#version++;
    this.#prepare();
    const next = modeAfter(mode, error);
    const again = writes.filter(({ frees }) => frees && next !== undefined);
    for (const write of writes) if (!again.includes(write)) answer(write, error);
    for (const write of again) write.outcome = outcomeOf(() => write.run(next === "final"));
    if (next !== undefined && again.length > 0) await this.#save(again, next);
  }

  /** What belongs to an open connection and is never saved. */
  #prepare(): void {
    this.#recorder?.watch(this.#connection);
    this.#connection.run("PRAGMA query_only = ON");
  }
}

function outcomeOf(run: () => unknown): PendingWrite["outcome"] {
  try {
    return { result: run() };
  } catch (refusal) {
    return { refusal };
  }
}

/** @param error why the write is not saved */
function answer({ outcome, done, failed }: PendingWrite, error?: unknown): void {
  if ("refusal" in outcome) failed(outcome.refusal);
  else if (error !== undefined) failed(error);
  else done(outcome.result);
}

/** How many rows a connection changed since it was opened, also those that were rolled back. */
function changesIn(db: Queries): number {
  return Number(db.first("SELECT total_changes() AS n")?.n);
}
