import { FolderNotSynced, writeDurably } from "../durable-files.ts";
import { diskFullError, isDiskFull, Reserve } from "./reserve.ts";

/**
 * How writes are saved: normally; on a full disk, with the reserve, if the file does not grow; or on a full disk, with the
 * reserve and final deletions.
 */
export type SaveMode = "ordinary" | "reserve" | "final";

/** The mode in which writes that free space are retried; undefined when no mode can help. */
export function retryMode(mode: SaveMode, error: unknown): SaveMode | undefined {
  if (!isDiskFull(error) || mode === "final") return undefined;
  return mode === "ordinary" ? "reserve" : "final";
}

/** A database as it is on disk. */
export interface SavedState {
  /** Never changed. */
  readonly bytes: Uint8Array;
  /** UTC, milliseconds since 1970; 0 before the first write. */
  readonly savedAt: number;
}

/** The time between two attempts to restore the file after a refused save. */
const retryMs = 1000;

/** The database's file, with a reserve beside it that leaves room for the next deletion. */
export class SavedFile {
  readonly #path: string;
  readonly #reserve: Reserve;
  readonly #resave: () => Promise<void>;
  #bytes: Uint8Array;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /**
   * @param bytes the file's content; empty when there is no file yet
   * @param resave saves the acknowledged state again, when no other save is under way
   */
  constructor(path: string, bytes: Uint8Array, resave: () => Promise<void>) {
    this.#path = path;
    this.#reserve = new Reserve(`${path}.reserve`);
    this.#bytes = bytes;
    this.#resave = resave;
  }

  /** The acknowledged state on disk. Do not change it. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** Makes the reserve if it is missing and there is room. */
  async prepare(): Promise<void> {
    await this.#reserve.ensure(this.#bytes.length).catch(() => {});
  }

  /** An ordinary save needs a reserve for the next deletion. @throws an error of the disk */
  async save(bytes: Uint8Array, mode: SaveMode): Promise<void> {
    // A file that did not grow leaves room for a new reserve once it has replaced the old file.
    if (mode === "reserve" && bytes.length > this.#bytes.length) throw diskFullError();
    try {
      if (mode === "ordinary") {
        await this.#reserve.ensure(bytes.length);
        await writeDurably(this.#path, bytes);
      } else await this.#reserve.spend(this.#path, bytes);
    } catch (error) {
      if (error instanceof FolderNotSynced) await this.#restore();
      throw error;
    }
    this.#bytes = bytes;
    clearTimeout(this.#timer);
  }

  /** Cancels a pending retry: another process may use the file from now on. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** Writes the acknowledged state again: the next start must not find the refused one. Retries until a save succeeds. */
  async #restore(): Promise<void> {
    if (this.#bytes.length > 0) await writeDurably(this.#path, this.#bytes).catch(() => this.#restoreLater());
  }

  #restoreLater(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#resave().catch(() => this.#restoreLater()), retryMs);
    this.#timer.unref();
  }
}
