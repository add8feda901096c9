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
import { isThere, moveIntoPlace, noneIfAbsent, ownerOnly, undefinedIfAbsent } from "../durable-files.ts";
import { type FileSource, openSource } from "../files.ts";
import { readFileFacts } from "../records.ts";
import { isSwapping } from "./swap.ts";

interface BackupOptions {
  readonly dataDir: string;
  /** Of Platen. */
  readonly version: string;
  /** UTC, milliseconds since 1970. */
  readonly now: number;
}

/** What the archive takes its bytes from. */
type Source = Pick<FileSource, "size" | "read">;

const pieceBytes = 1024 * 1024;

/**
 * Everything of a DATA_DIR as a tar archive, while a service may be running on it: archives and icons first, which never
 * change, then a state of the database that names no others, then what was written about it, last the list of all.
 */
export class FullBackup {
  readonly #options: BackupOptions;
  readonly #files = new Map<string, BackupFile>();
  #missing: readonly string[] = [];

  constructor(options: BackupOptions) {
    this.#options = options;
  }

  /** What was written, so far. */
  get manifest(): Manifest {
    const { version, now } = this.#options;
    return { version, madeAt: now, files: [...this.#files.values()], missing: this.#missing };
  }

  /** The archive. @throws Error where there is nothing to back up */
  async *chunks(): AsyncGenerator<Buffer> {
    const { dataDir } = this.#options;
    if (await isSwapping(dataDir))
      throw new Error(`a restore of ${dataDir} is not finished: start Platen, which goes on with it`);
    const database = yield* this.#blobs();
    yield* this.#entry("platen.sqlite", inMemory(database));
    yield* this.#file("secret");
    // After the database: what it says of the log is in the log then.
    const names = await readdir(join(dataDir, "audit")).catch(noneIfAbsent);
    for (const name of names.sort())
      if (isBackupName(`audit/${name}`)) yield* this.#file(`audit/${name}`, endOfLines);
    yield* this.#entry(manifestName, inMemory(Buffer.from(manifestText(this.manifest))));
    yield tarEnd;
  }

  /** @returns a state of the database whose files are all written, save for those that it misses itself */
  async *#blobs(): AsyncGenerator<Buffer, Buffer> {
    const path = join(this.#options.dataDir, "platen.sqlite");
    if (!(await isThere(path))) throw new Error(`${path} is not there: DATA_DIR says where the data is`);
    for (;;) {
      const before = this.#missing;
      // A save puts another file in its place, and never writes into it: what is read is one state.
      const { file, facts } = await readFileFacts(path);
      for (const name of blobNames(facts)) if (!this.#files.has(name)) yield* this.#file(name);
      this.#missing = blobNames(facts).filter((name) => !this.#files.has(name));
      // A file that a later state still names is missing in the service, too; else it was deleted with its record.
      if (this.#missing.every((name) => before.includes(name))) return file;
    }
  }

  /** Nothing where there is no such file. @param endOf how many of its bytes are taken */
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
    // What could not be restored is no backup.
    checkBackupFile({ name, size }, name);
    const hash = createHash("sha256");
    yield tarHeader({ name, size }, this.#options.now);
    for (let at = 0; at < size; at += pieceBytes) {
      const piece = await read(at, Math.min(pieceBytes, size - at));
      hash.update(piece);
      yield piece;
    }
    yield Buffer.alloc(tarPaddingBytes(size));
    this.#files.set(name, { name, size, sha256: hash.digest("hex") });
  }
}

/** The names of files that a state's records refer to. */
function blobNames({ files }: DatabaseFacts): string[] {
  return blobKinds.flatMap((kind) => files[kind].map((sha256) => `${kind}/${blobName(kind, sha256)}`));
}

function inMemory(bytes: Buffer): Source {
  return { size: bytes.length, read: async (at, length) => bytes.subarray(at, at + length) };
}

/** Where the last whole line of a log ends that is being appended to. */
async function endOfLines(path: string, size: number): Promise<number> {
  for await (const { end } of linesBefore(path, size)) return end;
  return 0;
}

/**
 * Writes a file that is there whole or not at all, for its owner alone. What fails, or is stopped by a signal, leaves nothing.
 * @throws Error where there is such a file already and it is not to be replaced
 */
export async function writeNewFile(
  path: string,
  chunks: AsyncIterable<Buffer>,
  isForced: boolean,
): Promise<void> {
  if (!isForced && (await isThere(path)))
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

/** The bytes of a file, which is opened when the first ones are asked for. */
export async function* readPieces(path: string): AsyncGenerator<Buffer> {
  yield* createReadStream(path, { highWaterMark: 1 << 20 });
}
