import type { OpenFile } from "../../domain/byte-source.ts";
import type { DeletedRecord } from "../../domain/deletion.ts";
import { type ArchiveState, archiveProblem, type Driver, driverTitle } from "../../domain/drivers/driver.ts";
import { messageOf, stopping, UserError } from "../../domain/errors.ts";
import { wholeOf } from "../../pkg/zip/layout.ts";
import { fileState } from "../../store/files.ts";
import type { Store } from "../../store/store.ts";
import type { Workers } from "../../workers/pool.ts";

interface Verdict {
  /** Of the file that was read. */
  readonly version: string;
  readonly isSound: boolean;
}

/** What a person is told of an archive that cannot be used. */
export function archiveRefusal(driver: Driver, state: Exclude<ArchiveState, "sound">): UserError {
  const message = `The archive of “${driverTitle(driver)}” ${archiveProblem(driver, state)}`;
  return new UserError("invalid", message, {}, { remedies: [{ kind: "upload", driver }] });
}

/** What is wrong with the archive of a driver that came back; it is read first where it is another one by now. */
export async function archiveNotes(
  { store, archives }: { readonly store: Store; readonly archives: Pick<ArchiveCheck, "readStateOf"> },
  { kind, recordId }: DeletedRecord,
): Promise<readonly string[]> {
  const driver = kind === "driver" ? store.drivers.find(recordId) : undefined;
  if (driver === undefined) return [];
  // The driver is back all the same; what could not be read is read again by who needs it.
  const state = await archives.readStateOf(driver).catch(() => "sound" as const);
  return state === "sound" ? [] : [`Its archive ${archiveProblem(driver, state)}`];
}

/**
 * Whether archives are still what was uploaded. Each is read once after a start, and again when its time
 * stamp or size changes, one at a time in the background. Pages take it for sound until then; whoever wants its
 * bytes waits until it has been read.
 */
export class ArchiveCheck {
  readonly #store: Store;
  readonly #workers: Workers;
  readonly #log: (line: string) => void;
  readonly #verdicts = new Map<string, Verdict>();
  /** Digests of the archives that are to be read. */
  readonly #waiting = new Set<string>();
  readonly #urgent = new Map<string, Promise<void>>();
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

  /** What is known of a driver's archive now. What was saved is answered also where the disk says nothing at the moment. */
  async stateOf(driver: Pick<Driver, "sha256" | "size">): Promise<ArchiveState> {
    const known = await this.#known(driver).catch(() => "unread" as const);
    if (known === "unread") this.#enqueue(driver.sha256);
    return known === "unread" ? "sound" : known;
  }

  /**
   * Reads the archive first where nobody has.
   * @returns the version of the file that is sound
   * @throws UserError "invalid" when it is missing or damaged
   */
  async require(driver: Driver): Promise<string> {
    const state = await this.readStateOf(driver);
    const version = this.#verdicts.get(driver.sha256)?.version;
    if (state === "sound" && version !== undefined) return version;
    throw archiveRefusal(driver, state === "sound" ? "missing" : state);
  }

  /** What is known of a driver's archive once it was read. @throws Error where it cannot be read */
  async readStateOf(driver: Pick<Driver, "sha256" | "size">): Promise<ArchiveState> {
    for (;;) {
      const state = await this.#known(driver);
      if (state !== "unread") return state;
      // Another file may come in its place while it is read: that one is read too.
      await this.#readNow(driver.sha256);
    }
  }

  async #known({ sha256, size }: Pick<Driver, "sha256" | "size">): Promise<ArchiveState | "unread"> {
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

  /** For all who wait for the same archive at once, and before those in the background. */
  #readNow(sha256: string): Promise<void> {
    const running = this.#urgent.get(sha256);
    if (running !== undefined) return running;
    const work = this.#read(sha256, (file) =>
      this.#workers.digest({ layout: wholeOf(file.size), files: [file] }),
    );
    const over = work.finally(() => this.#urgent.delete(sha256));
    this.#urgent.set(sha256, over);
    return over;
  }

  /** Says that an upload, whose digest was taken as it came, is now a driver's archive. */
  async uploaded(sha256: string): Promise<void> {
    const path = this.#store.blobs.pathOf("drivers", sha256);
    // Where the disk does not say, it is read like any other.
    const file = await fileState(path).catch(() => undefined);
    if (file !== undefined) this.#verdicts.set(sha256, { version: file.version, isSound: true });
  }

  #enqueue(sha256: string): void {
    if (this.#isClosed) return;
    this.#waiting.add(sha256);
    if (!this.#isRunning) this.#running = this.#readAll();
  }

  async #readAll(): Promise<void> {
    this.#isRunning = true;
    for (const sha256 of this.#waiting) {
      await this.#read(sha256, (file) => this.#workers.verify(file)).catch((error: unknown) => {
        if (!this.#isClosed) this.#log(`drivers/${sha256}.zip could not be verified: ${messageOf(error)}`);
      });
      // Only now: who asks while it is read has no reason to have it read again.
      this.#waiting.delete(sha256);
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
      if (this.#isClosed) throw stopping();
      const digest = Buffer.from(await digestOf({ descriptor, size })).toString("hex");
      // Somebody who could not wait may have been quicker, and has said it; or the file is another one by now.
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
