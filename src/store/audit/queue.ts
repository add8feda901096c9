import type { AuditedEvent } from "../../domain/audit.ts";
import { AuditBounds } from "./bounds.ts";

/** So many are written at once. */
const writtenAtOnce = 1000;
/** So many wait in memory at most; changes wait in the database. */
const mostWaiting = 20_000;

/** What is to be written next, and how many were lost before it. */
interface NextEvents {
  readonly events: readonly AuditedEvent[];
  readonly lost: number;
}

/** Events that change no record, from when they happen until they last. */
export class EventQueue {
  readonly #bounds = new AuditBounds();
  readonly #waiting: AuditedEvent[] = [];
  #lost = 0;
  /** What is being written. */
  #next: NextEvents = { events: [], lost: 0 };

  /**
   * @param counted what it is counted as where it comes too often
   * @returns whether it is written next, and not counted
   */
  add(event: AuditedEvent, counted?: AuditedEvent): boolean {
    const isNext = this.#bounds.admit(event, counted);
    if (isNext) this.#push(event);
    return isNext;
  }

  /** Puts an event in the place of one that waits still. @returns whether it does */
  replace(event: AuditedEvent, by: AuditedEvent): boolean {
    const at = this.#waiting.lastIndexOf(event);
    if (at < this.#next.events.length) return false;
    this.#waiting[at] = by;
    return true;
  }

  /** Whether nothing waits to be written. */
  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Whether anything is counted, and is to be written later. */
  get isCounting(): boolean {
    return this.#bounds.isCounting;
  }

  /** Has written what was counted, a minute's share of it; all of it where there is no other minute. */
  takeCounted(isLast: boolean): void {
    for (const event of this.#bounds.take(isLast)) this.#push(event);
  }

  /** What is to be written next; `written` says that it is. */
  next(): NextEvents {
    this.#next = { events: this.#waiting.slice(0, writtenAtOnce), lost: this.#lost };
    return this.#next;
  }

  /** Forgets what was to be written next: it lasts, or is to be written again. */
  end(isWritten: boolean): void {
    if (isWritten) {
      this.#waiting.splice(0, this.#next.events.length);
      this.#lost -= this.#next.lost;
    }
    this.#next = { events: [], lost: 0 };
  }

  #push(event: AuditedEvent): void {
    if (this.#waiting.length < mostWaiting) this.#waiting.push(event);
    else this.#lost += event.count ?? 1;
  }
}
