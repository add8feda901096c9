import type { OpenFile } from "../../domain/byte-source.ts";
import type { DeletedRecord } from "../../domain/deletion.ts";
import { type ArchiveState, archiveProblem, type Driver, driverTitle } from "../../domain/drivers/driver.ts";
import { errorMessage, stoppingError, UserError } from "../../domain/errors.ts";
import { singleSourceLayout } from "../../pkg/zip/layout.ts";
import { fileState } from "../../store/files.ts";
import type { Store } from "../../store/store.ts";
import type { Workers } from "../../workers/pool.ts";

interface Verdict {
  /** The version of the file that was read. */
  readonly version: string;
  readonly isSound: boolean;
}

/** The error for an archive that cannot be used. */
export function archiveRefusal(driver: Driver, state: Exclude<ArchiveState, "sound">): UserError {
  const message = `The archive of “${driverTitle(driver)}” ${archiveProblem(driver, state)}`;
  return new UserError("invalid", message, {}, { remedies: [{ kind: "upload", driver }] });
}

/** Reads the archive of a restored driver if it is unread, and returns its problem as a sentence, if any. */
export async function archiveRemarks(
  { store, archives }: { readonly store: Store; readonly archives: Pick<ArchiveCheck, "checkedStateOf"> },
  { kind, recordId }: DeletedRecord,
): Promise<readonly string[]> {
  const driver = kind === "driver" ? store.drivers.find(recordId) : undefined;
  if (driver === undefined) return [];
  // The driver is restored even if its archive cannot be read now. Requests that need the archive read it again.
  const state = await archives.checkedStateOf(driver).catch(() => "sound" as const);
  return state === "sound" ? [] : [`Its archive ${archiveProblem(driver, state)}`];
}

/**
 * Checks whether archives are still what was uploaded. It reads each archive once after the start, and again when its
 * time stamp or size changes, one at a time in the background. Until then, pages treat the archive as sound, and
 * requests for its bytes wait.
 */
export class ArchiveCheck {
  readonly #store: Store;
  readonly #workers: Workers;
  readonly #log: (line: string) => void;
  readonly #verdicts = new Map<string, Verdict>();
  /** Digests of the archives to read, in order. */
  readonly #queue = new Set<string>();
  readonly #urgent = new Map<string, Promise<void>>();
  #running: Promise<void> = Promise.resolve();
  #isRunning = false;
  #isClosed = false;

  constructor(store: Store, workers: Workers, log: (line: string) => void) {
    this.#store = store;
    this.#workers = workers;
    this.#log = log;
  }

  /** Begins to read all archives in the background. */
  start(): void {
    for (const sha256 of this.#store.drivers.digests()) this.#enqueue(sha256);
  }

  /** Resolves when the background queue is empty. */
  finished(): Promise<void> {
    return this.#running;
  }

  /** Begins no more reads. The present read ends with the worker threads. */
  close(): void {
    this.#isClosed = true;
    this.#queue.clear();
  }

  /** The state of a driver's archive without waiting for a read: `sound` while it is unread or the disk fails. */
  async knownStateOf(driver: Pick<Driver, "sha256" | "size">): Promise<ArchiveState> {
    const known = await this.#currentState(driver).catch(() => "unread" as const);
    if (known === "unread") this.#enqueue(driver.sha256);
    return known === "unread" ? "sound" : known;
  }

  /**
   * Reads the archive first if it is unread.
   * @returns the version of the file that is sound
   * @throws UserError "invalid" when it is missing or damaged
   */
  async requireSound(driver: Driver): Promise<string> {
    const state = await this.checkedStateOf(driver);
    const version = this.#verdicts.get(driver.sha256)?.version;
    if (state === "sound" && version !== undefined) return version;
    throw archiveRefusal(driver, state === "sound" ? "missing" : state);
  }

  /** The state of a driver's archive, after reading it if it is unread. @throws Error if it cannot be read */
  async checkedStateOf(driver: Pick<Driver, "sha256" | "size">): Promise<ArchiveState> {
    for (;;) {
      const state = await this.#currentState(driver);
      if (state !== "unread") return state;
      // If another file replaces this one during the read, the loop reads that file too.
      await this.#readUrgently(driver.sha256);
    }
  }

  /** Records that a driver's archive is sound: its digest was calculated during the upload. */
  async recordUpload(sha256: string): Promise<void> {
    const path = this.#store.blobs.pathOf("drivers", sha256);
    // If the disk fails here, the archive is read later like any other.
    const file = await fileState(path).catch(() => undefined);
    if (file !== undefined) this.#verdicts.set(sha256, { version: file.version, isSound: true });
  }

  async #currentState({ sha256, size }: Pick<Driver, "sha256" | "size">): Promise<ArchiveState | "unread"> {
    const file = await fileState(this.#store.blobs.pathOf("drivers", sha256));
    if (file === undefined) {
      this.#verdicts.delete(sha256);
      return "missing";
    }
    if (file.size !== size) return "damaged";
    const verdict = this.#verdicts.get(sha256);
    if (verdict?.version !== file.version) return "unread";
    return verdict.isSound ? "sound" : "damaged";
  }

  /** Reads an archive before those in the background. Requests for the same archive share the read. */
  #readUrgently(sha256: string): Promise<void> {
    const running = this.#urgent.get(sha256);
    if (running !== undefined) return running;
    const work = this.#read(sha256, (file) =>
      this.#workers.digest({ layout: singleSourceLayout(file.size), files: [file] }),
    );
    const over = work.finally(() => this.#urgent.delete(sha256));
    this.#urgent.set(sha256, over);
    return over;
  }

  #enqueue(sha256: string): void {
    if (this.#isClosed) return;
    this.#queue.add(sha256);
    if (!this.#isRunning) this.#running = this.#readAll();
  }

  async #readAll(): Promise<void> {
    this.#isRunning = true;
    for (const sha256 of this.#queue) {
      await this.#read(sha256, (file) => this.#workers.verify(file)).catch((error: unknown) => {
        if (!this.#isClosed) this.#log(`drivers/${sha256}.zip could not be verified: ${errorMessage(error)}`);
      });
      // The digest stays in the queue during the read, so that nothing enqueues it again.
      this.#queue.delete(sha256);
    }
    this.#isRunning = false;
  }

  async #read(sha256: string, digestOf: (file: OpenFile) => Promise<Uint8Array>): Promise<void> {
    const source = await this.#store.blobs.open(this.#store.blobs.pathOf("drivers", sha256));
    if (source === undefined) return;
    try {
      const { descriptor, size, version } = source;
      const isRead = () => this.#verdicts.get(sha256)?.version === version;
      if (isRead()) return;
      // A thread that begins now would outlive the service.
      if (this.#isClosed) throw stoppingError();
      const digest = Buffer.from(await digestOf({ descriptor, size })).toString("hex");
      // An urgent read may have finished first, or another file may have replaced this one.
      const now = await fileState(this.#store.blobs.pathOf("drivers", sha256));
      if (isRead() || now?.version !== version) return;
      this.#verdicts.set(sha256, { version, isSound: digest === sha256 });
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
