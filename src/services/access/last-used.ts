import { messageOf } from "../../domain/errors.ts";

/** In milliseconds. Each save writes the whole database, and agents ask all day. */
const savedAfterMs = 5 * 60_000;

/** Saves when records were used last, at most every five minutes for each. Whoever uses one waits for nothing. */
export class LastUsed {
  /** When that was saved, or was to be saved and could not be, by the records' ids. */
  readonly #tried = new Map<number, number>();
  readonly #what: string;
  readonly #log: (line: string) => void;

  /** @param what is saved, as the log names it where that fails */
  constructor(what: string, log: (line: string) => void) {
    this.#what = what;
    this.#log = log;
  }

  /** @param saved the last use that the record itself tells of; 0 for none @param now UTC, milliseconds since 1970 */
  note(id: number, saved: number, now: number, save: () => Promise<void>): void {
    if (now - Math.max(saved, this.#tried.get(id) ?? 0) < savedAfterMs) return;
    this.#tried.set(id, now);
    save().catch((error: unknown) => this.#log(`warning: ${this.#what} is not saved: ${messageOf(error)}`));
  }
}
