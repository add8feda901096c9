/** Lines of the log in a minute: so many of one source, and of all together. */
const mostOfSource = 20;
const mostOfAll = 120;
const minute = 60_000;

/**
 * Lines of the log that anybody can cause, whoever they are: what was refused or broken off. What comes too often is left
 * out, and its number said a minute later. What took a password that is right is not said here: it would be left out, too.
 */
export class BoundedLines {
  readonly #log: (line: string) => void;
  /** How many lines each source has in this minute. */
  readonly #said = new Map<string, number>();
  #count = 0;
  #leftOut = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  /** @param source whose line it is: one by itself leaves room for others' */
  say(line: string, source: string): void {
    this.#timer ??= setTimeout(() => this.#begin(), minute).unref();
    const said = this.#said.get(source) ?? 0;
    if (said >= mostOfSource || this.#count >= mostOfAll) {
      this.#leftOut++;
      return;
    }
    this.#said.set(source, said + 1);
    this.#count++;
    this.#log(line);
  }

  /** Begins another minute. */
  #begin(): void {
    if (this.#leftOut > 0) this.#log(`${this.#leftOut} lines like those before were left out in a minute`);
    this.#said.clear();
    this.#count = 0;
    this.#leftOut = 0;
    this.#timer = undefined;
  }
}
