import { randomBytes } from "node:crypto";
import { open, rm, stat } from "node:fs/promises";
import { writeDurably } from "../durable-files.ts";

const blockBytes = 64 * 1024;
/** Bytes that a file system may need for a save besides the file's own bytes. */
const slackBytes = 16 * 1024;

/** Whether a full disk, a quota or a file size limit caused the error. */
export function isDiskFull(error: unknown): boolean {
  return ["ENOSPC", "EDQUOT", "EFBIG"].includes((error as NodeJS.ErrnoException).code ?? "");
}

export function diskFullError(): Error {
  return Object.assign(new Error("there is no room for a larger file"), { code: "ENOSPC" });
}

/**
 * A file that only reserves space. A save writes the whole database beside the old one, so on a full disk the reserve is
 * deleted to make room for saving a deletion.
 */
export class Reserve {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Makes the file large enough for a save of this many bytes.
   * @throws the error of a full disk. It ignores other errors: then there is no reserve, or a smaller one.
   */
  async ensure(bytes: number): Promise<void> {
    const wanted = Math.ceil((bytes + slackBytes) / blockBytes) * blockBytes;
    try {
      const size = (await stat(this.#path).catch(() => undefined))?.size ?? 0;
      if (size < wanted) await this.#grow(size, wanted);
    } catch (error) {
      if (isDiskFull(error)) throw error;
    }
  }

  /** Writes a file. On a full disk it deletes the reserve first. Afterwards it makes the reserve again if possible. */
  async spend(path: string, bytes: Uint8Array): Promise<void> {
    try {
      await writeDurably(path, bytes);
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      await rm(this.#path, { force: true });
      await writeDurably(path, bytes);
    }
    await this.ensure(bytes.length).catch(() => {});
  }

  async #grow(from: number, to: number): Promise<void> {
    const handle = await open(this.#path, "a");
    try {
      for (let at = from; at < to; at += blockBytes) {
        // Random bytes, because a compressing file system reserves no space for zeros.
        await handle.writeFile(randomBytes(Math.min(blockBytes, to - at)));
      }
      await handle.sync();
    } catch (error) {
      await handle.truncate(from);
      throw error;
    } finally {
      await handle.close();
    }
  }
}
