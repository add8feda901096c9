import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { ByteSource } from "../domain/byte-source.ts";

/** An open file as a byte source; whoever opened it closes it. */
export interface FileSource extends ByteSource {
  close(): Promise<void>;
}

/** @throws Error with code ENOENT when there is no such file. */
export async function openSource(path: string): Promise<FileSource> {
  const handle = await open(path, "r");
  try {
    const { size } = await handle.stat();
    return {
      size,
      read: (position, length) => readExactly(handle, position, length),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function readExactly(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await handle.read(buffer, done, length - done, position + done);
    if (bytesRead === 0) throw new Error(`a file ended ${length - done} bytes too early`);
    done += bytesRead;
  }
  return buffer;
}

/** Puts a file that is complete and synced into its place, so that a power cut leaves the old or the new. */
export async function moveIntoPlace(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncFolder(dirname(to));
}

/** Writes a file so that it is there whole or not at all. */
export async function writeDurably(path: string, bytes: Uint8Array, mode = 0o644): Promise<void> {
  const temporary = `${path}.new`;
  try {
    const handle = await open(temporary, "w", mode);
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await moveIntoPlace(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
