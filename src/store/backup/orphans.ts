import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage } from "../../domain/errors.ts";
import { counted, dayMs } from "../../domain/text.ts";
import { type BlobKind, blobKinds } from "../blobs.ts";
import { makeFolders, moveIntoPlace } from "../durable-files.ts";
import { digestFiles, keptFilesFolder } from "./kept-files.ts";

const lostDays = 30;
const lostMs = lostDays * dayMs;

interface TidyOptions {
  readonly dataDir: string;
  /** The digests of files that records or deletions refer to. */
  readonly needed: Readonly<Record<BlobKind, ReadonlySet<string>>>;
  /** Time of the last write of the database; 0 for a new database. */
  readonly lastWrite: number;
  readonly now: number;
  readonly log: (line: string) => void;
}

/**
 * Matches files with records at a start. A missing file of a record is moved back from `lost/` or `backups/files/`. A file
 * without a record is moved to `lost/` and deleted there after 30 days. A file newer than the database's last write stays,
 * because the database may be an older copy; with a new database all files stay. The exception is a file with a marker in
 * `incoming/`: a crash prevented its record.
 */
export async function tidyBlobs(options: TidyOptions): Promise<void> {
  const { lastWrite, log } = options;
  const counts = { back: 0, stay: { drivers: 0, icons: 0, preferences: 0 }, lost: 0, deleted: 0 };
  for (const kind of blobKinds) {
    try {
      for (const folder of ["lost", keptFilesFolder]) counts.back += await moveBack(options, kind, folder);
      const orphans = (await digestFiles(join(options.dataDir, kind), kind)).filter(
        ({ sha256 }) => !options.needed[kind].has(sha256),
      );
      const markers = await digestFiles(join(options.dataDir, "incoming"), kind);
      const unrecorded = new Set(markers.map(({ sha256 }) => sha256));
      const old = orphans.filter(
        ({ sha256, modifiedAt }) => modifiedAt <= lastWrite || unrecorded.has(sha256),
      );
      counts.stay[kind] += orphans.length - old.length;
      for (const { name } of old) {
        await moveToLost(options, kind, name);
        counts.lost++;
      }
      for (const { path } of markers) await rm(path, { force: true });
      if (lastWrite > 0) counts.deleted += await deleteLost(options, kind);
    } catch (error) {
      log(`warning: ${kind}/ was left as it is: ${errorMessage(error)}`);
    }
  }
  logCounts(counts, log);
}

interface Counts extends Readonly<Record<"back" | "lost" | "deleted", number>> {
  readonly stay: Readonly<Record<BlobKind, number>>;
}

function logCounts(counts: Counts, log: TidyOptions["log"]): void {
  const logCount = (what: string, count: number, more = "") => count > 0 && log(`${what}: ${count}${more}`);
  logCount("files restored, because records refer to them", counts.back);
  const { drivers, icons, preferences } = counts.stay;
  // A return to an older database may have removed the records of these files.
  const zips = `, of them ${counted(drivers, "driver ZIP")} in drivers/: if a driver is missing now, upload its ZIP again, from there or from the vendor`;
  logCount(
    "files without a record that stay in place, because they are newer than the database",
    drivers + icons + preferences,
    drivers > 0 ? zips : "",
  );
  logCount(
    `files without a record moved to lost/, where they are deleted after ${lostDays} days`,
    counts.lost,
  );
  logCount(`files deleted from lost/ after ${lostDays} days`, counts.deleted);
}

async function moveBack({ dataDir, needed }: TidyOptions, kind: BlobKind, folder: string): Promise<number> {
  const present = new Set((await digestFiles(join(dataDir, kind), kind)).map(({ sha256 }) => sha256));
  const missing = (await digestFiles(join(dataDir, folder, kind), kind)).filter(
    ({ sha256 }) => needed[kind].has(sha256) && !present.has(sha256),
  );
  for (const { name, path } of missing) await moveIntoPlace(path, join(dataDir, kind, name));
  return missing.length;
}

async function moveToLost({ dataDir, now }: TidyOptions, kind: BlobKind, name: string): Promise<void> {
  const from = join(dataDir, kind, name);
  await makeFolders(join(dataDir, "lost", kind));
  // Set the time before the move: a file in lost/ with its old time would be deleted at the next start.
  await setTime(from, now);
  await moveIntoPlace(from, join(dataDir, "lost", kind, name));
}

async function setTime(path: string, time: number): Promise<void> {
  const handle = await open(path, "r+");
  try {
    await handle.utimes(time / 1000, time / 1000);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function deleteLost({ dataDir, now }: TidyOptions, kind: BlobKind): Promise<number> {
  const lost = await digestFiles(join(dataDir, "lost", kind), kind);
  const due = lost.filter(({ modifiedAt }) => modifiedAt + lostMs < now);
  for (const { path } of due) await rm(path, { force: true });
  return due.length;
}
