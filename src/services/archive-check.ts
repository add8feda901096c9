import { type Driver, driverTitle } from "../domain/driver.ts";
import { messageOf, UserError } from "../domain/errors.ts";
import type { Store } from "../store/store.ts";
import type { Workers } from "./workers.ts";

export type ArchiveState = "sound" | "missing" | "damaged";

interface Verdict {
  /** Of the file that was read. */
  readonly mark: string;
  readonly isSound: boolean;
}

/** What a person is told of an archive that cannot be used. */
export function archiveRefusal(driver: Driver, state: Exclude<ArchiveState, "sound">): UserError {
  const what = state === "missing" ? "is missing on disk" : "is damaged on disk";
  return new UserError(
    "invalid",
    `The archive of “${driverTitle(driver)}” ${what}: upload ${driver.file_name} again to put it back.`,
  );
}

/**
 * Whether archives are still what was uploaded. Each is read once after a start, and again when its time
 * stamp or size changes, one at a time in the background; until then it is taken for sound.
 */
export class ArchiveCheck {
  readonly #store: Store;
  readonly #workers: Workers;
  readonly #log: (line: string) => void;
  readonly #verdicts = new Map<string, Verdict>();
  /** Digests of the archives that are to be read. */
  readonly #waiting = new Set<string>();
  #running: Promise<void> = Promise.resolve();
  #isRunning = false;
  #isClosed = false;

  constructor(store: Store, workers: Workers, log: (line: string) => void) {
    this.#store = store;
    this.#workers = workers;
    this.#log = log;
  }

  /** Begins to read all archives; nobody waits for it. */
  start(): void {
    for (const sha256 of this.#store.drivers.digests()) this.#enqueue(sha256);
  }

  /** When nothing is being read and nothing waits. */
  settled(): Promise<void> {
    return this.#running;
  }

  /** Begins nothing more. What is being read ends with the worker threads. */
  close(): void {
    this.#isClosed = true;
    this.#waiting.clear();
  }

  /** What is known of a driver's archive now. */
  async stateOf({ sha256, size }: Pick<Driver, "sha256" | "size">): Promise<ArchiveState> {
    const file = await this.#store.blobs.state(this.#store.blobs.archivePath(sha256));
    if (file === undefined) {
      this.#verdicts.delete(sha256);
      return "missing";
    }
    if (file.size !== size) return "damaged";
    const verdict = this.#verdicts.get(sha256);
    if (verdict?.mark === file.mark) return verdict.isSound ? "sound" : "damaged";
    this.#enqueue(sha256);
    return "sound";
  }

  /** @throws UserError "invalid" when the archive is missing or damaged */
  async require(driver: Driver): Promise<void> {
    const state = await this.stateOf(driver);
    if (state !== "sound") throw archiveRefusal(driver, state);
  }

  /** Says that an upload, whose digest was taken as it came, is now a driver's archive. */
  async uploaded(sha256: string): Promise<void> {
    const file = await this.#store.blobs.state(this.#store.blobs.archivePath(sha256));
    if (file !== undefined) this.#verdicts.set(sha256, { mark: file.mark, isSound: true });
  }

  #enqueue(sha256: string): void {
    if (this.#isClosed) return;
    this.#waiting.add(sha256);
    if (!this.#isRunning) this.#running = this.#readAll();
  }

  async #readAll(): Promise<void> {
    this.#isRunning = true;
    for (const sha256 of this.#waiting) {
      await this.#read(sha256).catch((error: unknown) => {
        if (!this.#isClosed) this.#log(`drivers/${sha256}.zip could not be verified: ${messageOf(error)}`);
      });
      // Only now: who asks while it is read has no reason to have it read again.
      this.#waiting.delete(sha256);
    }
    this.#isRunning = false;
  }

  async #read(sha256: string): Promise<void> {
    const source = await this.#store.blobs.open(this.#store.blobs.archivePath(sha256));
    if (source === undefined) return;
    try {
      const { descriptor, size, mark } = source;
      const digest = Buffer.from(await this.#workers.verify({ descriptor, size })).toString("hex");
      this.#verdicts.set(sha256, { mark, isSound: digest === sha256 });
      if (digest !== sha256) {
        this.#log(
          `drivers/${sha256}.zip is damaged: its SHA-256 is ${digest}. Upload the same ZIP again to put it back.`,
        );
      }
    } finally {
      await source.close();
    }
  }
}
