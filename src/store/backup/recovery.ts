import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { type KeptState, recordsText } from "../../domain/backup/backup.ts";
import { messageOf } from "../../domain/errors.ts";
import { counted, timeStamp } from "../../domain/text.ts";
import { endLinks } from "../access/link-generations.ts";
import { alteredBytes } from "../database/connection.ts";
import type { Database } from "../database/database.ts";
import { DamagedDatabase } from "../database/file.ts";
import type { Queries } from "../database/rows.ts";
import { isThere, undefinedIfAbsent, writeDurably } from "../durable-files.ts";
import { readFileFacts } from "../records.ts";
import type { Backups } from "./backups.ts";
import { leaveOutNumbers } from "./record-numbers.ts";

interface Recovery {
  /** Of the database. */
  readonly path: string;
  readonly open: () => Promise<Database>;
  readonly backups: Backups;
  /** Whether the newest good backup is to take the place of a database that is damaged or missing. */
  readonly isAsked: boolean;
  /** UTC, milliseconds since 1970. */
  readonly now: number;
  readonly log: (line: string) => void;
}

interface Opened {
  readonly db: Database;
  /** The backup that took the place of what was there. */
  readonly recovered: KeptState | undefined;
}

/**
 * Opens the database. A damaged one stops the start, which names the newest good backup; where that is asked for, it
 * takes the damaged one's place, which is kept beside it.
 * @throws NewerDatabase; Error that says what can be done
 */
export async function openOrRecover(recovery: Recovery): Promise<Opened> {
  const { path, isAsked, log, backups } = recovery;
  try {
    if (isAsked && backups.list().length > 0 && !(await isThere(path)))
      throw new DamagedDatabase(path, "it is missing");
    const db = await recovery.open();
    if (isAsked) log("--recover: the database is sound: nothing was changed");
    return { db, recovered: undefined };
  } catch (error) {
    if (!(error instanceof DamagedDatabase)) throw error;
    const good = await newestGood(backups);
    if (good !== undefined && isAsked) return recover(recovery, good);
    const newest = good
      ? `The newest good backup is ${good.what}. Whatever was changed since then is not in it.`
      : `No good backup is in ${backups.pathOf("")}, of ${counted(backups.list().length, "state")}.`;
    throw new Error(`${error.message}\n${newest}`);
  }
}

/** Ends in a state that is gone back to what would come back of its time: links, and numbers that records got since. */
export function goBack(db: Queries): void {
  endLinks(db);
  leaveOutNumbers(db);
}

interface ReadState {
  readonly state: KeptState;
  readonly file: Uint8Array;
  /** Its name, its time, and what it holds. */
  readonly what: string;
}

/** The newest state that a start can read. */
async function newestGood(backups: Backups): Promise<ReadState | undefined> {
  for (const state of backups.list()) {
    try {
      const { file, facts } = await readFileFacts(backups.pathOf(state.name));
      const time = new Date(state.savedAt).toISOString();
      return { state, file, what: `${state.name}, the state of ${time}: ${recordsText(facts)}` };
    } catch {
      // The one before it may be whole.
    }
  }
  return undefined;
}

async function recover({ path, now, log, open }: Recovery, good: ReadState): Promise<Opened> {
  const aside = await setAside(path, now);
  await writeDurably(path, await alteredBytes(good.file, goBack));
  const db = await open();
  if (aside !== undefined) log(`recovered: the damaged database is kept as ${aside}`);
  log(`recovered: the database is ${good.what}; what was changed after it is not in it`);
  log(
    "recovered: accounts, sessions and tokens are those of that time; links have ended: scripts that were downloaded by themselves have to be fetched anew",
  );
  return { db, recovered: good.state };
}

/**
 * Copies the file, so that there is one under its own name at every moment.
 * @returns the copy's name; undefined where there is no file
 * @throws Error where it cannot be kept: then nothing was changed
 */
async function setAside(path: string, now: number): Promise<string | undefined> {
  const asideAt = (time: number) => `${path}.damaged-${timeStamp(time)}`;
  let time = now;
  while (await isThere(asideAt(time))) time += 1000;
  const aside = asideAt(time);
  try {
    const file = await readFile(path).catch(undefinedIfAbsent);
    if (file === undefined) return undefined;
    await writeDurably(aside, file);
    return basename(aside);
  } catch (error) {
    throw new Error(`The damaged database cannot be set aside (${messageOf(error)}). Nothing was changed.`);
  }
}
