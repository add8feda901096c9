import initSqlJs, { type SqlJsStatic, type SqlValue } from "sql.js";
import wasm from "sql.js/dist/sql-wasm.wasm";
import type { AuditedEvent, NotedEvent } from "../../domain/audit.ts";
import { currentActor } from "../audit/actor.ts";
import type { ChangeRecorder } from "../audit/change-recorder.ts";
import { Connection } from "./connection.ts";
import { NewerDatabase, openChecked, readIfThere, unreadable } from "./file.ts";
import { migrate, migrations } from "./migrations.ts";
import type { Moment, Queries, Row } from "./rows.ts";
import { SavedFile, type SavedState } from "./saved-file.ts";
import { isGenerator, Slices } from "./slices.ts";
import { type Draft, type Work, WriteQueue } from "./write-queue.ts";

interface DatabaseOptions {
  /** UTC, milliseconds since 1970. */
  readonly clock?: () => number;
  /** Reads every row; the file is refused, and not touched, when it throws. */
  readonly check?: (db: Database) => void;
  /** Asked before each save; what it throws refuses the save. */
  readonly confirm?: () => Promise<void>;
  /** Writes down what writes change. */
  readonly recorder?: ChangeRecorder;
}

/**
 * SQLite in memory, saved whole. A write is acknowledged only when the file that holds it is synced and in its place;
 * writes that arrive while one is being saved share the next save. They work on a copy of what is saved, which becomes
 * what is read when it is saved itself: nobody ever reads what a failed save takes back.
 */
export class Database implements Queries {
  readonly #sql: SqlJsStatic;
  readonly #clock: () => number;
  readonly #file: SavedFile;
  readonly #recorder: ChangeRecorder | undefined;
  readonly #writes = new WriteQueue(() => this.#draft());
  /** What is saved. */
  #shown: Connection;
  /** What is asked: `#shown`, and the copy while a write works on it. */
  #asked: Connection;
  #lastVersion = 0;
  /** How many rows the copy was changed in by what says nothing of their age. */
  #upkeep = 0;
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
    const again = () => this.write(() => {});
    this.#file = new SavedFile(path, saved ?? new Uint8Array(), options.confirm ?? (async () => {}), again);
    this.#shown = new Connection(saved === undefined ? new sql.Database() : openChecked(sql, saved), 0);
    this.#asked = this.#shown;
  }

  /** @throws Error that says what to do, when the file cannot be read or is newer than this program. */
  static async open(path: string, options: DatabaseOptions = {}): Promise<Database> {
    const sql = await initSqlJs({ wasmBinary: wasm.buffer as ArrayBuffer });
    const bytes = await readIfThere(path);
    const { database, version } = Database.#openChecked(sql, path, bytes, options);
    if (version < migrations.length) await database.#file.save(database.#shown.export(), "ordinary");
    else await database.#file.prepare();
    database.#shown.freeze();
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
    let database: Database;
    let version: number;
    try {
      database = new Database(sql, path, bytes, options);
      version = Number(database.first("PRAGMA user_version")?.user_version);
      if (version <= migrations.length) migrate(database.#shown, version, bytes !== undefined);
      if (version <= migrations.length) options.check?.(database);
    } catch (error) {
      throw unreadable(path, error);
    }
    if (version > migrations.length) throw new NewerDatabase(path, version, migrations.length);
    return { database, version };
  }

  /**
   * Another number whenever what is read is another: who remembers what was read asks again then. Within a write, that
   * of the copy, which is what was read before it until another write of the same batch changed it.
   */
  get version(): number {
    return this.#asked.version;
  }

  /** When the last write was, by the clock of that time; 0 for a database that holds none yet. */
  lastWrite(): number {
    return Number(this.first("SELECT saved_at FROM saves")?.saved_at ?? 0);
  }

  /** What is on disk; to be asked where no write is under way, or from `onSaved`. */
  current(): SavedState {
    return { bytes: this.#file.bytes, savedAt: this.lastWrite() };
  }

  /** @param listener is told of each state as soon as it is on disk, and must not throw */
  onSaved(listener: (state: SavedState) => void): void {
    this.#listener = listener;
  }

  /** Runs one statement; its rows as objects by column name. Only within a write may it change anything. */
  all(statement: string, parameters: readonly SqlValue[] = []): Row[] {
    return this.#asked.all(statement, parameters);
  }

  /** The first row; undefined when there is none. */
  first(statement: string, parameters: readonly SqlValue[] = []): Row | undefined {
    return this.#asked.first(statement, parameters);
  }

  /**
   * Runs `work` as one transaction and saves, in the name of who asks for it. `work` is synchronous, or a generator that
   * yields between its rows: then others are served meanwhile, and read what is saved. It may run twice.
   * @throws what `work` throws (nothing is changed then), or an error of the disk (likewise).
   */
  write<T>(work: Work<T>): Promise<T> {
    return this.#writes.ask(this.#recorded(work), false);
  }

  /**
   * The same for work that takes records away: it is saved on a full disk too, since the reserve is given up for what
   * frees space and for nothing else. Where the reserve is not enough it runs again and is told to keep nothing.
   */
  freeingWrite<T>(work: Work<T>): Promise<T> {
    return this.#writes.ask(this.#recorded(work), true);
  }

  /**
   * Reads what is saved now with a generator that yields where others may come in between: whatever they write, it sees
   * nothing of that.
   * @throws what `read` throws
   */
  async atOneMoment<T>(read: () => Generator<undefined, T>): Promise<Moment<T>> {
    const shown = this.#shown;
    const slices = new Slices((run) => this.#asking(shown, run));
    return { value: await shown.reading(() => slices.all(read)), version: shown.version };
  }

  /** Within a write: has the audit log say so as surely as it is saved. */
  note(event: NotedEvent, of: Pick<AuditedEvent, "record" | "what">): void {
    this.#recorder?.note(event, of);
  }

  /** Within a write: what `run` changes says nothing of how old the records are. */
  upkeep(run: () => void): void {
    const before = changesIn(this);
    run();
    this.#upkeep += changesIn(this) - before;
  }

  /** Waits until every write that was asked for is on disk or refused. */
  settle(): Promise<void> {
    return this.#writes.settle();
  }

  close(): void {
    this.#file.close();
    this.#shown.close();
  }

  #draft(): Draft {
    const copy = Connection.copyOf(this.#sql, this.#file.bytes, this.#shown.version);
    const slices = new Slices((run) => this.#asking(copy, run));
    this.#recorder?.watch(copy);
    this.#upkeep = 0;
    return {
      apply: (work) => this.#transact(copy, () => slices.all(work)),
      save: async (mode) => {
        // Nor does what only remembers where the audit log ends.
        if (changesIn(copy) !== this.#upkeep) copy.all("UPDATE saves SET saved_at = ?", [this.#clock()]);
        this.#recorder?.settle(copy);
        await slices.turn();
        await this.#file.save(copy.export(), mode);
        this.#show(copy);
        this.#recorder?.saved();
      },
      close: () => {
        if (this.#shown !== copy) copy.close();
      },
    };
  }

  /** The same work, and behind it what it changed. */
  #recorded<T>(work: Work<T>): Work<T> {
    const recorder = this.#recorder;
    if (recorder === undefined) return work;
    const [db, actor] = [this, currentActor()];
    return function* (isFinal) {
      recorder.beginWrite();
      const begun = work(isFinal);
      const result = isGenerator(begun) ? yield* begun : begun;
      recorder.record(db, actor);
      return result;
    };
  }

  /** Everybody who asks reads from this connection while `run` runs, which is synchronous. */
  #asking<T>(connection: Connection, run: () => T): T {
    this.#asked = connection;
    try {
      return run();
    } finally {
      this.#asked = this.#shown;
    }
  }

  async #transact<T>(copy: Connection, work: () => Promise<T>): Promise<T> {
    copy.run("BEGIN");
    try {
      const result = await work();
      copy.run("COMMIT");
      copy.version = ++this.#lastVersion;
      return result;
    } catch (error) {
      copy.rollBack();
      throw error;
    }
  }

  /** What was just saved is what is read from now on. */
  #show(saved: Connection): void {
    this.#shown.close();
    saved.freeze();
    this.#shown = saved;
    this.#asked = saved;
    this.#listener(this.current());
  }
}

/** How many rows a connection changed since it was opened, also those that were rolled back. */
function changesIn(db: Queries): number {
  return Number(db.first("SELECT total_changes() AS n")?.n);
}
