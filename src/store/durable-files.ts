import { randomBytes } from "node:crypto";
import { access, type FileHandle, mkdir, open, readdir, rename, rm, stat, statfs } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { errorMessage } from "../domain/errors.ts";

/**
 * Makes a folder if it is missing. It survives a power cut.
 * @throws Error with code ENOENT when the parent folder is missing: a disk may not be mounted
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return;
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Makes a folder and its parents. All of them survive a power cut. */
export async function makeFolders(path: string): Promise<void> {
  const parent = dirname(resolve(path));
  try {
    await mkdir(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && (await stat(path)).isDirectory()) return;
    // Node's `recursive` option loops forever where an existing folder reports ENOENT, as /proc does.
    if (code !== "ENOENT" || (await exists(parent))) throw error;
    await makeFolders(parent);
    await mkdir(path);
  }
  await syncFolder(parent);
}

/** A file is in place, but its folder is not synced: a power cut may bring the old file back. */
export class FolderNotSynced extends Error {
  readonly code: string | undefined;

  constructor(cause: unknown) {
    super(errorMessage(cause), { cause });
    this.code = (cause as NodeJS.ErrnoException).code;
  }
}

/**
 * Moves a complete, synced file into place. A power cut leaves either the old file or the new one.
 * @throws FolderNotSynced when the file is in place but its folder cannot be synced
 */
export async function moveIntoPlace(from: string, to: string): Promise<void> {
  await rename(from, to);
  try {
    await syncFolder(dirname(to));
  } catch (error) {
    throw new FolderNotSynced(error);
  }
}

/** Deletes a file if it exists. A power cut does not bring it back. */
export async function removeDurably(path: string): Promise<void> {
  await rm(path, { force: true });
  await syncFolder(dirname(path));
}

/** Makes an empty file that survives a power cut. */
export async function makeMarker(path: string): Promise<void> {
  await (await open(path, "w")).close();
  await syncFolder(dirname(path));
}

/** Files in DATA_DIR hold password hashes, keys and names: only their owner may read them. */
export const ownerOnly = 0o600;

/**
 * Writes a file completely or not at all. Of several writes at the same time, the last one stays.
 * @throws FolderNotSynced as `moveIntoPlace` does
 */
export async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const temporary = `${path}.${randomBytes(4).toString("hex")}.new`;
  try {
    await writeSynced(temporary, bytes);
    await moveIntoPlace(temporary, path);
  } catch (error) {
    // If this fails, the next start deletes the temporary file.
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
}

/** Writes and syncs a file. It survives a power cut once the caller has synced its folder. @throws an error of the disk */
export async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(path, "w", ownerOnly);
  try {
    await writeAll(handle, [bytes]);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Writes all chunks at the file's current position. @returns the number of bytes written */
export async function writeAll(file: FileHandle, chunks: readonly Uint8Array[]): Promise<number> {
  let written = 0;
  for (let rest = chunks.filter((chunk) => chunk.length > 0); rest.length > 0; ) {
    const { bytesWritten } = await file.writev(rest);
    rest = bytesAfter(rest, bytesWritten);
    written += bytesWritten;
  }
  return written;
}

/** Versions up to 1.0 gave no write a name of its own. */
const temporaryName = /\.[0-9a-f]{8}\.new$|^(?:platen\.sqlite|secret|[0-9a-f]{64}\.txt)\.new$/;

/** Deletes the temporary files that a crash during `writeDurably` left in a folder. */
export async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(noneIfAbsent))
    if (temporaryName.test(name)) await rm(join(folder, name), { force: true });
}

/** Makes new, renamed and deleted files of a folder survive a power cut. It does nothing on Windows. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** False also where the path cannot be accessed. */
export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** For `catch`: returns undefined when there is no such file. @throws any other error */
export function undefinedIfAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT") return undefined;
  throw error;
}

/** For `catch`: returns no names when there is no such folder. @throws any other error */
export function noneIfAbsent(error: NodeJS.ErrnoException): never[] {
  return undefinedIfAbsent(error) ?? [];
}

/** Bytes that an unprivileged process may still write; undefined where the system does not report it. */
export async function freeBytes(folder: string): Promise<number | undefined> {
  const found = await statfs(folder).catch(() => undefined);
  return found && found.bavail * found.bsize;
}

/** What remains of `targets` after their first `count` bytes. */
export function bytesAfter(targets: readonly Uint8Array[], count: number): Uint8Array[] {
  let done = count;
  return targets.flatMap((target) => {
    const taken = Math.min(done, target.length);
    done -= taken;
    return taken === target.length ? [] : [target.subarray(taken)];
  });
}
