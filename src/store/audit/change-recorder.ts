import type { AuditedEvent, OtherEvent } from "../../domain/audit/audit.ts";
import type { Actor } from "../actor.ts";
import type { Queries } from "../database/rows.ts";
import { changedRecords, watchStatements } from "./changed-records.ts";
import { Changes, noPlace, type SavedChanges } from "./changes.ts";
import type { AuditLog } from "./log.ts";
import type { AuditPlace } from "./writer.ts";

/** An event of a write that `changedRecords` does not find, because its tables are not audited. */
type WriteEvent = Pick<AuditedEvent, "event" | "record" | "what">;

/**
 * Records the changes of each write in the database, within the write itself. So a record of a change is saved with the
 * change or not at all. It stays in the database until the audit log has it.
 */
export class ChangeRecorder {
  readonly #clock: () => number;
  #log: AuditLog | undefined;
  /** The number of the last change, which may not be on disk yet. */
  #last = 0;
  /** The place before the first line of the log when it was opened. */
  #start: AuditPlace = noPlace;
  /** The last change in the save under way. */
  #lastPrepared = 0;
  /** The last change on disk. The database in memory may have later ones. */
  #lastSaved = 0;
  /** Events of the write under way, besides the changes of audited tables. */
  #events: WriteEvent[] = [];

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /**
   * Connects the recorder to the opened log.
   * @param last the highest number that a change ever had
   * @param start the place before the log's first line
   */
  begin(log: AuditLog, last: number, start: AuditPlace): void {
    this.#log = log;
    this.#last = last;
    this.#start = start;
  }

  /** The changes that the log may write: those on disk, because a failed save reverts later ones. */
  savedChanges(changes: Changes): SavedChanges {
    this.#lastSaved = changes.last();
    return { after: (change) => changes.after(change).filter((entry) => entry.change <= this.#lastSaved) };
  }

  /** Makes a connection keep the old values during each write. */
  watch(db: { run(statements: string): void }): void {
    db.run(watchStatements);
  }

  /** Call this before a write's work. */
  beginWrite(): void {
    this.#events = [];
  }

  /** Within a write: records an event besides the changes of audited tables. */
  recordEvent(event: OtherEvent, details: Pick<AuditedEvent, "record" | "what">): void {
    this.#events.push({ event, ...details });
  }

  /** Within a write, after its work. */
  recordChanges(db: Queries, { who, from }: Actor): void {
    const at = this.#clock();
    const events = [...this.#events, ...changedRecords(db)].map((event) => ({ at, who, from, ...event }));
    new Changes(db).keep(this.#last + 1, events);
    this.#last += events.length;
  }

  /** Before each save: deletes the changes that the log has by now, and stores where the log ends. */
  prepareSave(db: Queries): void {
    if (this.#log === undefined) return;
    const changes = new Changes(db);
    changes.setPlace("head", this.#log.head);
    if (changes.place("start") === undefined) changes.setPlace("start", this.#start);
    changes.forget(this.#log.lastChange);
    this.#lastPrepared = this.#last;
  }

  /** Call this after each successful save. */
  afterSave(): void {
    if (this.#log !== undefined) this.#lastSaved = this.#lastPrepared;
    this.#log?.scheduleFlush();
  }
}
