import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { DatabaseFacts, KeptState } from "../../domain/backup.ts";
import { timeStamp } from "../../domain/day.ts";
import { messageOf } from "../../domain/errors.ts";
import { counted } from "../../domain/sentences.ts";
import { alteredBytes } from "../database/altered.ts";
import type { Database } from "../database/database.ts";
import { DamagedDatabase } from "../database/file.ts";
import { writeDurably } from "../durable-files.ts";
import { isThere, undefinedIfAbsent } from "../found-files.ts";
import { endLinks } from "../link-generations.ts";
import { leaveOutNumbers } from "../record-numbers.ts";
import { readFacts } from "../records.ts";
import type { Backups } from "./backups.ts";

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
 * @throws DamagedDatabase, NewerDatabase; Error where there is nothing to go back to
 */
export async function openOrRecover(recovery: Recovery): Promise<Opened> {
  const { path, isAsked, log, backups } = recovery;
  if (isAsked && backups.list().length > 0 && !(await isThere(path)))
    return recover(recovery, `${path} is missing.`);
  try {
    const db = await recovery.open();
    if (isAsked) log("--recover: the database is sound: nothing was changed");
    return { db, recovered: undefined };
  } catch (error) {
    if (!(error instanceof DamagedDatabase)) throw error;
    if (isAsked) return recover(recovery, error.message);
    const good = await newestGood(backups);
    if (good === undefined) throw error;
    throw new Error(offer(path, error.reason, good));
  }
}

/** A state of the database that is gone back to, without what would come back of its time: links, and numbers of records. */
export function earlierState(file: Uint8Array): Promise<Uint8Array> {
  return alteredBytes(file, (db) => {
    endLinks(db);
    leaveOutNumbers(db);
  });
}

interface ReadState {
  readonly state: KeptState;
  readonly file: Uint8Array;
  readonly facts: DatabaseFacts;
}

/** The newest state that a start can read: what is known of a state may be older than its damage. */
async function newestGood(backups: Backups): Promise<ReadState | undefined> {
  for (const state of backups.list()) {
    const path = backups.pathOf(state.name);
    try {
      const file = await readFile(path);
      return { state, file, facts: await readFacts(path, file) };
    } catch {
      // The one before it may be whole.
    }
  }
  return undefined;
}

function offer(path: string, reason: string, good: ReadState): string {
  return [
    `${path} cannot be read as a database (${reason}). Nothing was changed.`,
    `The newest good backup is ${good.state.name}, ${contentOf(good, ": ")}. Whatever was changed since then is not in it.`,
    "To go on from it, start Platen once with --recover; the damaged file is set aside, never deleted.",
    "Where there is a backup elsewhere, platen restore FILE.tar is the other way: it puts that in the place of all this, which is kept.",
    "In the container: docker compose stop, then docker compose run --rm --service-ports platen node /app/platen.cjs --recover",
  ].join("\n");
}

function contentOf({ state, facts }: ReadState, before: string, after = ""): string {
  const { clients, drivers, printers } = facts.records;
  const counts = [counted(clients, "client"), counted(drivers, "driver"), counted(printers, "printer")];
  return `the state of ${new Date(state.savedAt).toISOString()}${before}${counts.join(", ")}${after}`;
}

async function recover(
  { path, open: openDatabase, now, log, backups }: Recovery,
  problem: string,
): Promise<Opened> {
  const good = await newestGood(backups);
  if (good === undefined) {
    const count = backups.list().length;
    const found = count === 0 ? "There is no backup" : `None of ${counted(count, "backup")} can be read`;
    throw new Error(
      `${problem}\n${found} in ${backups.pathOf("")}. A full backup can be put back with: platen restore FILE.tar`,
    );
  }
  const aside = await setAside(path, now);
  await writeDurably(path, await earlierState(good.file));
  const db = await openDatabase();
  if (aside !== undefined) log(`recovered: the damaged database is kept as ${aside}`);
  log(
    `recovered: the database is ${good.state.name}, ${contentOf(good, " (", ")")}; what was changed after it is not in it`,
  );
  log(
    "recovered: accounts, sessions and tokens are those of that time; links have ended: scripts that were downloaded by themselves have to be fetched anew",
  );
  return { db, recovered: good.state };
}

/**
 * A copy of the file, so that there is one under its own name at every moment.
 * @returns the copy's name; undefined where there is no file
 * @throws Error where it cannot be kept: then nothing was changed
 */
async function setAside(path: string, now: number): Promise<string | undefined> {
  const aside = `${path}.damaged-${timeStamp(now)}`;
  try {
    if (await isThere(aside)) throw new Error(`${aside} is there already`);
    const file = await readFile(path).catch(undefinedIfAbsent);
    if (file === undefined) return undefined;
    await writeDurably(aside, file);
    return basename(aside);
  } catch (error) {
    throw new Error(`The damaged database cannot be set aside (${messageOf(error)}). Nothing was changed.`);
  }
}
