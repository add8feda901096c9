import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import type { Readable } from "node:stream";
import { writeAll } from "./durable-files.ts";

const mebi = 1024 * 1024;
/** Written in one piece where few uploads come at a time; all of them together gather no more than `gatheredBytes`. */
const blockBytes = mebi;
const leastBlockBytes = 64 * 1024;
const gatheredBytes = 8 * mebi;
/** Small chunks are not gathered for long: each takes memory of its own. */
const blockChunks = 64;
/** The disk is made to write whenever so many bytes have come: little is left to wait for at the end. */
const syncBytes = 16 * mebi;

/** What was written. */
interface Written {
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
}

/** Writes uploads into files, and takes their digests. */
export class UploadWriter {
  #uploads = 0;
  /** One sync at a time while uploads come: other work with files has threads left. */
  #isSyncing = false;

  /**
   * Writes all of a stream, and syncs it. Nothing goes on in the file any more when this settles.
   * @param arrived is told each time how many bytes stand in the file
   * @throws Error of the stream or of the disk
   */
  async write(stream: Readable, file: FileHandle, arrived: (bytes: number) => void): Promise<Written> {
    const hash = createHash("sha256");
    const output = new Output(file, arrived, (error) => stream.destroy(error));
    this.#uploads++;
    try {
      for await (const block of this.#blocks(stream)) {
        for (const chunk of block) hash.update(chunk);
        await output.write(block);
        if (output.unsynced >= syncBytes && !this.#isSyncing) this.#sync(output);
      }
      const size = await output.finish();
      return { sha256: hash.digest("hex"), size };
    } finally {
      this.#uploads--;
      await output.settle();
    }
  }

  async *#blocks(stream: Readable): AsyncGenerator<readonly Buffer[]> {
    let block: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      block.push(chunk);
      bytes += chunk.length;
      if (bytes < this.#blockBytes() && block.length < blockChunks) continue;
      yield block;
      block = [];
      bytes = 0;
    }
    yield block;
  }

  #blockBytes(): number {
    return Math.max(leastBlockBytes, Math.min(blockBytes, gatheredBytes / this.#uploads));
  }

  #sync(output: Output): void {
    this.#isSyncing = true;
    void output.sync().finally(() => {
      this.#isSyncing = false;
    });
  }
}

/** A file that is being written: one block while the next one is gathered. */
class Output {
  readonly #file: FileHandle;
  readonly #arrived: (bytes: number) => void;
  readonly #stop: (error: Error) => void;
  #writing: Promise<void> = Promise.resolve();
  #syncing: Promise<void> = Promise.resolve();
  #error: Error | undefined;
  #size = 0;
  unsynced = 0;

  /** @param stop is told immediately of an error of the disk, which whoever waits next is told as well */
  constructor(file: FileHandle, arrived: (bytes: number) => void, stop: (error: Error) => void) {
    this.#file = file;
    this.#arrived = arrived;
    this.#stop = stop;
  }

  /** Begins to write a block when the one before is written. */
  async write(block: readonly Buffer[]): Promise<void> {
    await this.#writing;
    this.#writing = this.#put(block).catch((error: Error) => this.#fail(error));
  }

  /** Settles, never with an error, when the disk has what was written so far. */
  sync(): Promise<void> {
    this.unsynced = 0;
    this.#syncing = this.#file.datasync().catch((error: Error) => this.#fail(error));
    return this.#syncing;
  }

  /** How many bytes there are, when the disk has them all. @throws Error of the disk, also one of before */
  async finish(): Promise<number> {
    await this.settle();
    if (this.#error !== undefined) throw this.#error;
    await this.#file.sync();
    return this.#size;
  }

  /** When nothing is under way. */
  async settle(): Promise<void> {
    await Promise.all([this.#writing, this.#syncing]);
  }

  async #put(block: readonly Buffer[]): Promise<void> {
    const bytes = await writeAll(this.#file, block);
    this.unsynced += bytes;
    this.#size += bytes;
    this.#arrived(this.#size);
  }

  /** The disk says only once that it failed: no later success hides that. */
  #fail(error: Error): void {
    this.#error ??= error;
    this.#stop(error);
  }
}
