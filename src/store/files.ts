import { closeSync, fstatSync, openSync, readvSync } from "node:fs";
import { access, type FileHandle, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { ByteSource, OpenFile } from "../domain/byte-source.ts";
import { messageOf } from "../domain/errors.ts";

/** An open file as a byte source; whoever opened it closes it. */
export interface FileSource extends ByteSource, OpenFile {
  /** Changes when another file takes its place, and when it is written again. */
  readonly version: string;
  /** Whether nobody has written it since it was opened. */
  isUnchanged(): Promise<boolean>;
  close(): Promise<void>;
}

/** @throws Error with code ENOENT when there is no such file. */
export async function openSource(path: string): Promise<FileSource> {
  const handle = await open(path, "r");
  try {
    const found = await handle.stat({ bigint: true });
    const source = sourceOf(
      Number(found.size),
      async (targets, at) => (await handle.readv(targets, at)).bytesRead,
    );
    const version = versionOf(found);
    const isUnchanged = async () => versionOf(await handle.stat({ bigint: true })) === version;
    return { ...source, descriptor: handle.fd, version, isUnchanged, close: () => handle.close() };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The size and the version of a file; undefined when there is none. */
export async function fileState(path: string): Promise<Pick<FileSource, "size" | "version"> | undefined> {
  const found = await stat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  return found?.isFile() ? { size: Number(found.size), version: versionOf(found) } : undefined;
}

function versionOf({ ino, size, mtimeNs }: { ino: bigint; size: bigint; mtimeNs: bigint }): string {
  return `${ino} ${size} ${mtimeNs}`;
}

/** A byte source for a process that may block: reading so is much faster. */
export function openSourceBlocking(path: string): FileSource {
  const descriptor = openSync(path, "r");
  const found = fstatSync(descriptor, { bigint: true });
  const source = sourceOfOpen({ descriptor, size: Number(found.size) });
  const version = versionOf(found);
  const isUnchanged = async () => versionOf(fstatSync(descriptor, { bigint: true })) === version;
  return { ...source, descriptor, version, isUnchanged, close: async () => closeSync(descriptor) };
}

/** The same for a file that another thread opened, and closes when this one is done with it. */
export function sourceOfOpen({ descriptor, size }: OpenFile): ByteSource {
  return sourceOf(size, (targets, at) => readvSync(descriptor, targets, at));
}

type ReadVector = (targets: Uint8Array[], position: number) => number | Promise<number>;

function sourceOf(size: number, readVector: ReadVector): ByteSource {
  const fill = async (position: number, targets: readonly Uint8Array[]) => {
    let rest = targets.filter((target) => target.length > 0);
    for (let at = position; rest.length > 0; ) {
      const count = await readVector(rest, at);
      if (count === 0) throw new Error("a file ended too early");
      rest = without(rest, count);
      at += count;
    }
  };
  const read = async (position: number, length: number) => {
    const buffer = Buffer.allocUnsafe(length);
    await fill(position, [buffer]);
    return buffer;
  };
  return { size, read, fill };
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

/** What is still to be filled or written when so many bytes have been. */
function without(targets: readonly Uint8Array[], count: number): Uint8Array[] {
  let done = count;
  return targets.flatMap((target) => {
    const taken = Math.min(done, target.length);
    done -= taken;
    return taken === target.length ? [] : [target.subarray(taken)];
  });
}

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
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  for (let made = resolve(path); made.length >= first.length; made = dirname(made))
    await syncFolder(dirname(made));
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
    const handle = await open(temporary, "w", ownerOnly);
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await moveIntoPlace(temporary, path);
  } catch (error) {
    // Where it stays, the next write replaces it.
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
}

function unfinished(path: string): string {
  return `${path}.new`;
}

/** Deletes what a crash left of `writeDurably`. */
export async function removeUnfinished(path: string): Promise<void> {
  await rm(unfinished(path), { force: true });
}

/**
 * Moves what a crash left of `writeDurably` to a folder where the file itself is missing: on a file system
 * that cannot replace a file at once it may be all that there is.
 */
export async function rescueUnfinished(path: string, folder: string): Promise<void> {
  const from = unfinished(path);
  if ((await isThere(path)) || !(await isThere(from))) return;
  await makeFolder(folder);
  await rename(from, join(folder, basename(from)));
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
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
