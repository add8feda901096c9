import type { AuditedEvent, NotedEvent } from "../../domain/audit.ts";
import type { Queries } from "../database/rows.ts";
import type { Actor } from "./actor.ts";
import { changedRecords, watching } from "./changed-records.ts";
import { Changes } from "./changes.ts";
import type { AuditLog } from "./log.ts";
import type { AuditPlace } from "./writer.ts";

/** What the database on disk knows: others read the one in memory, which may hold writes that a failed save takes back. */
interface SavedChanges {
  /** The number of the last change. */
  readonly last: number;
  /** Where the log begins. */
  readonly start: AuditPlace | undefined;
}

/** How the log reads them. */
export type SavedRecords = Pick<Changes, "after"> & { place(name: "start"): AuditPlace | undefined };

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
  #settled: SavedChanges = { last: 0, start: undefined };
  #saved = this.#settled;
  /** What the write under way says itself. */
  #noted: Noted[] = [];

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Says where changes go to. @param last the highest number that a change ever had */
  begin(log: AuditLog, last: number): void {
    this.#log = log;
    this.#last = last;
  }

  /** Changes and places that are on disk, for the log: it must not hold what a failed save takes back. */
  savedOf(changes: Changes): SavedRecords {
    this.#saved = { last: changes.last(), start: changes.place("start") };
    return {
      after: (change) => changes.after(change).filter((entry) => Number(entry.change) <= this.#saved.last),
      place: () => this.#saved.start,
    };
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
    changes.setPlace("start", this.#log.start);
    changes.forget(this.#log.lastChange);
    this.#settled = { last: this.#last, start: this.#log.start };
  }

  /** After each save. */
  saved(): void {
    if (this.#log !== undefined) this.#saved = this.#settled;
    this.#log?.wake();
  }
}
