/** Lines of one kind a minute. */
const maxLinesOfKind = 20;
/** Lines of all kinds a minute. */
const maxLines = 120;
const minuteMs = 60_000;
/** The statuses of requests that were refused because of load or slowness. */
const loadStatuses: ReadonlySet<number> = new Set([408, 429, 503]);

/**
 * Log lines that anyone can cause: refused or broken requests, and wrong passwords. Lines above the limit are only
 * counted, and one line states their number at the end of the minute. Lines that need a valid sign-in are not limited.
 */
export class LimitedLog {
  readonly #writeLine: (line: string) => void;
  /** Lines of this minute, by kind. */
  readonly #written = new Map<string, number>();
  #total = 0;
  #omitted = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(log: (line: string) => void) {
    this.#writeLine = log;
  }

  /** @param kind an address, or the reason of a refusal: one kind cannot use up the whole limit */
  log(line: string, kind: string): void {
    this.#timer ??= setTimeout(() => this.#beginMinute(), minuteMs).unref();
    const written = this.#written.get(kind) ?? 0;
    if (written >= maxLinesOfKind || this.#total >= maxLines) {
      this.#omitted++;
      return;
    }
    this.#written.set(kind, written + 1);
    this.#total++;
    this.#writeLine(line);
  }

  /**
   * Logs a request that was refused because of load or slowness; ignores other statuses.
   * @param reason one of a few fixed sentences, never a client's text
   * @param who the address, preceded by the request where that is known
   */
  logRefused(status: number, reason: string, who: string): void {
    const kind = `refused with ${status}: ${reason}`;
    if (loadStatuses.has(status)) this.log(`${kind} (${who})`, kind);
  }

  #beginMinute(): void {
    if (this.#omitted > 0) this.#writeLine(`${this.#omitted} more lines like those before in a minute`);
    this.#written.clear();
    this.#total = 0;
    this.#omitted = 0;
    this.#timer = undefined;
  }
}
