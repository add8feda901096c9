/** The maximum number of lines of one kind in a minute. */
const maxLinesOfKind = 20;
/** The maximum number of lines of all kinds in a minute. */
const maxLines = 120;
const minuteMs = 60_000;
/** The statuses of requests that were refused because of load or slowness. */
const loadStatuses: ReadonlySet<number> = new Set([408, 429, 503]);

/**
 * Limits the log lines that a client can cause without signing in: refused and interrupted requests, and wrong
 * passwords. Lines above the limit are not written: at the end of the minute, one line gives their number.
 */
export class LimitedLog {
  readonly #writeLine: (line: string) => void;
  /** The number of lines in this minute, by kind. */
  readonly #written = new Map<string, number>();
  #total = 0;
  #omitted = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(log: (line: string) => void) {
    this.#writeLine = log;
  }

  /** @param kind the client's network, or the reason for a refusal. Each kind has a limit within that of all kinds. */
  log(line: string, kind: string): void {
    this.#timer ??= setTimeout(() => this.#endMinute(), minuteMs).unref();
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
   * Logs a request that was refused because of load or slowness. Ignores other statuses.
   * @param reason a fixed sentence without text from the client
   * @param who the client's address, or the request line and the address
   */
  logRefused(status: number, reason: string, who: string): void {
    const kind = `refused with ${status}: ${reason}`;
    if (loadStatuses.has(status)) this.log(`${kind} (${who})`, kind);
  }

  #endMinute(): void {
    if (this.#omitted > 0) this.#writeLine(`${this.#omitted} more lines like these in the last minute`);
    this.#written.clear();
    this.#total = 0;
    this.#omitted = 0;
    this.#timer = undefined;
  }
}
