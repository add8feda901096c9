import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { type KeptState, recordsText } from "../../domain/backup/backup.ts";
import { errorMessage } from "../../domain/errors.ts";
import { counted, timeStamp } from "../../domain/text.ts";
import { endAllLinks } from "../access/links.ts";
import { alteredBytes } from "../database/connection.ts";
import type { Database } from "../database/database.ts";
import { DamagedDatabase } from "../database/file.ts";
import type { Queries } from "../database/rows.ts";
import { exists, undefinedIfAbsent, writeDurably } from "../durable-files.ts";
import { readFileFacts } from "../records.ts";
import type { Backups } from "./backups.ts";
import { skipIds } from "./record-numbers.ts";

interface Recovery {
  /** The path of the database. */
  readonly path: string;
  readonly open: () => Promise<Database>;
  readonly backups: Backups;
  /** Whether `--recover` was given: the newest good backup then replaces a damaged or missing database. */
  readonly isRequested: boolean;
  /** UTC, milliseconds since 1970. */
  readonly now: number;
  readonly log: (line: string) => void;
}

interface OpenedDatabase {
  readonly db: Database;
  /** The backup that replaced the database; undefined if the database was opened. */
  readonly recovered: KeptState | undefined;
}

/**
 * Opens the database. With `isRequested`, the newest good backup replaces a damaged or missing database. A copy of the
 * damaged file stays in the same folder.
 * @throws NewerDatabase; Error that names the newest good backup, if any; the errors of `open`
 */
export async function openOrRecover(recovery: Recovery): Promise<OpenedDatabase> {
  const { path, isRequested, log, backups } = recovery;
  try {
    if (isRequested && backups.list().length > 0 && !(await exists(path)))
      throw new DamagedDatabase(path, "it is missing");
    const db = await recovery.open();
    if (isRequested) log("--recover: the database is sound: nothing was changed");
    return { db, recovered: undefined };
  } catch (error) {
    if (!(error instanceof DamagedDatabase)) throw error;
    const good = await newestGoodBackup(backups);
    if (good !== undefined && isRequested) return recover(recovery, good);
    const newest = good
      ? `The newest good backup is ${good.description}. Whatever was changed since then is not in it.`
      : `No good backup is in ${backups.pathOf("")}, of ${counted(backups.list().length, "state")}.`;
    throw new Error(`${error.message}\n${newest}`);
  }
}

/** Prepares a database from a backup: ends its links, and skips the ids of records that were added later. */
export function prepareRestored(db: Queries): void {
  endAllLinks(db);
  skipIds(db);
}

/** A backup that was read without a problem. */
interface GoodBackup {
  readonly state: KeptState;
  readonly file: Uint8Array;
  /** Its file name, its time and the numbers of its records. */
  readonly description: string;
}

async function newestGoodBackup(backups: Backups): Promise<GoodBackup | undefined> {
  for (const state of backups.list()) {
    try {
      const { file, facts } = await readFileFacts(backups.pathOf(state.name));
      const time = new Date(state.savedAt).toISOString();
      return { state, file, description: `${state.name}, the state of ${time}: ${recordsText(facts)}` };
    } catch {
      // Try the next older backup.
    }
  }
  return undefined;
}

async function recover({ path, now, log, open }: Recovery, good: GoodBackup): Promise<OpenedDatabase> {
  const damagedCopy = await copyDamaged(path, now);
  await writeDurably(path, await alteredBytes(good.file, prepareRestored));
  const db = await open();
  if (damagedCopy !== undefined) log(`recovered: the damaged database is kept as ${damagedCopy}`);
  log(`recovered: the database is ${good.description}; what was changed after it is not in it`);
  log(
    "recovered: accounts, sessions and tokens are those of that time; all links have ended: scripts that were downloaded without a package must be downloaded again",
  );
  return { db, recovered: good.state };
}

/**
 * Copies the damaged database. It does not move the file: after a crash, the next start would find no database and make
 * a new one.
 * @returns the copy's file name; undefined when the database is missing
 * @throws Error when the copy cannot be made
 */
async function copyDamaged(path: string, now: number): Promise<string | undefined> {
  const copyName = (time: number) => `${path}.damaged-${timeStamp(time)}`;
  let time = now;
  while (await exists(copyName(time))) time += 1000;
  const copyPath = copyName(time);
  try {
    const file = await readFile(path).catch(undefinedIfAbsent);
    if (file === undefined) return undefined;
    await writeDurably(copyPath, file);
    return basename(copyPath);
  } catch (error) {
    throw new Error(
      `The damaged database cannot be set aside (${errorMessage(error)}). Nothing was changed.`,
    );
  }
}
