import { lstat, readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { type BlobKind, type Blobs, blobDigest, blobKinds } from "../blobs.ts";
import type { DeletedFile } from "../deletions.ts";
import {
  exists,
  freeBytes,
  makeFolders,
  moveIntoPlace,
  noneIfAbsent,
  undefinedIfAbsent,
} from "../durable-files.ts";
import type { Backups } from "./backups.ts";

/** With less space free, files that only backups need are deleted: deleting a driver should then free its space. */
const minFreeBytes = 1024 * 1024 * 1024;

/** The folder below DATA_DIR. A start moves files out of it that records need again. */
export const keptFilesFolder = join("backups", "files");

/**
 * Files of finally deleted records that a kept state of the database still needs, so that its drivers have their archives when
 * it is restored. `tidy` deletes a file when no state needs it any more.
 */
export class KeptFiles {
  readonly #dataDir: string;
  readonly #backups: Backups;
  readonly #blobs: Blobs;

  constructor(dataDir: string, backups: Backups, blobs: Blobs) {
    this.#dataDir = dataDir;
    this.#backups = backups;
    this.#blobs = blobs;
  }

  /**
   * Keeps a file that no record needs any more. Call this only within `Blobs.inOrder`.
   * @returns false when no kept state needs the file, or the disk has too little room
   */
  async keep(file: DeletedFile, path: string): Promise<boolean> {
    if (!(await this.#isWanted(file))) return false;
    const folder = this.#folder(file.kind);
    await makeFolders(folder);
    await moveIntoPlace(path, join(folder, basename(path))).catch(undefinedIfAbsent);
    return true;
  }

  /** Deletes files that no kept state needs or that were uploaded again; when the disk gets full, all of them. */
  async tidy(): Promise<void> {
    for (const file of await this.list())
      await this.#blobs.inOrder(file.sha256, async () => {
        const isUploadedAgain = await exists(this.#blobs.pathOf(file.kind, file.sha256));
        if (isUploadedAgain || !(await this.#isWanted(file))) await rm(file.path, { force: true });
      });
  }

  async list(): Promise<readonly DigestFile[]> {
    const lists = blobKinds.map((kind) => digestFiles(this.#folder(kind), kind));
    return (await Promise.all(lists)).flat();
  }

  async clear(): Promise<void> {
    for (const { path } of await this.list()) await rm(path, { force: true });
  }

  #folder(kind: BlobKind): string {
    return join(this.#dataDir, keptFilesFolder, kind);
  }

  /** If the system does not report the free space, there is no room. */
  async #isWanted({ kind, sha256 }: DeletedFile): Promise<boolean> {
    const free = (await freeBytes(this.#dataDir)) ?? 0;
    return this.#backups.needsFile(kind, sha256) && free >= minFreeBytes;
  }
}

interface DigestFile extends DeletedFile {
  readonly name: string;
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  /** UTC, milliseconds since 1970. */
  readonly modifiedAt: number;
}

/** The files of a folder that are named by a digest; none when there is no such folder. */
export async function digestFiles(folder: string, kind: BlobKind): Promise<DigestFile[]> {
  const found: DigestFile[] = [];
  for (const name of await readdir(folder).catch(noneIfAbsent)) {
    const sha256 = blobDigest(kind, name);
    if (sha256 === undefined) continue;
    const path = join(folder, name);
    const stats = await lstat(path).catch(undefinedIfAbsent);
    if (!stats?.isFile()) continue;
    found.push({ kind, sha256, name, path, size: stats.size, modifiedAt: stats.mtimeMs });
  }
  return found;
}
