import { createHash, randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import type { DatabaseFacts } from "../../domain/backup/backup.ts";
import {
  type BackupFile,
  checkBackupFile,
  isBackupName,
  type Manifest,
  manifestName,
  manifestText,
} from "../../domain/backup/full-backup.ts";
import { tarEnd, tarHeader, tarPaddingBytes } from "../../domain/backup/tar.ts";
import { linesBefore } from "../audit/files.ts";
import { blobKinds, blobName } from "../blobs.ts";
import { exists, moveIntoPlace, noneIfAbsent, ownerOnly, undefinedIfAbsent } from "../durable-files.ts";
import { type FileSource, openSource } from "../files.ts";
import { readFileFacts } from "../records.ts";
import { isSwapping } from "./swap.ts";

interface BackupOptions {
  readonly dataDir: string;
  /** The version of Platen. */
  readonly version: string;
  /** UTC, milliseconds since 1970. */
  readonly now: number;
}

type Source = Pick<FileSource, "size" | "read">;

const chunkBytes = 1024 * 1024;

/**
 * Everything in a DATA_DIR as a tar archive. A service may be running on it. Archives and icons, which never change, come
 * first. A state of the database follows that refers to no other files, then the secret, the audit log and the manifest.
 */
export class FullBackup {
  readonly #options: BackupOptions;
  readonly #files = new Map<string, BackupFile>();
  #missing: readonly string[] = [];
  /** The digest of the secret that the database knows. Empty before `chunks`, and if it knows none. */
  secretSha256 = "";

  constructor(options: BackupOptions) {
    this.#options = options;
  }

  /** The files written so far. */
  get manifest(): Manifest {
    const { version, now } = this.#options;
    return { version, madeAt: now, files: [...this.#files.values()], missing: this.#missing };
  }

  /** The bytes of the archive. @throws Error when there is nothing to back up */
  async *chunks(): AsyncGenerator<Buffer> {
    const { dataDir } = this.#options;
    if (await isSwapping(dataDir))
      throw new Error(`a restore of ${dataDir} is not finished: start Platen to complete it`);
    const database = yield* this.#blobs();
    yield* this.#entry("platen.sqlite", inMemory(database));
    yield* this.#file("secret");
    for (const name of await this.#namesIn("signatures")) yield* this.#file(name);
    // The log comes after the database, so that it has all entries that the database knows.
    for (const name of await this.#namesIn("audit")) yield* this.#file(name, endOfLines);
    yield* this.#entry(manifestName, inMemory(Buffer.from(manifestText(this.manifest))));
    yield tarEnd;
  }

  /** The files in a folder that a backup contains, as `audit/…`. */
  async #namesIn(folder: string): Promise<string[]> {
    const names = await readdir(join(this.#options.dataDir, folder)).catch(noneIfAbsent);
    return names
      .map((name) => `${folder}/${name}`)
      .filter(isBackupName)
      .sort();
  }

  /** @returns a state of the database whose files are all written, except files that are missing in DATA_DIR too */
  async *#blobs(): AsyncGenerator<Buffer, Buffer> {
    const path = join(this.#options.dataDir, "platen.sqlite");
    if (!(await exists(path))) throw new Error(`${path} is not there: DATA_DIR says where the data is`);
    for (;;) {
      const before = this.#missing;
      // A save replaces the file and never writes into it, so the bytes read are one state.
      const { file, facts } = await readFileFacts(path);
      for (const name of blobNames(facts)) if (!this.#files.has(name)) yield* this.#file(name);
      this.#missing = blobNames(facts).filter((name) => !this.#files.has(name));
      this.secretSha256 = facts.secretSha256;
      // A file is really missing if a later state still names it. Otherwise it was deleted with its record.
      if (this.#missing.every((name) => before.includes(name))) return file;
    }
  }

  /** Writes nothing when there is no such file. @param endOf returns the number of bytes to take */
  async *#file(name: string, endOf = async (_: string, size: number) => size): AsyncGenerator<Buffer> {
    const path = join(this.#options.dataDir, name);
    const source = await openSource(path).catch(undefinedIfAbsent);
    if (source === undefined) return;
    try {
      yield* this.#entry(name, { read: source.read, size: await endOf(path, source.size) });
    } finally {
      await source.close();
    }
  }

  async *#entry(name: string, { size, read }: Source): AsyncGenerator<Buffer> {
    // Refuse a file that a restore would refuse.
    checkBackupFile({ name, size }, name);
    const hash = createHash("sha256");
    yield tarHeader({ name, size }, this.#options.now);
    for (let at = 0; at < size; at += chunkBytes) {
      const chunk = await read(at, Math.min(chunkBytes, size - at));
      hash.update(chunk);
      yield chunk;
    }
    yield Buffer.alloc(tarPaddingBytes(size));
    this.#files.set(name, { name, size, sha256: hash.digest("hex") });
  }
}

/**
 * Writes a file completely or not at all, readable only by its owner. A failure or a signal leaves no file.
 * @throws Error when the file exists and `replaceExisting` is false
 */
export async function writeNewFile(
  path: string,
  chunks: AsyncIterable<Buffer>,
  replaceExisting: boolean,
): Promise<void> {
  if (!replaceExisting && (await exists(path)))
    throw new Error(`${path} is there already: choose another name, or say --force to replace it`);
  const unfinished = `${path}.${randomUUID().slice(0, 8)}.part`;
  const output = createWriteStream(unfinished, { flags: "wx", mode: ownerOnly, flush: true });
  const stop = (signal: NodeJS.Signals) => output.destroy(new Error(`stopped by ${signal}`));
  process.on("SIGINT", stop).on("SIGTERM", stop);
  try {
    await pipeline(chunks, output);
    await moveIntoPlace(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new Error(`the folder ${dirname(resolve(path))} is not there (ENOENT): make it first`);
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
  }
}

/** The bytes of a file. It is opened at the first read. */
export async function* readChunks(path: string): AsyncGenerator<Buffer> {
  yield* createReadStream(path, { highWaterMark: 1 << 20 });
}

/** The paths of the files that a state's records refer to. */
function blobNames({ files }: DatabaseFacts): string[] {
  return blobKinds.flatMap((kind) => files[kind].map((sha256) => `${kind}/${blobName(kind, sha256)}`));
}

function inMemory(bytes: Buffer): Source {
  return { size: bytes.length, read: async (at, length) => bytes.subarray(at, at + length) };
}

/** The end of the last complete line of a log. The service may be appending to it. */
async function endOfLines(path: string, size: number): Promise<number> {
  for await (const { end } of linesBefore(path, size)) return end;
  return 0;
}
