/** Lines of one kind in a minute, and of all together. */
const maxOfKind = 20;
const maxOfAll = 120;
const minuteMs = 60_000;
/** Refused because of load or slowness. */
const loadStatuses: ReadonlySet<number> = new Set([408, 429, 503]);

/**
 * Lines of the service's log that anybody can cause: requests that were refused or broken off, passwords that were wrong.
 * A minute later one line says how many more there were. Lines that take a right password are not written here.
 */
export class BoundedLines {
  readonly #log: (line: string) => void;
  /** How many lines there were in this minute, by their kind. */
  readonly #written = new Map<string, number>();
  #count = 0;
  #leftOut = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  /** @param kind lines of one kind leave room for others: an address, or why something was refused */
  say(line: string, kind: string): void {
    this.#timer ??= setTimeout(() => this.#beginMinute(), minuteMs).unref();
    const written = this.#written.get(kind) ?? 0;
    if (written >= maxOfKind || this.#count >= maxOfAll) {
      this.#leftOut++;
      return;
    }
    this.#written.set(kind, written + 1);
    this.#count++;
    this.#log(line);
  }

  /**
   * Says that a request was refused because of load or slowness; other statuses are ignored.
   * @param reason one of a few sentences, never a client's text
   * @param who the address, after what it asked for where that is known
   */
  sayRefused(status: number, reason: string, who: string): void {
    const kind = `refused with ${status}: ${reason}`;
    if (loadStatuses.has(status)) this.say(`${kind} (${who})`, kind);
  }

  #beginMinute(): void {
    if (this.#leftOut > 0) this.#log(`${this.#leftOut} more lines like those before in a minute`);
    this.#written.clear();
    this.#count = 0;
    this.#leftOut = 0;
    this.#timer = undefined;
  }
}
