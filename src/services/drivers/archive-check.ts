import type { OpenFile } from "../../domain/byte-source.ts";
import type { DeletedRecord } from "../../domain/deletion.ts";
import { type ArchiveState, archiveProblem, type Driver, driverTitle } from "../../domain/drivers/driver.ts";
import { errorMessage, stoppingError, UserError } from "../../domain/errors.ts";
import { singleSourceLayout } from "../../pkg/zip/layout.ts";
import { fileState } from "../../store/files.ts";
import type { Store } from "../../store/store.ts";
import type { Workers } from "../../workers/pool.ts";

/** The result of reading an archive. */
interface Verdict {
  /** The `FileSource.version` of the file that was read. */
  readonly version: string;
  readonly isSound: boolean;
}

/** The error for an archive that cannot be used. */
export function archiveRefusal(driver: Driver, state: Exclude<ArchiveState, "sound">): UserError {
  const message = `The ZIP of “${driverTitle(driver)}” ${archiveProblem(driver, state)}`;
  return new UserError("invalid", message, {}, { remedies: [{ kind: "upload" }] });
}

/**
 * The problem of a restored driver's archive, as a sentence. Empty without a problem, and for other records. Reads the
 * archive if it is unread.
 */
export async function archiveRemarks(
  { store, archives }: { readonly store: Store; readonly archives: Pick<ArchiveCheck, "checkedStateOf"> },
  { kind, recordId }: DeletedRecord,
): Promise<readonly string[]> {
  const driver = kind === "driver" ? store.drivers.find(recordId) : undefined;
  if (driver === undefined) return [];
  // A failing disk does not prevent the restore. Requests that need the archive read it again.
  const state = await archives.checkedStateOf(driver).catch(() => "sound" as const);
  return state === "sound" ? [] : [`Its ZIP ${archiveProblem(driver, state)}`];
}

/**
 * Checks that archives still have the SHA-256 of their upload. It reads archives in the background, one at a time: each
 * once after the start, and again after its file has changed. Pages show an unread archive as sound. Requests for its
 * bytes wait until it is read.
 */
export class ArchiveCheck {
  readonly #store: Store;
  readonly #workers: Workers;
  readonly #log: (line: string) => void;
  /** By digest. */
  readonly #verdicts = new Map<string, Verdict>();
  /** Digests of the archives to read in the background, in order. */
  readonly #queue = new Set<string>();
  /** Reads that requests wait for, by digest. */
  readonly #urgent = new Map<string, Promise<void>>();
  /** The background reads, until the queue is empty. */
  #running: Promise<void> = Promise.resolve();
  #checking: Promise<void> = Promise.resolve();
  #isRunning = false;
  #isClosed = false;

  constructor(store: Store, workers: Workers, log: (line: string) => void) {
    this.#store = store;
    this.#workers = workers;
    this.#log = log;
  }

  /** Begins to read all archives in the background, and once all other files. */
  start(): void {
    for (const sha256 of this.#store.drivers.digests()) this.#enqueue(sha256);
    this.#checking = this.#checkSmallFiles();
  }

  /** Resolves when the background queue is empty. */
  async finished(): Promise<void> {
    await Promise.all([this.#running, this.#checking]);
  }

  /** Starts no more reads. A running read ends when the worker threads end. */
  close(): void {
    this.#isClosed = true;
    this.#queue.clear();
  }

  /**
   * The state of a driver's archive, without waiting for a read. An unread archive counts as sound and is read in the
   * background. It also counts as sound while the disk fails.
   */
  async knownStateOf(driver: Pick<Driver, "sha256" | "size">): Promise<ArchiveState> {
    const known = await this.#currentState(driver).catch(() => "unread" as const);
    if (known === "unread") this.#enqueue(driver.sha256);
    return known === "unread" ? "sound" : known;
  }

  /**
   * Reads the archive first if it is unread.
   * @returns the `FileSource.version` of the sound file
   * @throws UserError "invalid" when it is missing or damaged, Error if it cannot be read
   */
  async requireSound(driver: Driver): Promise<string> {
    const state = await this.checkedStateOf(driver);
    const version = this.#verdicts.get(driver.sha256)?.version;
    if (state === "sound" && version !== undefined) return version;
    // Without a verdict, the file disappeared after its state was checked.
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

  /** Records that an uploaded archive is sound. It is not read again, because the upload computed its digest. */
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

  /** Reads an archive without waiting for the background reads. Requests for the same archive share the read. */
  #readUrgently(sha256: string): Promise<void> {
    const running = this.#urgent.get(sha256);
    if (running !== undefined) return running;
    const work = this.#read(sha256, (file) =>
      this.#workers.digest({ layout: singleSourceLayout(file.size), files: [file] }),
    );
    const done = work.finally(() => this.#urgent.delete(sha256));
    this.#urgent.set(sha256, done);
    return done;
  }

  async #checkSmallFiles(): Promise<void> {
    const { blobs, icons, preferences, signatures } = this.#store;
    const reads = [
      ...[...icons.digests()].map((sha256) => () => blobs.read("icons", sha256)),
      ...[...preferences.digests()].map((sha256) => () => blobs.read("preferences", sha256)),
      ...[...signatures.digests.keys()].map((digest) => () => signatures.read(digest)),
    ];
    for (const read of reads)
      if (!this.#isClosed) await read().catch((error: unknown) => this.#log(errorMessage(error)));
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
    if (source === undefined)
      return this.#log(`drivers/${sha256}.zip is missing. Upload the same ZIP again to put it back.`);
    try {
      const { descriptor, size, version } = source;
      const isRead = () => this.#verdicts.get(sha256)?.version === version;
      if (isRead()) return;
      // A worker thread that starts now would keep running after the service stopped.
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
