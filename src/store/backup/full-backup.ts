import { createHash } from "node:crypto";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseFacts } from "../../domain/backup.ts";
import type { ByteSource } from "../../domain/byte-source.ts";
import {
  type BackupFile,
  checkBackupFile,
  type Manifest,
  manifestName,
  manifestText,
} from "../../domain/full-backup.ts";
import { tarEnd, tarHeader, tarPadding } from "../../domain/tar.ts";
import { blobKinds, blobName } from "../blob-names.ts";
import { type FileSource, openSource } from "../files.ts";
import { noneIfAbsent, undefinedIfAbsent } from "../found-files.ts";
import { readFacts } from "../records.ts";
import { isSwapping } from "./swap.ts";

interface BackupOptions {
  readonly dataDir: string;
  /** Of Platen. */
  readonly version: string;
  /** UTC, milliseconds since 1970. */
  readonly now: number;
}

interface Snapshot {
  readonly bytes: Uint8Array;
  readonly facts: DatabaseFacts;
}

const pieceBytes = 1024 * 1024;
/** What is looked for again where files are deleted all the time. */
const mostRounds = 10;
/** The end of an audit file that is looked through for its last whole line. */
const tailBytes = 64 * 1024;

/**
 * Everything of a DATA_DIR as a tar archive, while a service may be running on it: archives and icons first, which never
 * change, then a state of the database that names no others, then what was written about it, last the list of all.
 */
export class FullBackup {
  readonly #options: BackupOptions;
  readonly #files: BackupFile[] = [];
  readonly #names = new Set<string>();
  #missing: readonly string[] = [];
  #written = 0;

  constructor(options: BackupOptions) {
    this.#options = options;
  }

  /** What was written, so far. */
  get manifest(): Manifest {
    const { version, now } = this.#options;
    return { version, madeAt: now, files: this.#files, missing: this.#missing };
  }

  /** The archive; each chunk counts until the next is asked for. @throws Error where there is nothing to back up */
  async *chunks(): AsyncGenerator<Buffer> {
    for await (const chunk of this.#parts()) {
      this.#written += chunk.length;
      yield chunk;
    }
  }

  async *#parts(): AsyncGenerator<Buffer> {
    const { dataDir } = this.#options;
    await requireWhole(dataDir);
    const snapshot = yield* this.#blobs();
    yield* this.#bytes("platen.sqlite", snapshot.bytes);
    const secret = await openIfThere(join(dataDir, "secret"));
    if (secret !== undefined) yield* this.#file("secret", secret, secret.size);
    // After the database: what it says of the log is in the log then.
    for (const name of await namesIn(join(dataDir, "audit"))) {
      const source = await openIfThere(join(dataDir, "audit", name));
      if (source !== undefined) yield* this.#file(`audit/${name}`, source, await wholeLines(source));
    }
    await requireWhole(dataDir);
    const text = Buffer.from(manifestText(this.manifest));
    yield* this.#bytes(manifestName, text);
    yield tarEnd(this.#written);
  }

  /** @returns a state of the database whose files are all written, save for those that it misses itself */
  async *#blobs(): AsyncGenerator<Buffer, Snapshot> {
    let before = new Set<string>();
    for (let round = 1; ; round++) {
      const snapshot = await readSnapshot(this.#options.dataDir);
      const missing: string[] = [];
      for (const name of blobNames(snapshot.facts)) {
        if (this.#names.has(name)) continue;
        const source = await openIfThere(join(this.#options.dataDir, name));
        if (source === undefined) missing.push(name);
        else yield* this.#file(name, source, source.size);
      }
      this.#missing = missing;
      // A file that a later state still names is missing in the service, too; else it was deleted with its record.
      if (missing.every((name) => before.has(name)) || round === mostRounds) return snapshot;
      before = new Set(missing);
    }
  }

  async *#file(name: string, source: FileSource, size: number): AsyncGenerator<Buffer> {
    try {
      yield* this.#entry(name, size, piecesOf(source, size));
    } finally {
      await source.close();
    }
  }

  async *#bytes(name: string, bytes: Uint8Array): AsyncGenerator<Buffer> {
    yield* this.#entry(name, bytes.length, [Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)]);
  }

  async *#entry(
    name: string,
    size: number,
    chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  ): AsyncGenerator<Buffer> {
    const hash = createHash("sha256");
    // What could not be restored is no backup.
    checkBackupFile({ name, size }, name);
    yield tarHeader({ name, size }, this.#options.now);
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
    yield tarPadding(size);
    this.#names.add(name);
    this.#files.push({ name, size, sha256: hash.digest("hex") });
  }
}

/** The files whose content is not what their name says: they were damaged before. */
export function rottenIn({ files }: Pick<Manifest, "files">): string[] {
  const digest = /^(?:drivers|icons)\/([0-9a-f]{64})\./;
  return files
    .filter(({ name, sha256 }) => (digest.exec(name)?.[1] ?? sha256) !== sha256)
    .map(({ name }) => name);
}

/** The names of files that a state's records refer to. */
export function blobNames({ files }: DatabaseFacts): string[] {
  return blobKinds.flatMap((kind) => files[kind].map((sha256) => `${kind}/${blobName(kind, sha256)}`));
}

/** @throws Error where a restore is half done */
async function requireWhole(dataDir: string): Promise<void> {
  if (await isSwapping(dataDir))
    throw new Error(`a restore of ${dataDir} is not finished: start Platen, which goes on with it`);
}

/** All of it through one descriptor: a save puts another file in its place, and never writes into it. */
async function readSnapshot(dataDir: string): Promise<Snapshot> {
  const path = join(dataDir, "platen.sqlite");
  let handle: FileHandle;
  try {
    handle = await open(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new Error(`${path} is not there: DATA_DIR says where the data is`);
  }
  try {
    const bytes = new Uint8Array(await handle.readFile());
    return { bytes, facts: await readFacts(path, bytes) };
  } finally {
    await handle.close();
  }
}

async function openIfThere(path: string): Promise<FileSource | undefined> {
  return openSource(path).catch(undefinedIfAbsent);
}

async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(noneIfAbsent);
  return names.filter((name) => /^[0-9a-z][0-9a-z.-]{0,60}\.jsonl$/.test(name)).sort();
}

/** The same buffer again and again. */
async function* piecesOf(source: ByteSource, size: number): AsyncGenerator<Buffer> {
  const buffer = Buffer.alloc(Math.min(size, pieceBytes));
  for (let at = 0; at < size; at += pieceBytes) {
    const piece = buffer.subarray(0, Math.min(pieceBytes, size - at));
    await source.fill(at, [piece]);
    yield piece;
  }
}

/** How many bytes of a log that is being appended to end with a whole line. */
async function wholeLines(source: ByteSource): Promise<number> {
  for (let end = source.size; end > 0; end -= tailBytes) {
    const start = Math.max(0, end - tailBytes);
    const last = (await source.read(start, end - start)).lastIndexOf("\n");
    if (last >= 0) return start + last + 1;
  }
  return 0;
}
