import { dayOf, isGood, type KeptState } from "../domain/backup.ts";
import { messageOf, UserError } from "../domain/errors.ts";
import { isDiskFull } from "../store/database/reserve.ts";
import type { SavedState } from "../store/database/saved-file.ts";
import type { Store } from "../store/store.ts";
import { DatabaseCheck } from "./database-check.ts";

/** How often it is looked whether a day is over: a machine may sleep, and its clock may be set. */
const lookMs = 60_000;
/** What failed is tried again after so long. */
const againMs = 60 * 60_000;

interface KeeperOptions {
  readonly store: Store;
  /** The bundled file that `main.ts` became. */
  readonly script: string;
  /** So many states are kept; 0: none is made. */
  readonly most: number;
  /** UTC, milliseconds since 1970. */
  readonly clock: () => number;
  readonly log: (line: string) => void;
}

/** Why no state was kept the last time. */
interface Failure {
  readonly at: number;
  readonly reason: string;
}

/**
 * Keeps the newest state of each day, in UTC: when the day is over, whether the service ran at its end or not, and at
 * once while there is none at all. Nobody's write waits for it, and none fails because of it.
 */
export class BackupKeeper {
  readonly most: number;
  readonly #options: KeeperOptions;
  readonly #check: DatabaseCheck;
  /** What is on disk. */
  #latest: SavedState;
  /** One after the other. */
  #work: Promise<unknown> = Promise.resolve();
  #failure: Failure | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.most = options.most;
    this.#check = new DatabaseCheck(options.script);
    this.#latest = options.store.current();
    options.store.onSaved((state) => this.#saved(state));
  }

  /** Begins to look whether a state is to be kept; nobody waits for it. */
  start(): void {
    if (this.most === 0) return;
    void this.#inTurn(async () => {
      for (const { name, checked } of this.#options.store.backups.list())
        if (checked === undefined) await this.#options.store.backups.check(name, this.#read);
      await this.#options.store.keptFiles.tidy();
    });
    this.look();
    this.#timer = setInterval(() => {
      this.look();
      void this.#inTurn(() => this.#options.store.keptFiles.tidy());
    }, lookMs).unref();
  }

  /** Begins nothing more; settles when nothing is being written. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#check.close();
    await this.#work;
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
    if (this.most === 0) return undefined;
    const now = this.#options.clock();
    if (this.#failure !== undefined) return this.#failure.at + againMs;
    return (dayOf(now) + 1) * 86_400_000;
  }

  /** Whether what is saved is kept nowhere. */
  isChanged(): boolean {
    const { savedAt } = this.#latest;
    return savedAt > 0 && !this.list().some((state) => isGood(state) && state.savedAt === savedAt);
  }

  /**
   * Keeps what is saved now, whatever is kept of its day besides.
   * @returns whether something was written: not where it is kept already
   * @throws UserError "conflict" where none is to be kept, or it cannot be
   */
  async makeNow(): Promise<boolean> {
    if (this.most === 0) throw new UserError("conflict", "Backups are switched off by BACKUPS=0.");
    const isMade = await this.#inTurn(async () => {
      const { savedAt } = this.#latest;
      if (savedAt === 0 || this.#options.store.backups.hasAsked(savedAt)) return false;
      await this.#keep(this.#latest, true);
      return true;
    });
    if (this.#failure !== undefined)
      throw new UserError("conflict", `The backup could not be made: ${this.#failure.reason}.`);
    return isMade === true;
  }

  /** Keeps what is due. */
  look(): void {
    if (this.#isDue()) void this.#inTurn(() => (this.#isDue() ? this.#keep(this.#latest) : undefined));
  }

  /** When nothing is being written. */
  async settled(): Promise<void> {
    await this.#work;
  }

  #isDue(): boolean {
    const { savedAt } = this.#latest;
    const now = this.#options.clock();
    if (this.most === 0 || !this.isChanged() || this.#options.store.backups.has(savedAt)) return false;
    if (this.#failure !== undefined) return now >= this.#failure.at + againMs || now < this.#failure.at;
    return dayOf(savedAt) < dayOf(now) || !this.list().some(isGood);
  }

  /** The day's last state is kept when the first one of another day takes its place. */
  #saved(state: SavedState): void {
    const before = this.#latest;
    this.#latest = state;
    const isLast = before.savedAt > 0 && dayOf(before.savedAt) < dayOf(state.savedAt);
    if (this.most === 0 || !isLast || this.#failure !== undefined) return;
    void this.#inTurn(() =>
      this.#options.store.backups.has(before.savedAt) ? undefined : this.#keep(before),
    );
  }

  async #keep(state: SavedState, asked = false): Promise<void> {
    const { store, log, clock } = this.#options;
    try {
      await store.backups.write(state, this.#read, asked);
      this.#failure = undefined;
      await store.backups.prune(this.most);
      await store.keptFiles.tidy();
    } catch (error) {
      if (this.#isClosed) return;
      const reason = isDiskFull(error) ? "there is not enough room on the disk" : messageOf(error);
      this.#failure = { at: clock(), reason };
      log(`warning: no backup was made: ${reason}; all others are as they were, and so is the database`);
    }
  }

  readonly #read = (path: string) => this.#check.run(path);

  /** @returns undefined where it failed, which was logged */
  #inTurn<T>(work: () => Promise<T> | T): Promise<T | undefined> {
    const result = this.#work.then(() => (this.#isClosed ? undefined : work()));
    const settled = result.catch((error: unknown) => {
      this.#options.log(`warning: backups: ${messageOf(error)}`);
      return undefined;
    });
    this.#work = settled;
    return settled;
  }
}
