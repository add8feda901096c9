import { createHash, randomUUID } from "node:crypto";
import { type FileHandle, open, readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { stopping } from "../domain/errors.ts";
import {
  makeFolder,
  makeMark,
  moveIntoPlace,
  removeDurably,
  undefinedIfAbsent,
  writeAll,
} from "./durable-files.ts";
import { type FileSource, fileState, openSource } from "./files.ts";

/** An upload that is on disk, synced, and not yet anywhere that counts. */
export interface Incoming {
  readonly path: string;
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
}

/** As `randomUUID` makes them. */
const incomingName = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Files that are named by the SHA-256 of their content: `drivers/<sha256>.zip`, `icons/<sha256>.png`. */
export class Blobs {
  readonly #incoming: string;
  readonly #folders: Readonly<Record<BlobKind, string>>;

  /** The last work that was asked for, by digest. */
  readonly #turns = new Map<string, Promise<void>>();
  /** Uploads that are being received or given up. */
  readonly #uploads = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(dataDir: string) {
    this.#incoming = join(dataDir, "incoming");
    this.#folders = { drivers: join(dataDir, "drivers"), icons: join(dataDir, "icons") };
  }

  /** Makes the folders and deletes the uploads that a crash left behind: files with names of ours alone. */
  async prepare(): Promise<void> {
    for (const folder of [this.#incoming, ...Object.values(this.#folders)]) await makeFolder(folder);
    for (const name of await readdir(this.#incoming))
      if (incomingName.test(name)) await rm(join(this.#incoming, name), { force: true });
  }

  /**
   * Runs `work` when all that was asked for before it for the same digest is over. Whoever puts or deletes a
   * file together with its record does it in here: else one would delete the file that another just put.
   */
  inTurn<T>(sha256: string, work: () => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(stopping());
    const result = (this.#turns.get(sha256) ?? Promise.resolve()).then(work);
    const over = result.then(
      () => {},
      () => {},
    );
    this.#turns.set(sha256, over);
    void over.then(() => {
      if (this.#turns.get(sha256) === over) this.#turns.delete(sha256);
    });
    return result;
  }

  /** Begins nothing more; settles when no upload and no turn is under way: then another process may have the folder. */
  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#turns.size + this.#uploads.size > 0) {
      await Promise.allSettled([...this.#turns.values(), ...this.#uploads]);
      // Whoever waited for an upload may give it up now.
      await new Promise(setImmediate);
    }
  }

  pathOf(kind: BlobKind, sha256: string): string {
    return join(this.#folders[kind], blobName(kind, sha256));
  }

  /**
   * Streams an upload into a temporary file while its digest is taken. The file is gone when it fails; after a
   * success, `discard` must follow whatever becomes of it.
   */
  receive(stream: Readable): Promise<Incoming> {
    return this.#isClosed ? Promise.reject(stopping()) : this.#untilDone(this.#receive(stream));
  }

  /** Gives up an upload; the file stays when it was kept already. */
  discard(incoming: Pick<Incoming, "path">): Promise<void> {
    return this.#untilDone(this.#discard(incoming));
  }

  async #untilDone<T>(work: Promise<T>): Promise<T> {
    this.#uploads.add(work);
    try {
      return await work;
    } finally {
      this.#uploads.delete(work);
    }
  }

  async #receive(stream: Readable): Promise<Incoming> {
    await makeFolder(this.#incoming);
    const path = join(this.#incoming, randomUUID());
    try {
      // Opened before anything else: a file that is made only after its stream failed would stay.
      const file = await open(path, "wx");
      try {
        return { path, ...(await writeUpload(stream, file)) };
      } finally {
        await file.close();
      }
    } catch (error) {
      await this.#discard({ path });
      throw error;
    }
  }

  async #discard({ path }: Pick<Incoming, "path">): Promise<void> {
    // Where it stays, the next start deletes it; what became of the upload is another matter.
    await rm(path, { force: true }).catch(() => {});
  }

  /**
   * Puts an upload in its place with its record. A file that was there before, with a record or without, stays whatever
   * becomes of this one. Only within `inTurn`. @throws whatever `record` throws
   */
  async keep<T>(kind: BlobKind, incoming: Incoming, record: () => Promise<T>): Promise<T> {
    const path = this.pathOf(kind, incoming.sha256);
    await makeFolder(dirname(path));
    if ((await fileState(path)) !== undefined) {
      await moveIntoPlace(incoming.path, path);
      return record();
    }
    const mark = join(this.#incoming, basename(path));
    try {
      await makeMark(mark);
      await moveIntoPlace(incoming.path, path);
      const result = await record();
      await rm(mark, { force: true }).catch(() => {});
      return result;
    } catch (error) {
      // Where that fails, the mark says to the next start that the file has no record.
      await removeBoth(path, mark).catch(() => {});
      throw error;
    }
  }

  /** Only within `inTurn`. */
  async remove(kind: BlobKind, sha256: string): Promise<void> {
    await removeDurably(this.pathOf(kind, sha256));
  }

  /** Opens a file, or answers undefined when it is not there. */
  async open(path: string): Promise<FileSource | undefined> {
    return openSource(path).catch(undefinedIfAbsent);
  }
}

async function removeBoth(path: string, mark: string): Promise<void> {
  await rm(path, { force: true });
  await rm(mark, { force: true });
}

/**
 * Writes all of a stream into a file while its digest is taken, and syncs it. A disk that fails ends the stream.
 * @throws Error of the stream or of the disk
 */
export async function writeUpload(stream: Readable, file: FileHandle): Promise<Omit<Incoming, "path">> {
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const writing = writeAll(file, [chunk]);
    // Hashing takes this thread, writing another one.
    hash.update(chunk);
    size += await writing;
  }
  await file.sync();
  return { sha256: hash.digest("hex"), size };
}

/** The folders of files that are named by the SHA-256 of their content. */
export const blobKinds = ["drivers", "icons"] as const;
export type BlobKind = (typeof blobKinds)[number];

const extensions: Readonly<Record<BlobKind, string>> = { drivers: "zip", icons: "png" };

export function blobName(kind: BlobKind, sha256: string): string {
  return `${sha256}.${extensions[kind]}`;
}

/** The digest that a file's name gives; undefined for a name that is none of ours. */
export function blobDigest(kind: BlobKind, name: string): string | undefined {
  const sha256 = name.slice(0, 64);
  return /^[0-9a-f]{64}$/.test(sha256) && name === blobName(kind, sha256) ? sha256 : undefined;
}
