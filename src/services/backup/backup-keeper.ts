import { dayOf, isGood, type KeptState } from "../../domain/backup/backup.ts";
import { messageOf, UserError } from "../../domain/errors.ts";
import { isDiskFull } from "../../store/database/reserve.ts";
import type { SavedState } from "../../store/database/saved-file.ts";
import type { Store } from "../../store/store.ts";

/** How often it is looked whether a day is over: a machine may sleep, and its clock may be set. */
const lookMs = 60_000;
/** What failed is tried again after so long. */
const retryMs = 60 * 60_000;

interface KeeperOptions {
  readonly store: Store;
  /** How many daily states are kept; 0: none is made. */
  readonly max: number;
  /** UTC, milliseconds since 1970. */
  readonly clock: () => number;
  readonly log: (line: string) => void;
}

/** Why the last state could not be kept. */
interface Failure {
  readonly at: number;
  readonly reason: string;
}

/**
 * Keeps the newest state of each day, in UTC: when the day is over, whether the service ran at its end or not, and at
 * once while there is none at all. Nobody's write waits for it, and none fails because of it.
 */
export class BackupKeeper {
  readonly #options: KeeperOptions;
  /** What is on disk. */
  #latest: SavedState;
  /** One after the other. */
  #work: Promise<unknown> = Promise.resolve();
  #failure: Failure | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#latest = options.store.current();
    options.store.onSaved((state) => this.#saved(state));
  }

  /** Begins to look whether a state is to be kept; nobody waits for it. */
  start(): void {
    for (const state of this.list()) void this.#queue(() => this.#options.store.backups.check(state));
    this.look();
    if (this.max > 0) this.#timer = setInterval(() => this.look(), lookMs).unref();
  }

  /** Begins nothing more; settles when nothing is being written. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#work;
  }

  get max(): number {
    return this.#options.max;
  }

  /** The newest first. */
  list(): readonly KeptState[] {
    return this.#options.store.backups.list();
  }

  /** Why the last one could not be kept. */
  failure(): Failure | undefined {
    return this.#failure;
  }

  /** When the next one is kept if something is changed until then; undefined where none is. */
  nextAt(): number | undefined {
    if (this.max === 0) return undefined;
    if (this.#failure !== undefined) return this.#failure.at + retryMs;
    return (dayOf(this.#options.clock()) + 1) * 86_400_000;
  }

  /** Whether what is saved is kept nowhere. */
  isChanged(): boolean {
    return this.#latest.savedAt > 0 && !this.#isKept(this.#latest);
  }

  /**
   * Keeps what is saved now, whatever is kept of its day besides.
   * @returns whether something was written: not where it is kept already
   * @throws UserError "conflict" where none is to be kept, or it cannot be
   */
  async makeNow(): Promise<boolean> {
    if (this.max === 0) throw new UserError("conflict", "Backups are switched off by BACKUPS=0.");
    const isMade = await this.#queue(async () => {
      const { savedAt } = this.#latest;
      if (savedAt === 0 || this.#isKept(this.#latest, true)) return false;
      await this.#keep(this.#latest, true);
      return true;
    });
    if (this.#failure !== undefined)
      throw new UserError("conflict", `The backup could not be made: ${this.#failure.reason}.`);
    return isMade === true;
  }

  /** Keeps what is due, and deletes the files that no state names any more. */
  look(): void {
    void this.#queue(async () => {
      if (this.#isDue()) await this.#keep(this.#latest);
      await this.#options.store.keptFiles.tidy();
    });
  }

  /** When nothing is being written. */
  async settled(): Promise<void> {
    await this.#work;
  }

  /** A day is over also where the clock was set back: what was saved in the time before stays. */
  #isDue(): boolean {
    const now = this.#options.clock();
    if (this.max === 0 || !this.isChanged()) return false;
    if (this.#failure !== undefined) return now >= this.#failure.at + retryMs || now < this.#failure.at;
    const isFirst = !this.list().some((state) => isGood(state) && state.number > 0);
    return isFirst || dayOf(this.#latest.savedAt) !== dayOf(now);
  }

  #isKept({ savedAt }: SavedState, isAsked = false): boolean {
    return this.list().some(
      (state) => isGood(state) && state.savedAt === savedAt && (state.isAsked || !isAsked),
    );
  }

  /** The day's last state is kept when the first one of another day takes its place. */
  #saved(state: SavedState): void {
    const before = this.#latest;
    this.#latest = state;
    const isLast = before.savedAt > 0 && dayOf(before.savedAt) !== dayOf(state.savedAt);
    if (this.max === 0 || !isLast || this.#failure !== undefined) return;
    void this.#queue(() => (this.#isKept(before) ? undefined : this.#keep(before)));
  }

  async #keep(state: SavedState, isAsked = false): Promise<void> {
    const { store, log, clock } = this.#options;
    try {
      await store.backups.write(state, isAsked);
      this.#failure = undefined;
      await store.backups.prune(this.max);
    } catch (error) {
      const reason = isDiskFull(error) ? "there is not enough room on the disk" : messageOf(error);
      this.#failure = { at: clock(), reason };
      log(`warning: no backup was made: ${reason}; all others are as they were, and so is the database`);
    }
  }

  /** @returns undefined where it failed, which was logged, or the service is being stopped */
  #queue<T>(work: () => Promise<T> | T): Promise<T | undefined> {
    const begin = () => (this.#isClosed ? undefined : work());
    const result = this.#work.then(begin).catch((error: unknown) => {
      this.#options.log(`warning: backups: ${messageOf(error)}`);
      return undefined;
    });
    this.#work = result;
    return result;
  }
}
