import { createHash, randomUUID } from "node:crypto";
import { type FileHandle, open, readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { MissingFile, stoppingError, UserError } from "../domain/errors.ts";
import {
  makeFolder,
  makeMarker,
  moveIntoPlace,
  removeDurably,
  undefinedIfAbsent,
  writeAll,
} from "./durable-files.ts";
import { type FileSource, fileState, openSource } from "./files.ts";

export const blobKinds = ["drivers", "icons", "preferences"] as const;
export type BlobKind = (typeof blobKinds)[number];
/** The kinds of files that fit into memory. */
export type SmallKind = Exclude<BlobKind, "drivers">;

const extensions: Readonly<Record<BlobKind, string>> = {
  drivers: "zip",
  icons: "png",
  preferences: "dat",
};

export function blobName(kind: BlobKind, sha256: string): string {
  return `${sha256}.${extensions[kind]}`;
}

/** The digest in a file's name; undefined for a name that Platen does not use. */
export function blobDigest(kind: BlobKind, name: string): string | undefined {
  const sha256 = name.slice(0, 64);
  return /^[0-9a-f]{64}$/.test(sha256) && name === blobName(kind, sha256) ? sha256 : undefined;
}

/** An upload that is on disk and synced, but not yet in its final folder. */
export interface Incoming {
  readonly path: string;
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
}

/** The file for the ZIP inside an upload. @param path of the upload */
export function innerPath(path: string): string {
  return `${path}.inner`;
}

/** The form of `randomUUID`, also as `innerPath` changes it. */
const incomingName = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?:\.inner)?$/;

/** The content of a file. */
interface WholeFile {
  readonly bytes: Buffer;
  /** The `FileSource.version` of the file. */
  readonly version: string;
}

/** Files named by the SHA-256 of their content: `drivers/<sha256>.zip`, `icons/<sha256>.png`. */
export class Blobs {
  /** The digests of icons and preferences that were missing or damaged when they were last read. */
  readonly damaged = new Set<string>();
  readonly #incoming: string;
  readonly #folders: Readonly<Record<BlobKind, string>>;

  /** The last queued work for each digest. */
  readonly #lastWork = new Map<string, Promise<void>>();
  /** Uploads that are being received or discarded. */
  readonly #uploads = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(dataDir: string) {
    this.#incoming = join(dataDir, "incoming");
    const folders = blobKinds.map((kind) => [kind, join(dataDir, kind)] as const);
    this.#folders = Object.fromEntries(folders) as Record<BlobKind, string>;
  }

  /** Makes the folders and deletes uploads that a crash left. Files with other names stay. */
  async prepare(): Promise<void> {
    for (const folder of [this.#incoming, ...Object.values(this.#folders)]) await makeFolder(folder);
    for (const name of await readdir(this.#incoming))
      if (incomingName.test(name)) await rm(join(this.#incoming, name), { force: true });
  }

  /**
   * Runs `work` after all earlier work for the same digest. Every change of a file and its record must run
   * through this. Otherwise one request could delete the file that another has just added.
   */
  inOrder<T>(sha256: string, work: () => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(stoppingError());
    const result = (this.#lastWork.get(sha256) ?? Promise.resolve()).then(work);
    const done = result.then(
      () => {},
      () => {},
    );
    this.#lastWork.set(sha256, done);
    void done.then(() => {
      if (this.#lastWork.get(sha256) === done) this.#lastWork.delete(sha256);
    });
    return result;
  }

  /** Refuses new work. Resolves when no upload and no queued work is left, so that another process may use the folder. */
  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#lastWork.size + this.#uploads.size > 0) {
      await Promise.allSettled([...this.#lastWork.values(), ...this.#uploads]);
      // The caller of an upload that just ended may discard it now.
      await new Promise(setImmediate);
    }
  }

  pathOf(kind: BlobKind, sha256: string): string {
    return join(this.#folders[kind], blobName(kind, sha256));
  }

  /**
   * Streams an upload into a temporary file and computes its digest. A failed upload leaves no file. After a success, the
   * caller must call `discard`, even after `keep`.
   */
  receive(stream: Readable): Promise<Incoming> {
    return this.#isClosed ? Promise.reject(stoppingError()) : this.#track(this.#receive(stream));
  }

  /** Deletes the temporary files of an upload, if `keep` has not moved them. */
  discard(incoming: Pick<Incoming, "path">): Promise<void> {
    return this.#track(this.#discard(incoming));
  }

  async #track<T>(work: Promise<T>): Promise<T> {
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
      // The file exists before the stream is read. So the `catch` below deletes it whenever the stream fails.
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
    // If this fails, the next start deletes the file. The upload itself is not affected.
    for (const file of [path, innerPath(path)]) await rm(file, { force: true }).catch(() => {});
  }

  /**
   * Moves an upload to its final place and makes its record. If `record` throws, the file is deleted again unless it was
   * there before. Call this only within `inOrder`. @throws what `record` throws
   */
  async keep<T>(kind: BlobKind, incoming: Incoming, record: () => Promise<T>): Promise<T> {
    const path = this.pathOf(kind, incoming.sha256);
    await makeFolder(dirname(path));
    this.damaged.delete(incoming.sha256);
    if ((await fileState(path)) !== undefined) {
      await moveIntoPlace(incoming.path, path);
      return record();
    }
    const marker = join(this.#incoming, basename(path));
    try {
      await makeMarker(marker);
      await moveIntoPlace(incoming.path, path);
      const result = await record();
      await rm(marker, { force: true }).catch(() => {});
      return result;
    } catch (error) {
      // If this fails, the marker tells the next start that the file has no record.
      await rm(path, { force: true })
        .then(() => rm(marker, { force: true }))
        .catch(() => {});
      throw error;
    }
  }

  /** Call this only within `inOrder`. */
  remove(kind: BlobKind, sha256: string): Promise<void> {
    return removeDurably(this.pathOf(kind, sha256));
  }

  /**
   * Reads an icon or preferences, and compares the SHA-256.
   * @param what the file in the error
   * @throws MissingFile; UserError "invalid" if it is damaged
   */
  async read(
    kind: SmallKind,
    sha256: string,
    what = `${kind}/${blobName(kind, sha256)}`,
  ): Promise<WholeFile> {
    const file = await this.readWhole(this.pathOf(kind, sha256));
    this.damaged.delete(sha256);
    if (file !== undefined && createHash("sha256").update(file.bytes).digest("hex") === sha256) return file;
    this.damaged.add(sha256);
    const [problem, Problem] = file === undefined ? ["missing", MissingFile] : ["damaged", UserError];
    throw new Problem("invalid", `${what} is ${problem} on the server. Upload it again, or delete it.`);
  }

  /** Undefined when there is no such file. */
  async readWhole(path: string): Promise<WholeFile | undefined> {
    const source = await this.open(path);
    try {
      return source && { bytes: await source.read(0, source.size), version: source.version };
    } finally {
      await source?.close();
    }
  }

  /** Undefined when there is no such file. The caller closes the file. */
  open(path: string): Promise<FileSource | undefined> {
    return openSource(path).catch(undefinedIfAbsent);
  }
}

/**
 * Writes a stream into a file, computes its digest, and syncs the file. An error of the disk destroys the stream.
 * @throws an error of the stream or of the disk
 */
export async function writeUpload(stream: Readable, file: FileHandle): Promise<Omit<Incoming, "path">> {
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const writing = writeAll(file, [chunk]);
    // Hashing runs on this thread while another thread writes.
    hash.update(chunk);
    size += await writing;
  }
  await file.sync();
  return { sha256: hash.digest("hex"), size };
}
