import type { AuditedEvent, NotedEvent } from "../../domain/audit/audit.ts";
import type { Actor } from "../actor.ts";
import type { Queries } from "../database/rows.ts";
import { changedRecords, watching } from "./changed-records.ts";
import { Changes, noPlace, type SavedRecords } from "./changes.ts";
import type { AuditLog } from "./log.ts";
import type { AuditPlace } from "./writer.ts";

/** What a write does that no table shows. */
type Noted = Pick<AuditedEvent, "event" | "record" | "what">;

/**
 * Writes down in the database what each write changes, in the write itself: it is saved with the change or not at all, and
 * stays until the audit log has it.
 */
export class ChangeRecorder {
  readonly #clock: () => number;
  #log: AuditLog | undefined;
  /** The number of the last change. */
  #last = 0;
  /** The line that the log began behind when it was opened. */
  #start: AuditPlace = noPlace;
  /** The last change that the latest save has, and that is on disk: others read the database in memory. */
  #settled = 0;
  #saved = 0;
  /** What the write under way says itself. */
  #noted: Noted[] = [];

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Says where changes go to, and where that begins. @param last the highest number that a change ever had */
  begin(log: AuditLog, last: number, start: AuditPlace): void {
    this.#log = log;
    this.#last = last;
    this.#start = start;
  }

  /** Changes that are on disk, for the log: it must not hold what a failed save takes back. */
  savedOf(changes: Changes): SavedRecords {
    this.#saved = changes.last();
    return { after: (change) => changes.after(change).filter((entry) => entry.change <= this.#saved) };
  }

  /** Makes a connection remember what was before each write. */
  watch(db: { run(statements: string): void }): void {
    db.run(watching);
  }

  /** Before a write's work. */
  beginWrite(): void {
    this.#noted = [];
  }

  /** Within a write: what it does that no audited table shows. */
  note(event: NotedEvent, of: Pick<AuditedEvent, "record" | "what">): void {
    this.#noted.push({ event, ...of });
  }

  /** Within a write, behind its work. */
  record(db: Queries, { who, from }: Actor): void {
    const at = this.#clock();
    const events = [...this.#noted, ...changedRecords(db)].map((event) => ({ at, who, from, ...event }));
    new Changes(db).keep(this.#last + 1, events);
    this.#last += events.length;
  }

  /** Within each save: forgets what the log has by now, and remembers where the log ends. */
  settle(db: Queries): void {
    if (this.#log === undefined) return;
    const changes = new Changes(db);
    changes.setPlace("head", this.#log.head);
    if (changes.place("start") === undefined) changes.setPlace("start", this.#start);
    changes.forget(this.#log.lastChange);
    this.#settled = this.#last;
  }

  /** After each save. */
  saved(): void {
    if (this.#log !== undefined) this.#saved = this.#settled;
    this.#log?.wake();
  }
}
