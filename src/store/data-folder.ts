import { randomUUID } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage } from "../domain/errors.ts";
import { isDiskFull } from "./database/reserve.ts";
import { exists, makeFolders } from "./durable-files.ts";

/** Makes DATA_DIR if it is missing. @throws Error that says what to do when it cannot be written */
export async function prepareFolder(dataDir: string): Promise<void> {
  const probe = join(dataDir, `.writable-${randomUUID()}`);
  try {
    await makeFolders(dataDir);
    await writeFile(probe, "", { flag: "wx" });
    await rm(probe);
  } catch (error) {
    // Users can delete records on a full disk, so a full disk must not stop the start.
    if (isDiskFull(error) && (await exists(dataDir))) return;
    throw isDiskFull(error) ? fullDisk(dataDir, error) : unusable(dataDir, error as NodeJS.ErrnoException);
  }
}

/** The error when the disk has no room for what a start needs. */
export function fullDisk(dataDir: string, cause: unknown): Error {
  const why = `${dataDir} is on a disk that is full: make room there, and start Platen again`;
  return new Error(`${why} (${errorMessage(cause)}).`, { cause });
}

function unusable(dataDir: string, error: NodeJS.ErrnoException): Error {
  switch (error.code) {
    case "EEXIST":
      return new Error(`DATA_DIR is ${dataDir}, and that is a file: choose a folder.`);
    case "ENOTDIR":
      return new Error(
        `DATA_DIR is ${dataDir}, and one of the folders around that is a file: choose another.`,
      );
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return forbidden(dataDir, error.code);
    default:
      return new Error(`DATA_DIR is ${dataDir}, which cannot be made or written: ${errorMessage(error)}`);
  }
}

function forbidden(dataDir: string, code: string): Error {
  const user = process.getuid?.() ?? "this user";
  const group = process.getgid?.() ?? "its group";
  return new Error(
    `${dataDir} cannot be written (${code}). Platen runs as user ${user}, group ${group}: give the folder to it (chown -R ${user}:${group}) or choose another DATA_DIR.`,
  );
}
