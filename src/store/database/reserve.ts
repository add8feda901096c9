import { randomBytes } from "node:crypto";
import { open, rm, stat } from "node:fs/promises";
import { writeDurably } from "../durable-files.ts";

const stepBytes = 64 * 1024;
/** What a file system may need for a save besides the file's own bytes. */
const slackBytes = 16 * 1024;

/** Whether there is no space: on the disk, in a quota, or for a file of this size. */
export function isDiskFull(error: unknown): boolean {
  return ["ENOSPC", "EDQUOT", "EFBIG"].includes((error as NodeJS.ErrnoException).code ?? "");
}

/** The error of a full disk. */
export function noRoom(): Error {
  return Object.assign(new Error("there is no room for a larger file"), { code: "ENOSPC" });
}

/**
 * A file whose only use is the space that it takes: it is given up so that records can be deleted on a full
 * disk, where the database is saved whole beside the old one.
 */
export class Reserve {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Makes the file large enough for a save of so many bytes, if it is not.
   * @throws Error of a full disk; whatever else stands in the way only means that there is no reserve
   */
  async ensure(bytes: number): Promise<void> {
    const wanted = Math.ceil((bytes + slackBytes) / stepBytes) * stepBytes;
    try {
      const size = (await stat(this.#path).catch(() => undefined))?.size ?? 0;
      if (size < wanted) await this.#grow(size, wanted);
    } catch (error) {
      if (isDiskFull(error)) throw error;
    }
  }

  /** Writes a file, where there is no other room in that of the reserve, and makes the reserve again if it can. */
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
      for (let at = from; at < to; at += stepBytes) {
        // Random bytes, because a file system that compresses keeps no space for zeros.
        await handle.writeFile(randomBytes(Math.min(stepBytes, to - at)));
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
