import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { type BlobKind, blobDigest, blobKinds, blobName } from "../blob-names.ts";
import type { DeletedFile } from "../deletions.ts";
import { makeFolders, moveIntoPlace } from "../durable-files.ts";
import { freeBytes } from "../found-files.ts";
import type { Backups } from "./backups.ts";

/** With less than this free, files that only backups name go, the oldest first: who deletes a driver wants its room. */
const leastFreeBytes = 1024 * 1024 * 1024;

/** The folder below DATA_DIR; a start takes back what records miss. */
export const keptFilesFolder = join("backups", "files");

interface KeptFile extends DeletedFile {
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  readonly keptAt: number;
}

/**
 * Files of records that were deleted for good, and that a kept state of the database still names: so that who goes back
 * to it finds the archives of its drivers. They go with the last state that names them.
 */
export class KeptFiles {
  readonly #dataDir: string;
  readonly #backups: Backups;

  constructor(dataDir: string, backups: Backups) {
    this.#dataDir = dataDir;
    this.#backups = backups;
  }

  /**
   * Takes a file that no record has any more. Only within its digest's turn.
   * @returns whether it did: not where no state names it, or the disk has little room
   */
  async keep({ kind, sha256 }: DeletedFile, path: string): Promise<boolean> {
    if (!this.#backups.names(kind, sha256) || !(await this.#hasRoom())) return false;
    const folder = this.#folder(kind);
    await makeFolders(folder);
    return moveIntoPlace(path, join(folder, blobName(kind, sha256))).then(() => true, isAbsent);
  }

  /** Deletes what no state names, what is back, and what stands in the way on a disk that fills. */
  async tidy(): Promise<void> {
    const rest: KeptFile[] = [];
    for (const file of await this.list()) {
      if (this.#backups.names(file.kind, file.sha256) && !(await this.#isBack(file))) rest.push(file);
      else await rm(file.path, { force: true });
    }
    for (const { path } of rest) {
      if (await this.#hasRoom()) return;
      await rm(path, { force: true });
    }
  }

  /** The oldest first. */
  async list(): Promise<readonly KeptFile[]> {
    const files: KeptFile[] = [];
    for (const kind of blobKinds) {
      for (const name of await readdir(this.#folder(kind)).catch(() => [])) {
        const sha256 = blobDigest(kind, name);
        const path = join(this.#folder(kind), name);
        const found = await stat(path).catch(() => undefined);
        if (sha256 === undefined || !found?.isFile()) continue;
        files.push({ kind, sha256, path, size: found.size, keptAt: found.ctimeMs });
      }
    }
    return files.sort((a, b) => a.keptAt - b.keptAt);
  }

  /** Deletes all of them. */
  async clear(): Promise<void> {
    for (const { path } of await this.list()) await rm(path, { force: true });
  }

  #folder(kind: BlobKind): string {
    return join(this.#dataDir, keptFilesFolder, kind);
  }

  async #isBack({ kind, path }: KeptFile): Promise<boolean> {
    const name = path.slice(this.#folder(kind).length + 1);
    return (await stat(join(this.#dataDir, kind, name)).catch(() => undefined)) !== undefined;
  }

  /** Where the system does not tell, there is none. */
  async #hasRoom(): Promise<boolean> {
    return ((await freeBytes(this.#dataDir)) ?? 0) >= leastFreeBytes;
  }
}

/** A file that is not there needs no keeping. */
function isAbsent(error: NodeJS.ErrnoException): true {
  if (error.code === "ENOENT") return true;
  throw error;
}
