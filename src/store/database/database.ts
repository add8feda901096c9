import type { SqlJsStatic, SqlValue } from "sql.js";
import type { AuditedEvent, OtherEvent } from "../../domain/audit/audit.ts";
import { errorMessage } from "../../domain/errors.ts";
import { currentActor } from "../actor.ts";
import type { ChangeRecorder } from "../audit/change-recorder.ts";
import { writeDurably } from "../durable-files.ts";
import { Connection, loadSqlite } from "./connection.ts";
import { DamagedDatabase, NewerDatabase, openChecked, pathOfSchema, readIfPresent } from "./file.ts";
import { migrate, schemaVersion } from "./migrations.ts";
import type { Queries, Row } from "./rows.ts";
import { retryMode, SavedFile, type SavedState, type SaveMode } from "./saved-file.ts";

interface DatabaseOptions {
  /** UTC, milliseconds since 1970. */
  readonly clock?: () => number;
  /** Reads every row. When it throws, the file is refused and not changed. */
  readonly check?: (db: Database) => void;
  /** Records for the audit log what writes change. */
  readonly recorder?: ChangeRecorder;
}

/**
 * The work of a write. That of a `freeingWrite` may run several times.
 * @param isFinal whether deleted records must not be kept, because the disk is full
 */
type Work<T> = (isFinal: boolean) => T;

/** A write that was done or refused in memory, and whose promise is not settled yet. */
interface PendingWrite {
  readonly run: (isFinal: boolean) => unknown;
  /** Whether it frees space. Such a write may use the reserve on a full disk. */
  readonly freesSpace: boolean;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Reported when everything that the write saw is on disk. */
  outcome: { readonly result: unknown } | { readonly refusal: unknown };
}

/**
 * SQLite in memory, saved as a whole. A write changes the memory at once, and is acknowledged when the file that contains it
 * is synced and in place. Writes that arrive during a save share the next one. A failed save reverts everything that is not
 * on disk.
 */
export class Database implements Queries {
  readonly #sql: SqlJsStatic;
  readonly #clock: () => number;
  readonly #file: SavedFile;
  readonly #recorder: ChangeRecorder | undefined;
  #connection: Connection;
  #version = 0;
  /** The writes of the next save. */
  #pending: PendingWrite[] = [];
  #saving: Promise<void> | undefined;
  /** Whether the write under way leaves `lastWrite` as it is. */
  #isMaintenance = false;
  /** Called after each save. */
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

  /** @throws Error that says what to do when the file cannot be read or is newer than this program */
  static async open(path: string, options: DatabaseOptions = {}): Promise<Database> {
    const sql = await loadSqlite();
    const bytes = await readIfPresent(path);
    const { database, version } = Database.#openChecked(sql, path, bytes, options);
    if (version < schemaVersion) {
      // The way back for the version that wrote it.
      if (bytes !== undefined) await writeDurably(pathOfSchema(path, version), bytes);
      await database.#file.save(database.#connection.export(), "ordinary");
    } else await database.#file.prepare();
    database.#prepare();
    return database;
  }

  /**
   * A copy in memory of a file's content, checked as `open` checks it. It is never saved.
   * @throws DamagedDatabase, NewerDatabase
   */
  static async openCopy(path: string, bytes: Uint8Array, options: DatabaseOptions = {}): Promise<Database> {
    return Database.#openChecked(await loadSqlite(), path, bytes, options).database;
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
      if (version > schemaVersion) throw new NewerDatabase(path, version, schemaVersion);
      migrate(database.#connection, version, bytes !== undefined);
      options.check?.(database);
      return { database, version };
    } catch (error) {
      if (database !== undefined) database.#connection.close();
      throw error instanceof NewerDatabase ? error : new DamagedDatabase(path, errorMessage(error));
    }
  }

  /** Changes with every change of the content. Within a write it is the number from before the write. */
  get version(): number {
    return this.#version;
  }

  /** When data was last changed, except by `maintenance`: UTC, milliseconds since 1970; 0 before the first write. */
  lastWrite(): number {
    return Number(this.first("SELECT saved_at FROM saves")?.saved_at ?? 0);
  }

  /** The state on disk. Call this only when no write is under way. */
  current(): SavedState {
    return { bytes: this.#file.bytes, savedAt: this.lastWrite() };
  }

  /** @param listener is called with each state as soon as it is on disk; it must not throw */
  onSaved(listener: (state: SavedState) => void): void {
    this.#listener = listener;
  }

  /** Runs one statement and returns its rows. Outside a write it must not change anything. */
  all(statement: string, parameters: readonly SqlValue[] = []): Row[] {
    return this.#connection.all(statement, parameters);
  }

  first(statement: string, parameters: readonly SqlValue[] = []): Row | undefined {
    return this.#connection.first(statement, parameters);
  }

  /**
   * Runs `work` at once as one transaction in the name of the current actor, then saves.
   * @throws what `work` throws, or an error of the disk; nothing is changed in both cases
   */
  write<T>(work: Work<T>): Promise<T> {
    return this.#write(work, false);
  }

  /**
   * The same for work that must succeed on a full disk, such as deletions: only these writes may use the reserve. There, `work`
   * runs again, first as before and then, if the reserve is not enough, with `isFinal`.
   */
  freeingWrite<T>(work: Work<T>): Promise<T> {
    return this.#write(work, true);
  }

  /** Within a write: the event is saved with the write and reaches the audit log if the write does. */
  recordEvent(event: OtherEvent, details: Pick<AuditedEvent, "record" | "what">): void {
    this.#recorder?.recordEvent(event, details);
  }

  /** Within a write: runs changes that are not changes of records. The write then leaves `lastWrite` as it is. */
  maintenance(run: () => void): void {
    this.#isMaintenance = true;
    run();
  }

  /** Waits until every write so far is on disk or refused. */
  async waitForWrites(): Promise<void> {
    while (this.#saving !== undefined) await this.#saving;
  }

  close(): void {
    this.#file.close();
    this.#connection.close();
  }

  #write<T>(work: Work<T>, freesSpace: boolean): Promise<T> {
    const actor = currentActor();
    const run = (isFinal: boolean) =>
      this.#transact(() => {
        this.#recorder?.beginWrite();
        const result = work(isFinal);
        this.#recorder?.recordChanges(this, actor);
        return result;
      });
    const outcome = outcomeOf(() => run(false));
    return new Promise<T>((resolve, reject) => {
      this.#pending.push({ run, freesSpace, outcome, resolve: (result) => resolve(result as T), reject });
      this.#saving ??= this.#saveAll();
    });
  }

  #transact<T>(work: () => T): T {
    const connection = this.#connection;
    return connection.transact(() => {
      connection.run("PRAGMA query_only = OFF");
      try {
        const before = changesIn(connection);
        this.#isMaintenance = false;
        const result = work();
        const isChanged = changesIn(connection) !== before;
        if (isChanged && !this.#isMaintenance)
          connection.all("UPDATE saves SET saved_at = ?", [this.#clock()]);
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
        // Let other requests run first.
        await new Promise(setImmediate);
        await this.#save(this.#pending.splice(0), "ordinary");
      }
    } finally {
      this.#saving = undefined;
    }
  }

  /** Saves the database and settles the promises of these writes. */
  async #save(writes: readonly PendingWrite[], mode: SaveMode): Promise<void> {
    try {
      if (writes.some(({ outcome }) => "result" in outcome)) await this.#saveFile(mode);
      for (const write of writes) settle(write);
    } catch (error) {
      await this.#revert([...writes, ...this.#pending.splice(0)], mode, error);
    }
  }

  async #saveFile(mode: SaveMode): Promise<void> {
    this.#connection.run("PRAGMA query_only = OFF");
    this.#recorder?.prepareSave(this.#connection);
    const bytes = this.#connection.export();
    this.#connection.run("PRAGMA query_only = ON");
    const state = { bytes, savedAt: this.lastWrite() };
    await this.#file.save(bytes, mode);
    this.#listener(state);
    this.#recorder?.afterSave();
  }

  /** Reverts to the state on disk. On a full disk, writes that free space are retried, because they may use the reserve. */
  async #revert(writes: readonly PendingWrite[], mode: SaveMode, error: unknown): Promise<void> {
    const old = this.#connection;
    this.#connection = Connection.copyOf(this.#sql, this.#file.bytes);
    old.close();
    this.#version++;
    this.#prepare();
    const next = retryMode(mode, error);
    const retried = writes.filter(({ freesSpace }) => freesSpace && next !== undefined);
    for (const write of writes) if (!retried.includes(write)) settle(write, error);
    for (const write of retried) write.outcome = outcomeOf(() => write.run(next === "final"));
    if (next !== undefined && retried.length > 0) await this.#save(retried, next);
  }

  /** Sets up temporary tables and pragmas, which are never saved. */
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
function settle({ outcome, resolve, reject }: PendingWrite, error?: unknown): void {
  if ("refusal" in outcome) reject(outcome.refusal);
  else if (error !== undefined) reject(error);
  else resolve(outcome.result);
}

/** The number of rows that a connection changed since it was opened, including rolled-back changes. */
function changesIn(db: Queries): number {
  return Number(db.first("SELECT total_changes() AS n")?.n);
}
