import { closeSync, fstatSync, fsyncSync, openSync, readvSync, writeSync } from "node:fs";
import { mkdtemp, open, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ByteSource, OpenFile } from "../domain/byte-source.ts";
import { bytesAfter, undefinedIfAbsent } from "./durable-files.ts";

/** An open file as a byte source. The caller that opened it closes it. */
export interface FileSource extends ByteSource, OpenFile {
  /** Changes when the file is replaced or written again. */
  readonly version: string;
  close(): Promise<void>;
}

/** @throws Error with code ENOENT when there is no such file */
export async function openSource(path: string): Promise<FileSource> {
  const handle = await open(path, "r");
  try {
    const found = await handle.stat({ bigint: true });
    const source = sourceOf(
      Number(found.size),
      async (targets, at) => (await handle.readv(targets, at)).bytesRead,
    );
    return { ...source, descriptor: handle.fd, version: versionOf(found), close: () => handle.close() };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The size and the version of a file; undefined when there is none. */
export async function fileState(path: string): Promise<Pick<FileSource, "size" | "version"> | undefined> {
  const found = await stat(path, { bigint: true }).catch(undefinedIfAbsent);
  return found?.isFile() ? { size: Number(found.size), version: versionOf(found) } : undefined;
}

function versionOf({ ino, size, mtimeNs }: { ino: bigint; size: bigint; mtimeNs: bigint }): string {
  return `${ino} ${size} ${mtimeNs}`;
}

/** A byte source for a process that may block: synchronous reads are much faster. */
export function openSourceBlocking(path: string): ByteSource & { close(): void } {
  const descriptor = openSync(path, "r");
  const source = sourceOfOpen({ descriptor, size: fstatSync(descriptor).size });
  return { ...source, close: () => closeSync(descriptor) };
}

/** The same for a file that another thread opened. That thread closes it when this one is done. */
export function sourceOfOpen({ descriptor, size }: OpenFile): ByteSource {
  return sourceOf(size, (targets, at) => readvSync(descriptor, targets, at));
}

type ReadVector = (targets: Uint8Array[], position: number) => number | Promise<number>;

function sourceOf(size: number, readVector: ReadVector): ByteSource {
  const fill = async (position: number, targets: readonly Uint8Array[]) => {
    let remaining = targets.filter((target) => target.length > 0);
    for (let at = position; remaining.length > 0; ) {
      const count = await readVector(remaining, at);
      if (count === 0) throw new Error("a file ended too early");
      remaining = bytesAfter(remaining, count);
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

/**
 * Writes a file in a process that may block, and syncs it. An existing file is overwritten.
 * @param fill writes the file's bytes in pieces
 */
export async function writeBlocking(
  path: string,
  fill: (write: (bytes: Buffer) => void) => Promise<void>,
): Promise<void> {
  const descriptor = openSync(path, "w");
  try {
    await fill((bytes) => {
      for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
    });
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Runs `use` with the path of a file that it may write, outside of the data folder. The file is deleted afterwards. */
export async function withTemporaryFile<T>(use: (path: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "platen-"));
  try {
    return await use(join(folder, "file"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
