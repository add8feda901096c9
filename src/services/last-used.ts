import { messageOf } from "../domain/errors.ts";

interface Options<Use> {
  readonly save: (uses: ReadonlyMap<number, Use>) => Promise<void>;
  /** What is not saved where saving fails, for the log. */
  readonly what: string;
  readonly log: (line: string) => void;
}

/** It is saved so often at most, since each save writes the whole database, and agents ask all day. */
const savedAfterMs = 5 * 60_000;

/** When records were used last, by their ids, until that is saved. Whoever uses one waits for nothing. */
export class LastUsed<Use> {
  readonly #options: Options<Use>;
  readonly #uses = new Map<number, Use>();
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: Options<Use>) {
    this.#options = options;
  }

  /** The latest use last. */
  all(): ReadonlyMap<number, Use> {
    return this.#uses;
  }

  note(id: number, use: Use): void {
    if (this.#isClosed) return;
    this.#uses.delete(id);
    this.#uses.set(id, use);
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => void this.flush(), savedAfterMs);
    this.#timer.unref();
  }

  /** Saves what is left; whatever stands in the way, it does not fail. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const uses = new Map(this.#uses);
    if (uses.size > 0) this.#saving = this.#saving.then(() => this.#save(uses));
    return this.#saving;
  }

  /** Saves what is left and notes nothing more. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.flush();
  }

  async #save(uses: ReadonlyMap<number, Use>): Promise<void> {
    const { save, what, log } = this.#options;
    try {
      await save(uses);
      for (const [id, use] of uses) if (this.#uses.get(id) === use) this.#uses.delete(id);
    } catch (error) {
      log(`warning: ${what} is not saved: ${messageOf(error)}`);
    }
  }
}
