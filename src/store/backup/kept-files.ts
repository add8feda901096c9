import { readdir, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Blobs } from "../blobs.ts";
import { type BlobKind, blobDigest, blobKinds } from "../blobs.ts";
import type { DeletedFile } from "../deletions.ts";
import {
  freeBytes,
  isThere,
  makeFolders,
  moveIntoPlace,
  noneIfAbsent,
  undefinedIfAbsent,
} from "../durable-files.ts";
import type { Backups } from "./backups.ts";

/** With less than this free, files that only backups name go: whoever deletes a driver wants its room. */
const leastFreeBytes = 1024 * 1024 * 1024;

/** The folder below DATA_DIR; a start takes back what records miss. */
export const keptFilesFolder = join("backups", "files");

interface KeptFile extends DeletedFile {
  readonly path: string;
  /** In bytes. */
  readonly size: number;
}

/**
 * Files of records that were deleted for good, and that a kept state of the database still names: whoever goes back
 * to it finds the archives of its drivers. They go with the last state that names them.
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
   * Takes a file that no record has any more. Only within its digest's turn.
   * @returns whether it did: not where no state names it, or the disk has little room
   */
  async keep(file: DeletedFile, path: string): Promise<boolean> {
    if (!(await this.#isWanted(file))) return false;
    const folder = this.#folder(file.kind);
    await makeFolders(folder);
    await moveIntoPlace(path, join(folder, basename(path))).catch(undefinedIfAbsent);
    return true;
  }

  /** Deletes what no state names, what is back, and what takes the room on a disk that fills. */
  async tidy(): Promise<void> {
    for (const file of await this.list())
      await this.#blobs.inTurn(file.sha256, async () => {
        const isBack = await isThere(this.#blobs.pathOf(file.kind, file.sha256));
        if (isBack || !(await this.#isWanted(file))) await rm(file.path, { force: true });
      });
  }

  async list(): Promise<readonly KeptFile[]> {
    const files: KeptFile[] = [];
    for (const kind of blobKinds) {
      for (const name of await readdir(this.#folder(kind)).catch(noneIfAbsent)) {
        const sha256 = blobDigest(kind, name);
        const path = join(this.#folder(kind), name);
        const found = await stat(path).catch(undefinedIfAbsent);
        if (sha256 !== undefined && found?.isFile()) files.push({ kind, sha256, path, size: found.size });
      }
    }
    return files;
  }

  /** Deletes all of them. */
  async clear(): Promise<void> {
    for (const { path } of await this.list()) await rm(path, { force: true });
  }

  #folder(kind: BlobKind): string {
    return join(this.#dataDir, keptFilesFolder, kind);
  }

  /** Where the system does not tell how much is free, there is no room. */
  async #isWanted({ kind, sha256 }: DeletedFile): Promise<boolean> {
    const free = (await freeBytes(this.#dataDir)) ?? 0;
    return this.#backups.names(kind, sha256) && free >= leastFreeBytes;
  }
}
