const maxLinesOfKind = 20;
/** The maximum number of lines of all kinds. */
const maxLines = 120;
const minuteMs = 60_000;

/** Limits the lines per minute that anybody can cause. At the end of the minute, one line gives the number of the others. */
export class FloodLimit {
  readonly #summarize: (omitted: number) => void;
  /** The number of lines in this minute, by kind. */
  readonly #written = new Map<string, number>();
  #total = 0;
  #omitted = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(summarize: (omitted: number) => void) {
    this.#summarize = summarize;
  }

  /** @returns whether to write a line; otherwise it is counted */
  admits(kind: string): boolean {
    this.#timer ??= setTimeout(() => this.end(), minuteMs).unref();
    const written = this.#written.get(kind) ?? 0;
    if (written >= maxLinesOfKind || this.#total >= maxLines) {
      this.#omitted++;
      return false;
    }
    this.#written.set(kind, written + 1);
    this.#total++;
    return true;
  }

  /** Ends the minute. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#omitted > 0) this.#summarize(this.#omitted);
    this.#written.clear();
    this.#total = 0;
    this.#omitted = 0;
  }
}

/** A line, and its kind: the client's network, or the reason for a refusal. */
export type LimitedLog = (line: string, kind: string) => void;

export function limitLog(log: (line: string) => void): LimitedLog {
  const limit = new FloodLimit((omitted) => log(`${omitted} more lines like these in the last minute`));
  return (line, kind) => {
    if (limit.admits(kind)) log(line);
  };
}
