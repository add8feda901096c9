import type { AuditedEvent, NotedEvent } from "../../domain/audit.ts";
import type { Queries } from "../database/rows.ts";
import type { Actor } from "./actor.ts";
import type { AuditedTable } from "./audited-tables.ts";
import { ChangedFields } from "./changed-fields.ts";
import { Changes } from "./changes.ts";
import type { AuditLog } from "./log.ts";
import {
  forgetTouched,
  isRestoring,
  type TouchedRecord,
  touchedRecords,
  touchedTables,
  watching,
} from "./watched-tables.ts";
import type { AuditPlace } from "./writer.ts";

/** What the database on disk knows: others read the one in memory, which may hold writes that a failed save takes back. */
interface SavedChanges {
  /** The number of the last change. */
  readonly last: number;
  /** Where the log begins. */
  readonly start: AuditPlace | undefined;
}

/** What no table shows that is looked at. */
type Noted = Pick<AuditedEvent, "event" | "record" | "what">;

/** So many records are compared between two steps. */
const recordsAtOnce = 250;

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
  savedOf(changes: Changes): Pick<Changes, "after"> & { place(name: "start"): AuditPlace | undefined } {
    this.#saved = { last: changes.last(), start: changes.place("start") };
    return {
      after: (change) => changes.after(change).filter((entry) => Number(entry.change) <= this.#saved.last),
      place: () => this.#saved.start,
    };
  }

  /** Sees to it that a connection remembers what was before each write. */
  watch(db: { run(statements: string): void }): void {
    db.run(watching);
  }

  /** Before a write's work. */
  beginWrite(): void {
    this.#noted = [];
  }

  /** Within a write: what it does that no table shows which is looked at. */
  note(event: NotedEvent, of: Pick<AuditedEvent, "record" | "what">): void {
    this.#noted.push({ event, ...of });
  }

  /** Within a write, behind its work. */
  *record(db: Queries, actor: Actor): Generator<undefined, void> {
    const tables = touchedTables(db);
    const changes = new Changes(db);
    const stamp = { at: this.#clock(), who: actor.who, from: actor.from };
    this.#keep(
      changes,
      this.#noted.map((event) => ({ ...stamp, ...event })),
    );
    if (tables.length === 0) return;
    const fields = new ChangedFields(db);
    const isBack = isRestoring(db);
    const whole = new Set<number>();
    for (const table of tables) {
      for (let after = Number.MIN_SAFE_INTEGER; ; ) {
        const records = touchedRecords(db, table, after, recordsAtOnce);
        const last = records.at(-1);
        if (last === undefined) break;
        after = last.id;
        const events = records.flatMap((record) => {
          const event = eventOf(table, record, fields, isBack, whole);
          return event === undefined ? [] : { ...stamp, ...event };
        });
        this.#keep(changes, events);
        yield;
      }
    }
    forgetTouched(db, tables);
  }

  #keep(changes: Changes, events: readonly AuditedEvent[]): void {
    changes.keep(this.#last + 1, events);
    this.#last += events.length;
  }

  /** Within each save: what the log has by now is forgotten here, and where it ends is remembered. */
  settle(db: Queries): void {
    if (this.#log === undefined) return;
    const changes = new Changes(db);
    changes.setPlace("head", this.#log.head);
    changes.setPlace("start", this.#log.start);
    changes.forget(this.#log.lastChange);
    this.#settled = { last: this.#last, start: this.#log.start };
  }

  /** What was written down lasts. */
  saved(): void {
    if (this.#log !== undefined) this.#saved = this.#settled;
    this.#log?.wake();
  }
}

/** @param whole printers that came or went with all that is theirs: their icons have no entry of their own */
function eventOf(
  { kind }: AuditedTable,
  touched: TouchedRecord,
  reader: ChangedFields,
  isBack: boolean,
  whole: Set<number>,
): Pick<AuditedEvent, "event" | "record" | "fields"> | undefined {
  const { id, name, wasThere, isThere } = touched;
  const record = { kind, id, name };
  if (kind === "icon" && whole.has(id)) return undefined;
  if (wasThere !== isThere && kind === "printer") whole.add(id);
  if (!isThere) return wasThere ? { event: "deleted", record } : undefined;
  if (!wasThere && isBack) return { event: "restored", record };
  const fields = reader.changed(touched);
  if (!wasThere) return { event: "created", record, fields };
  if (fields.length === 0) return undefined;
  return { event: isBack ? "restored" : "changed", record, fields };
}
