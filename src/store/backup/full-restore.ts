import { createHash, randomBytes } from "node:crypto";
import { mkdir, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import {
  type BackupFile,
  checkBackupFile,
  type Manifest,
  manifestName,
  readManifest,
} from "../../domain/backup/full-backup.ts";
import {
  printable,
  readTarHeader,
  type TarFile,
  tarBlockBytes,
  tarPaddingBytes,
} from "../../domain/backup/tar.ts";
import { forgetSecret } from "../access/secret.ts";
import { serviceActor } from "../actor.ts";
import { Changes } from "../audit/changes.ts";
import { alteredBytes } from "../database/connection.ts";
import { DamagedDatabase } from "../database/file.ts";
import { lockFolder } from "../database/lock.ts";
import type { Queries } from "../database/rows.ts";
import { makeFolders, ownerOnly, syncFolder, writeAll, writeDurably, writeSynced } from "../durable-files.ts";
import { databaseFacts, readState } from "../records.ts";
import { prepareRestored } from "./recovery.ts";
import { finishSwap, makeStaging, swapIn } from "./swap.ts";

interface RestoreOptions {
  readonly dataDir: string;
  /** UTC, milliseconds since 1970. */
  readonly now: number;
  readonly log: (line: string) => void;
}

/**
 * Replaces the content of a DATA_DIR with a full backup, and keeps the old content. Nothing is replaced before the whole
 * backup is unpacked, compared with its manifest, and read as a start would.
 * @param tar untrusted
 * @returns what was restored, and `kept`: the folder below DATA_DIR with the replaced files; undefined when there were none
 * @throws Error that says what is wrong. Either nothing was changed, or the next start finishes the restore (`isSwapping`).
 */
export async function restoreBackup(tar: AsyncIterable<Buffer>, { dataDir, now, log }: RestoreOptions) {
  await makeFolders(dataDir);
  const lock = await lockFolder(dataDir, log);
  try {
    await finishSwap(dataDir, log);
    const staging = await makeStaging(dataDir);
    try {
      const manifest = await unpackBackup(tar, staging);
      const state = await prepareDatabase(join(staging, "platen.sqlite"), now, manifest);
      return { manifest, ...state, kept: await swapIn(dataDir, now) };
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
  } finally {
    await lock.release();
  }
}

/**
 * Reads the unpacked database, revokes its links, skips ids, and adds an entry for the audit log.
 * @returns its content, and who can sign in with it
 * @throws Error when the database cannot be used
 */
async function prepareDatabase(path: string, now: number, backup: Manifest) {
  const file = await readFile(path);
  const state = await readState(path, file, (records, db) => ({
    facts: databaseFacts(records, db),
    accounts: records.accounts.list(),
    tokens: records.tokens.list(),
  })).catch((error: unknown) => {
    throw error instanceof DamagedDatabase ? new Error(`its database is damaged (${error.reason})`) : error;
  });
  const [stateAt, backupAt] = [state.facts.savedAt, backup.madeAt].map((time) =>
    new Date(time).toISOString(),
  );
  const what = `the state of ${stateAt}, from a backup made ${backupAt}, by platen restore`;
  const restored = await alteredBytes(file, (db) => {
    prepareRestored(db);
    if (!backup.files.some(({ name }) => name === "secret")) forgetSecret(db);
    recordRestore(db, now, what);
  });
  await writeDurably(path, restored);
  return state;
}

/** How many change numbers are skipped: a backup's log may have changes later than its database, but never this many. */
const changeNumberGap = 1_000_000;

/** Stores an entry in the database for the audit log. The next start writes it exactly once, even if that start fails first. */
function recordRestore(db: Queries, at: number, what: string): void {
  // A database from before the audit log has no such table.
  if (db.first("SELECT 1 FROM sqlite_schema WHERE name = 'changes'") === undefined) return;
  const changes = new Changes(db);
  changes.keep(changes.last() + changeNumberGap, [{ at, ...serviceActor, event: "backup-restored", what }]);
}

const folders = ["drivers", "icons", "preferences", "signatures", "audit"];

/**
 * Unpacks a full backup into an empty folder, and compares every file with the manifest at its end. Folders that the backup
 * lacks are made empty, and a missing secret is replaced by a new one.
 * @param tar untrusted; bytes after the manifest are not read
 * @throws Error that says what is wrong; the caller deletes the folder
 */
export async function unpackBackup(tar: AsyncIterable<Buffer>, folder: string): Promise<Manifest> {
  const bytes = new StreamBytes(tar);
  const found = new Map<string, BackupFile>();
  for (const name of folders) await mkdir(join(folder, name));
  while (!found.has(manifestName)) {
    const header = await bytes.exactly(tarBlockBytes);
    if (header.every((byte) => byte === 0))
      throw new Error("it has no list of its files: it is no backup of Platen’s");
    const file = readTarHeader(header);
    checkBackupFile(file, printable(file.name));
    if (found.has(file.name)) throw new Error(`“${file.name}” is in it twice`);
    found.set(file.name, await unpackFile(bytes, file, folder));
  }
  const manifest = readManifest(await readFile(join(folder, manifestName), "utf8"));
  checkAgainst(manifest, found);
  if (!found.has("secret")) await writeSynced(join(folder, "secret"), randomBytes(32));
  for (const name of [...folders, "."]) await syncFolder(join(folder, name));
  return manifest;
}

async function unpackFile(bytes: StreamBytes, file: TarFile, folder: string): Promise<BackupFile> {
  const hash = createHash("sha256");
  const handle = await open(join(folder, file.name), "wx", ownerOnly);
  try {
    for await (const chunk of bytes.chunks(file.size)) {
      hash.update(chunk);
      await writeAll(handle, [chunk]);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  await bytes.exactly(tarPaddingBytes(file.size));
  return { ...file, sha256: hash.digest("hex") };
}

function checkAgainst(manifest: Manifest, found: ReadonlyMap<string, BackupFile>): void {
  const listed = new Map(manifest.files.map((file) => [file.name, file]));
  for (const file of found.values()) {
    if (file.name === manifestName) continue;
    const { size, sha256 } = listed.get(file.name) ?? {};
    if (size !== file.size || sha256 !== file.sha256)
      throw new Error(`“${file.name}” is not what was backed up: its SHA-256 is ${file.sha256}`);
  }
  const lost = manifest.files.find(({ name }) => !found.has(name));
  if (lost !== undefined)
    throw new Error(`“${printable(lost.name)}” is not in it, although its list says so`);
  if (!found.has("platen.sqlite")) throw new Error("it has no database");
  if ((found.get("secret")?.size ?? 32) !== 32) throw new Error("its secret is damaged");
}

/** Reads a stream in chunks of requested sizes. */
class StreamBytes {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The next `bytes` bytes, in chunks as they arrive. @throws Error when there are fewer */
  async *chunks(bytes: number): AsyncGenerator<Buffer> {
    for (let left = bytes; left > 0; ) {
      const chunk = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(chunk.length);
      left -= chunk.length;
      if (chunk.length > 0) yield chunk;
      else this.#rest = await this.#next();
    }
  }

  /** The next `bytes` bytes in one buffer. @throws Error when there are fewer */
  async exactly(bytes: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const chunk of this.chunks(bytes)) parts.push(chunk);
    return Buffer.concat(parts);
  }

  async #next(): Promise<Buffer> {
    const { done, value } = await this.#chunks.next();
    if (done === true) throw new Error("it ends too early: a copy of it broke off");
    return value;
  }
}
