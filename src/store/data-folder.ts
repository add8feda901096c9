import { randomUUID } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../domain/errors.ts";
import { isDiskFull } from "./database/reserve.ts";
import { isThere, makeFolders } from "./durable-files.ts";

/** Makes DATA_DIR where it is not there yet. @throws Error that says what to do, where it cannot be written */
export async function prepareFolder(dataDir: string): Promise<void> {
  const probe = join(dataDir, `.writable-${randomUUID()}`);
  try {
    await makeFolders(dataDir);
    await writeFile(probe, "", { flag: "wx" });
    await rm(probe);
  } catch (error) {
    // Records can be deleted on a full disk, so it must not stop a start.
    if (isDiskFull(error) && (await isThere(dataDir))) return;
    throw isDiskFull(error) ? fullDisk(dataDir, error) : unusable(dataDir, error as NodeJS.ErrnoException);
  }
}

/** Of a disk that has no room for what a start needs. */
export function fullDisk(dataDir: string, cause: unknown): Error {
  const why = `${dataDir} is on a disk that is full: make room there, and start Platen again`;
  return new Error(`${why} (${messageOf(cause)}).`, { cause });
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
      return new Error(`DATA_DIR is ${dataDir}, which cannot be made or written: ${messageOf(error)}`);
  }
}

function forbidden(dataDir: string, code: string): Error {
  const user = process.getuid?.() ?? "this user";
  const group = process.getgid?.() ?? "its group";
  return new Error(
    `${dataDir} cannot be written (${code}). Platen runs as user ${user}, group ${group}: give the folder to it (chown -R ${user}:${group}) or choose another DATA_DIR.`,
  );
}
