import { constants, copyFile, link, open, stat } from "node:fs/promises";
import { basename } from "node:path";
import type { GoodState, RecordCounts } from "../../domain/backup.ts";
import { messageOf } from "../../domain/errors.ts";
import { counted } from "../../domain/sentences.ts";
import type { Database } from "../database/database.ts";
import { DamagedDatabase } from "../database/file.ts";
import { writeDurably } from "../durable-files.ts";
import { isWithoutLinks } from "../found-files.ts";
import { readFacts } from "../records.ts";
import type { Backups } from "./backups.ts";
import { earlierState } from "./earlier-state.ts";

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
  readonly recovered: GoodState | undefined;
}

/**
 * Opens the database. A damaged one stops the start, which names the newest good backup; where that is asked for, it
 * takes the damaged one's place, which is kept beside it.
 * @throws DamagedDatabase, NewerDatabase; Error where there is nothing to go back to
 */
export async function openOrRecover(recovery: Recovery): Promise<Opened> {
  const { path, isAsked, log } = recovery;
  const isMissing = (await stat(path).catch(() => undefined)) === undefined;
  if (isMissing && isAsked && recovery.backups.list().length > 0)
    return recover(recovery, `${path} is missing.`);
  try {
    const db = await recovery.open();
    if (isAsked) log("--recover: the database is sound: nothing was changed");
    return { db, recovered: undefined };
  } catch (error) {
    if (!(error instanceof DamagedDatabase)) throw error;
    if (isAsked) return recover(recovery, error.message);
    const good = await newestGood(recovery);
    if (good === undefined) throw error;
    throw new Error(offer(path, error.reason, good.state));
  }
}

function newestGood({ backups }: Recovery): ReturnType<Backups["newestGood"]> {
  return backups.newestGood(readFacts);
}

function offer(path: string, reason: string, { name, savedAt, checked }: GoodState): string {
  const content = contentOf(checked.facts.records);
  return [
    `${path} cannot be read as a database (${reason}). Nothing was changed.`,
    `The newest good backup is ${name}, the state of ${new Date(savedAt).toISOString()}: ${content}. Whatever was changed since then is not in it.`,
    "To go on from it, start Platen once with --recover; the damaged file is set aside, never deleted.",
    "Where there is a backup elsewhere, platen restore FILE.tar is the other way: it puts that in the place of all this, which is kept.",
    "In the container: docker compose stop, then docker compose run --rm --service-ports platen node /app/platen.cjs --recover",
  ].join("\n");
}

function contentOf({ clients, drivers, printers }: RecordCounts): string {
  return [counted(clients, "client"), counted(drivers, "driver"), counted(printers, "printer")].join(", ");
}

async function recover(recovery: Recovery, problem: string): Promise<Opened> {
  const { path, now, log, backups } = recovery;
  const good = await newestGood(recovery);
  if (good === undefined) {
    const count = backups.list().length;
    const found = count === 0 ? "There is no backup" : `None of ${counted(count, "backup")} can be read`;
    throw new Error(
      `${problem}\n${found} in ${backups.pathOf("")}. A full backup can be put back with: platen restore FILE.tar`,
    );
  }
  const aside = await setAside(path, now);
  await writeDurably(path, await earlierState(good.bytes));
  const db = await recovery.open();
  if (aside !== undefined) log(`recovered: the damaged database is kept as ${aside}`);
  log(
    `recovered: the database is ${good.state.name}, the state of ${new Date(good.state.savedAt).toISOString()} (${contentOf(good.state.checked.facts.records)}); what was changed after it is not in it`,
  );
  log(
    "recovered: accounts, sessions and tokens are those of that time; links have ended: scripts that were downloaded by themselves have to be fetched anew",
  );
  return { db, recovered: good.state };
}

/**
 * A second name for the file, so that there is one under its own name at every moment.
 * @returns the name; undefined where there is no file
 * @throws Error where it cannot be kept: then nothing was changed
 */
async function setAside(path: string, now: number): Promise<string | undefined> {
  const stamp = new Date(now).toISOString().replaceAll(":", "").slice(0, 17);
  for (let attempt = 0; ; attempt++) {
    const aside = `${path}.damaged-${stamp}Z${attempt === 0 ? "" : `-${attempt}`}`;
    try {
      await link(path, aside).catch((error: NodeJS.ErrnoException) =>
        isWithoutLinks(error) ? copyDurably(path, aside) : Promise.reject(error),
      );
      return basename(aside);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") return undefined;
      if (code !== "EEXIST")
        throw new Error(
          `The damaged database cannot be set aside (${messageOf(error)}). Nothing was changed.`,
        );
    }
  }
}

async function copyDurably(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL);
  const handle = await open(to, "r+");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
