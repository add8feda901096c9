import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { type KeptState, recordsText } from "../../domain/backup/backup.ts";
import { errorMessage } from "../../domain/errors.ts";
import { counted, timeStamp } from "../../domain/text.ts";
import { endAllLinks } from "../access/link-generations.ts";
import { alteredBytes } from "../database/connection.ts";
import type { Database } from "../database/database.ts";
import { DamagedDatabase } from "../database/file.ts";
import type { Queries } from "../database/rows.ts";
import { exists, undefinedIfAbsent, writeDurably } from "../durable-files.ts";
import { readFileFacts } from "../records.ts";
import type { Backups } from "./backups.ts";
import { skipNumbers } from "./record-numbers.ts";

interface Recovery {
  /** The path of the database. */
  readonly path: string;
  readonly open: () => Promise<Database>;
  readonly backups: Backups;
  /** Whether the newest good backup replaces a damaged or missing database. */
  readonly isRequested: boolean;
  /** UTC, milliseconds since 1970. */
  readonly now: number;
  readonly log: (line: string) => void;
}

interface OpenedDatabase {
  readonly db: Database;
  /** The backup that replaced the database. */
  readonly recovered: KeptState | undefined;
}

/**
 * Opens the database. If it is damaged, the error names the newest good backup. With `isRequested`, that backup replaces the
 * damaged database, which is kept beside it.
 * @throws NewerDatabase, or Error that says what to do
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
    const good = await newestGoodState(backups);
    if (good !== undefined && isRequested) return recover(recovery, good);
    const newest = good
      ? `The newest good backup is ${good.what}. Whatever was changed since then is not in it.`
      : `No good backup is in ${backups.pathOf("")}, of ${counted(backups.list().length, "state")}.`;
    throw new Error(`${error.message}\n${newest}`);
  }
}

/** Prepares an old state for use: revokes its links, and skips the ids that records got later. */
export function expireOldState(db: Queries): void {
  endAllLinks(db);
  skipNumbers(db);
}

interface ReadState {
  readonly state: KeptState;
  readonly file: Uint8Array;
  /** Its name, its time and its number of records. */
  readonly what: string;
}

async function newestGoodState(backups: Backups): Promise<ReadState | undefined> {
  for (const state of backups.list()) {
    try {
      const { file, facts } = await readFileFacts(backups.pathOf(state.name));
      const time = new Date(state.savedAt).toISOString();
      return { state, file, what: `${state.name}, the state of ${time}: ${recordsText(facts)}` };
    } catch {
      // Try the next older state.
    }
  }
  return undefined;
}

async function recover({ path, now, log, open }: Recovery, good: ReadState): Promise<OpenedDatabase> {
  const damagedCopy = await copyDamaged(path, now);
  await writeDurably(path, await alteredBytes(good.file, expireOldState));
  const db = await open();
  if (damagedCopy !== undefined) log(`recovered: the damaged database is kept as ${damagedCopy}`);
  log(`recovered: the database is ${good.what}; what was changed after it is not in it`);
  log(
    "recovered: accounts, sessions and tokens are those of that time; links have ended: scripts that were downloaded by themselves have to be fetched anew",
  );
  return { db, recovered: good.state };
}

/**
 * Copies the file instead of moving it, so that the database's own name never disappears.
 * @returns the copy's name; undefined when there is no file
 * @throws Error when the copy cannot be made; nothing was changed then
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
