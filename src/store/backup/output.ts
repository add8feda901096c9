import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, link, open, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Readable, Writable } from "node:stream";
import { moveIntoPlace, ownerOnly, writeAll } from "../durable-files.ts";
import { isThere, isWithoutLinks } from "../found-files.ts";

/**
 * Writes a file that is there whole or not at all, for its owner alone. What fails, or is stopped, leaves nothing.
 * @param chunks each counts until the next is asked for
 * @throws Error where there is such a file already and it is not to be replaced
 */
export async function writeNewFile(
  path: string,
  chunks: AsyncIterable<Buffer>,
  { replace, stop }: { readonly replace: boolean; readonly stop: AbortSignal },
): Promise<void> {
  if (!replace && (await isThere(path))) throw exists(path);
  const unfinished = `${path}.${randomUUID().slice(0, 8)}.part`;
  const handle = await open(unfinished, "wx", ownerOnly).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
    throw new Error(`the folder ${dirname(resolve(path))} is not there (${error.code}): make it first`);
  });
  try {
    await writeChunks(handle, chunks, stop);
    if (replace) await moveIntoPlace(unfinished, path);
    else await moveToNew(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

/** Writes to a stream as fast as it takes it. @throws Error of the stream */
export async function writeTo(
  stream: Writable,
  chunks: AsyncIterable<Buffer>,
  stop: AbortSignal,
): Promise<void> {
  // Each write tells what is wrong; without a listener the same would end the process.
  stream.on("error", () => {});
  for await (const chunk of chunks) {
    stop.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      stream.write(chunk, (error) => (error ? reject(error) : resolve()));
    });
  }
}

/** The bytes of a file, or of a stream. @throws Error where it cannot be read, or when it is to stop */
export async function* readFrom(source: string | Readable, stop: AbortSignal): AsyncGenerator<Buffer> {
  const stream = typeof source === "string" ? createReadStream(source, { highWaterMark: 1 << 20 }) : source;
  for await (const chunk of stream) {
    stop.throwIfAborted();
    yield chunk;
  }
}

async function writeChunks(
  handle: FileHandle,
  chunks: AsyncIterable<Buffer>,
  stop: AbortSignal,
): Promise<void> {
  try {
    for await (const chunk of chunks) {
      stop.throwIfAborted();
      await writeAll(handle, [chunk]);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Not over a file that came meanwhile, where the file system can say so. */
async function moveToNew(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
    await rm(from);
    return;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") throw exists(to);
    if (!isWithoutLinks(error as NodeJS.ErrnoException)) throw error;
  }
  if (await isThere(to)) throw exists(to);
  await rename(from, to);
}

function exists(path: string): Error {
  return new Error(`${path} is there already: choose another name, or say --force to replace it`);
}
