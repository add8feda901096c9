/** What is refused because of load or slowness: 408, 429 and 503. */
const loggedStatuses: ReadonlySet<number> = new Set([408, 429, 503]);
const intervalMs = 1000;

/**
 * Logs requests that were refused because of load: at most one line a second for each status and reason. The next line
 * counts the refusals that had none.
 */
export class RefusalLines {
  readonly #log: (line: string) => void;
  /** Refusals without a line since the last one, by status and reason. */
  readonly #leftOut = new Map<string, number>();

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  /**
   * Logs a refusal with one of the statuses above; others are ignored.
   * @param reason one of a few sentences, never a client's text
   * @param who the address, after what it asked for where that is known
   */
  note(status: number, reason: string, who: string): void {
    if (!loggedStatuses.has(status)) return;
    const kind = `refused with ${status}: ${reason}`;
    const leftOut = this.#leftOut.get(kind);
    if (leftOut === undefined) this.#say(kind, `(${who})`);
    else this.#leftOut.set(kind, leftOut + 1);
  }

  #say(kind: string, detail: string): void {
    this.#log(`${kind} ${detail}`);
    this.#leftOut.set(kind, 0);
    setTimeout(() => this.#sayLeftOut(kind), intervalMs).unref();
  }

  #sayLeftOut(kind: string): void {
    const leftOut = this.#leftOut.get(kind) ?? 0;
    this.#leftOut.delete(kind);
    if (leftOut > 0) this.#say(kind, `(${leftOut} more)`);
  }
}
