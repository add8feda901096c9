import { randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { moveIntoPlace, ownerOnly } from "../durable-files.ts";
import { isThere } from "../existing-files.ts";

/**
 * Writes a file that is there whole or not at all, for its owner alone. What fails, or is stopped by a signal, leaves nothing.
 * @throws Error where there is such a file already and it is not to be replaced
 */
export async function writeNewFile(
  path: string,
  chunks: AsyncIterable<Buffer>,
  isForced: boolean,
): Promise<void> {
  if (!isForced && (await isThere(path)))
    throw new Error(`${path} is there already: choose another name, or say --force to replace it`);
  const unfinished = `${path}.${randomUUID().slice(0, 8)}.part`;
  const output = createWriteStream(unfinished, { flags: "wx", mode: ownerOnly, flush: true });
  const stop = (signal: NodeJS.Signals) => output.destroy(new Error(`stopped by ${signal}`));
  process.on("SIGINT", stop).on("SIGTERM", stop);
  try {
    await pipeline(chunks, output);
    await moveIntoPlace(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new Error(`the folder ${dirname(resolve(path))} is not there (ENOENT): make it first`);
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
  }
}

/** The bytes of a file, which is opened when the first ones are asked for. */
export async function* readPieces(path: string): AsyncGenerator<Buffer> {
  yield* createReadStream(path, { highWaterMark: 1 << 20 });
}
