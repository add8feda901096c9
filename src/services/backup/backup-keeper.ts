import { dayOf, isGood, type KeptState } from "../../domain/backup/backup.ts";
import { errorMessage, UserError } from "../../domain/errors.ts";
import { isDiskFull } from "../../store/database/reserve.ts";
import type { SavedState } from "../../store/database/saved-file.ts";
import type { Store } from "../../store/store.ts";

/** Between checks whether a day is over. A single long timer is wrong after the machine slept or its clock was set. */
const checkIntervalMs = 60_000;
const retryMs = 60 * 60_000;

interface KeeperOptions {
  readonly store: Store;
  /** The number of daily states to keep; 0 switches backups off. */
  readonly max: number;
  /** UTC, milliseconds since 1970. */
  readonly clock: () => number;
  readonly log: (line: string) => void;
}

interface Failure {
  readonly at: number;
  readonly reason: string;
}

/**
 * Keeps the newest state of each UTC day after the day is over, even if the service did not run then. The first backup
 * is made at once. Writes never wait for a backup or fail because of one.
 */
export class BackupKeeper {
  readonly #options: KeeperOptions;
  /** The newest state on disk. */
  #newest: SavedState;
  /** The last queued work: only one runs at a time. */
  #work: Promise<unknown> = Promise.resolve();
  #failure: Failure | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#newest = options.store.current();
    options.store.onSaved((state) => this.#onSaved(state));
  }

  /** Starts the regular checks, and reads all kept states in the background. */
  start(): void {
    for (const state of this.list()) void this.#queue(() => this.#options.store.backups.check(state));
    this.keepDue();
    if (this.max > 0) this.#timer = setInterval(() => this.keepDue(), checkIntervalMs).unref();
  }

  /** Starts no more work, and resolves when the running work has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#work;
  }

  get max(): number {
    return this.#options.max;
  }

  /** Newest first. */
  list(): readonly KeptState[] {
    return this.#options.store.backups.list();
  }

  /** Why the last state could not be kept. */
  failure(): Failure | undefined {
    return this.#failure;
  }

  /** When the next state is kept if something changes until then; undefined when backups are switched off. */
  nextAt(): number | undefined {
    if (this.max === 0) return undefined;
    if (this.#failure !== undefined) return this.#failure.at + retryMs;
    return (dayOf(this.#options.clock()) + 1) * 86_400_000;
  }

  /** Whether no kept state has the current content. */
  isChanged(): boolean {
    return this.#newest.savedAt > 0 && !this.#isKept(this.#newest);
  }

  /**
   * Keeps the current state as a manual one.
   * @returns false when a manual state with this content exists already
   * @throws UserError "conflict" when backups are switched off, or the state cannot be written
   */
  async makeNow(): Promise<boolean> {
    if (this.max === 0) throw new UserError("conflict", "Backups are turned off (BACKUPS=0).");
    const isMade = await this.#queue(async () => {
      const { savedAt } = this.#newest;
      if (savedAt === 0 || this.#isKept(this.#newest, true)) return false;
      await this.#keep(this.#newest, true);
      return true;
    });
    if (this.#failure !== undefined)
      throw new UserError("conflict", `The backup failed: ${this.#failure.reason}.`);
    return isMade === true;
  }

  /** Keeps the current state if it is due, and deletes files of deleted records that no state needs any more. */
  keepDue(): void {
    void this.#queue(async () => {
      if (this.#isDue()) await this.#keep(this.#newest);
      await this.#options.store.keptFiles.tidy();
    });
  }

  /** Waits until the queued work has ended. */
  async waitForWork(): Promise<void> {
    await this.#work;
  }

  /** Whether the newest state is of another day than today, even a later one: the clock may have been set back. */
  #isDue(): boolean {
    const now = this.#options.clock();
    if (this.max === 0 || !this.isChanged()) return false;
    if (this.#failure !== undefined) return now >= this.#failure.at + retryMs || now < this.#failure.at;
    const isFirst = !this.list().some((state) => isGood(state) && state.number > 0);
    return isFirst || dayOf(this.#newest.savedAt) !== dayOf(now);
  }

  #isKept({ savedAt }: SavedState, isManual = false): boolean {
    return this.list().some(
      (state) => isGood(state) && state.savedAt === savedAt && (state.isManual || !isManual),
    );
  }

  /** Keeps the last state of a day when the first state of another day replaces it. */
  #onSaved(state: SavedState): void {
    const before = this.#newest;
    this.#newest = state;
    const isLast = before.savedAt > 0 && dayOf(before.savedAt) !== dayOf(state.savedAt);
    if (this.max === 0 || !isLast || this.#failure !== undefined) return;
    void this.#queue(() => (this.#isKept(before) ? undefined : this.#keep(before)));
  }

  async #keep(state: SavedState, isManual = false): Promise<void> {
    const { store, log, clock } = this.#options;
    try {
      await store.backups.write(state, isManual);
      this.#failure = undefined;
      await store.backups.prune(this.max);
    } catch (error) {
      const reason = isDiskFull(error) ? "there is not enough room on the disk" : errorMessage(error);
      this.#failure = { at: clock(), reason };
      log(`warning: no backup was made: ${reason}; all others are as they were, and so is the database`);
    }
  }

  /** @returns undefined when the work failed, which is logged, or the service is stopping */
  #queue<T>(work: () => Promise<T> | T): Promise<T | undefined> {
    const begin = () => (this.#isClosed ? undefined : work());
    const result = this.#work.then(begin).catch((error: unknown) => {
      this.#options.log(`warning: backups: ${errorMessage(error)}`);
      return undefined;
    });
    this.#work = result;
    return result;
  }
}
