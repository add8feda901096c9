import { access, type FileHandle, mkdir, open, rename, rm, stat, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { messageOf } from "../domain/errors.ts";

/**
 * Makes a folder that may be there already, and lets a power cut not take it away again.
 * @throws Error with code ENOENT when the folder around it is missing: then a disk may be
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

/** Makes a folder with those around it, and lets a power cut take away none of them. */
export async function makeFolders(path: string): Promise<void> {
  const around = dirname(resolve(path));
  try {
    await mkdir(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && (await stat(path)).isDirectory()) return;
    // Node's own way, `recursive`, never ends where a folder that is there says that it is not, as /proc does.
    if (code !== "ENOENT" || (await isThere(around))) throw error;
    await makeFolders(around);
    await mkdir(path);
  }
  await syncFolder(around);
}

/** A file is in its place, but a power cut may put the one back that was there. */
export class Unsettled extends Error {
  readonly code: string | undefined;

  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
    this.code = (cause as NodeJS.ErrnoException).code;
  }
}

/**
 * Puts a file that is complete and synced into its place, so that a power cut leaves the old or the new.
 * @throws Unsettled where it is there, and the disk does not say that it stays
 */
export async function moveIntoPlace(from: string, to: string): Promise<void> {
  await rename(from, to);
  try {
    await syncFolder(dirname(to));
  } catch (error) {
    throw new Unsettled(error);
  }
}

/** Deletes a file that may be gone already, and lets no power cut bring it back. */
export async function removeDurably(path: string): Promise<void> {
  await rm(path, { force: true });
  await syncFolder(dirname(path));
}

/** Makes an empty file that a power cut does not take away. */
export async function makeMark(path: string): Promise<void> {
  await (await open(path, "w")).close();
  await syncFolder(dirname(path));
}

/** What lies in DATA_DIR holds hashes of passwords, keys and names: nobody else on the host reads it. */
export const ownerOnly = 0o600;

/** Writes a file so that it is there whole or not at all. @throws Unsettled as `moveIntoPlace` does */
export async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const temporary = unfinished(path);
  try {
    await writeSynced(temporary, bytes);
    await moveIntoPlace(temporary, path);
  } catch (error) {
    // Where it stays, the next write replaces it.
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
}

/** Writes a file that a power cut does not take away once its folder is synced. @throws Error of the disk */
export async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(path, "w", ownerOnly);
  try {
    await writeAll(handle, [bytes]);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Writes these where the file's last write ended. @returns how many bytes they have */
export async function writeAll(file: FileHandle, chunks: readonly Uint8Array[]): Promise<number> {
  let written = 0;
  for (let rest = chunks.filter((chunk) => chunk.length > 0); rest.length > 0; ) {
    const { bytesWritten } = await file.writev(rest);
    rest = without(rest, bytesWritten);
    written += bytesWritten;
  }
  return written;
}

function unfinished(path: string): string {
  return `${path}.new`;
}

/** Deletes what a crash left of `writeDurably`. */
export async function removeUnfinished(path: string): Promise<void> {
  await rm(unfinished(path), { force: true });
}

/** Lets a power cut not take back what was named or moved in a folder. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Whether there is such a file or folder that can be seen. */
export async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** For `catch`: undefined where there is no such file. @throws any other error */
export function undefinedIfAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT") return undefined;
  throw error;
}

/** For `catch`: no names where there is no such folder. @throws any other error */
export function noneIfAbsent(error: NodeJS.ErrnoException): never[] {
  return undefinedIfAbsent(error) ?? [];
}

/** Bytes that anybody may still write where a folder is; undefined where the system does not tell. */
export async function freeBytes(folder: string): Promise<number | undefined> {
  const found = await statfs(folder).catch(() => undefined);
  return found === undefined ? undefined : found.bavail * found.bsize;
}

/** What is still to be filled or written when so many bytes have been. */
export function without(targets: readonly Uint8Array[], count: number): Uint8Array[] {
  let done = count;
  return targets.flatMap((target) => {
    const taken = Math.min(done, target.length);
    done -= taken;
    return taken === target.length ? [] : [target.subarray(taken)];
  });
}
