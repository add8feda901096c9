import { Unsettled, writeDurably } from "../durable-files.ts";
import { isDiskFull, noRoom, Reserve } from "./reserve.ts";

/** How a batch is saved: as ever; on a full disk, where the file may not grow; or there, with nothing kept of what goes. */
export type SaveMode = "ordinary" | "reserve" | "final";

/** The mode in which what frees space is tried again; undefined where nothing helps. */
export function modeAfter(mode: SaveMode, error: unknown): SaveMode | undefined {
  if (!isDiskFull(error) || mode === "final") return undefined;
  return mode === "ordinary" ? "reserve" : "final";
}

/** A database as it is on disk. */
export interface SavedState {
  /** Never written to. */
  readonly bytes: Uint8Array;
  /** UTC, milliseconds since 1970; 0 where nothing was ever written. */
  readonly savedAt: number;
}

/** So much later it is tried again to put back what a refused save left, in milliseconds. */
const againMs = 1000;

/** The database's file, with a reserve beside it that keeps room for the next deletion. */
export class SavedFile {
  readonly #path: string;
  readonly #reserve: Reserve;
  readonly #saveAgain: () => Promise<void>;
  #bytes: Uint8Array;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /**
   * @param bytes what the file holds; none where there is no file yet
   * @param saveAgain saves what is acknowledged once more, when no other save is under way
   */
  constructor(path: string, bytes: Uint8Array, saveAgain: () => Promise<void>) {
    this.#path = path;
    this.#reserve = new Reserve(`${path}.reserve`);
    this.#bytes = bytes;
    this.#saveAgain = saveAgain;
  }

  /** What is on disk, and was acknowledged. Nobody writes into it. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** Makes the reserve where it is missing and there is room. */
  async prepare(): Promise<void> {
    await this.#reserve.ensure(this.#bytes.length).catch(() => {});
  }

  /** Acknowledged only with a reserve for the next deletion, save for what frees space on a full disk. */
  async save(bytes: Uint8Array, mode: SaveMode): Promise<void> {
    // A file that does not grow leaves room for a reserve of the same size when the old one is gone.
    if (mode === "reserve" && bytes.length > this.#bytes.length) throw noRoom();
    try {
      if (mode === "ordinary") {
        await this.#reserve.ensure(bytes.length);
        await writeDurably(this.#path, bytes);
      } else await this.#reserve.spend(this.#path, bytes);
    } catch (error) {
      if (error instanceof Unsettled) await this.#putBack();
      throw error;
    }
    this.#bytes = bytes;
    clearTimeout(this.#timer);
  }

  /** Ends what waits: from then on the file is somebody else's. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** What is refused must not be there after the next start. Where this fails too, it is tried again until a save succeeds. */
  async #putBack(): Promise<void> {
    if (this.#bytes.length > 0) await writeDurably(this.#path, this.#bytes).catch(() => this.#putBackLater());
  }

  #putBackLater(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#saveAgain().catch(() => this.#putBackLater()), againMs);
    this.#timer.unref();
  }
}
