import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Account } from "../../domain/access/account.ts";
import type { Token } from "../../domain/access/token.ts";
import type { DatabaseFacts } from "../../domain/backup/backup.ts";
import type { Manifest } from "../../domain/backup/full-backup.ts";
import { itself } from "../actor.ts";
import { Changes } from "../audit/changes.ts";
import { alteredBytes } from "../database/connection.ts";
import { DamagedDatabase } from "../database/file.ts";
import { lockFolder } from "../database/lock.ts";
import type { Queries } from "../database/rows.ts";
import { makeFolders, writeDurably } from "../durable-files.ts";
import { factsOf, readState } from "../records.ts";
import { goBack } from "./recovery.ts";
import { finishSwap, makeStaging, swapIn } from "./swap.ts";
import { unpackBackup } from "./unpacking.ts";

interface RestoreOptions {
  readonly dataDir: string;
  /** UTC, milliseconds since 1970. */
  readonly now: number;
  readonly log: (line: string) => void;
}

/** What a restored database holds, and who it lets in. */
interface RestoredState {
  readonly facts: DatabaseFacts;
  readonly accounts: readonly Account[];
  readonly tokens: readonly Token[];
}

interface Restored extends RestoredState {
  readonly manifest: Manifest;
  /** The folder, below DATA_DIR, of what was there; undefined where nothing was. */
  readonly kept: string | undefined;
}

/**
 * Puts a full backup in the place of what a DATA_DIR holds, which is kept. Nothing is replaced before all of it was
 * unpacked, compared, and read as a start would.
 * @param tar from anywhere
 * @throws Error that says what is wrong: then nothing was changed, or the next start goes on with it (`isSwapping`)
 */
export async function restoreBackup(
  tar: AsyncIterable<Buffer>,
  { dataDir, now, log }: RestoreOptions,
): Promise<Restored> {
  await makeFolders(dataDir);
  const lock = await lockFolder(dataDir, log);
  try {
    await finishSwap(dataDir, log);
    const staging = await makeStaging(dataDir);
    try {
      const manifest = await unpackBackup(tar, staging);
      const state = await takeState(join(staging, "platen.sqlite"), now, manifest);
      return { manifest, ...state, kept: await swapIn(dataDir, now) };
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
  } finally {
    await lock.release();
  }
}

/**
 * Reads the database that was unpacked, ends the links of its time, and has the next start write down what happened.
 * @throws Error where the database cannot be used
 */
async function takeState(path: string, now: number, { madeAt }: Manifest): Promise<RestoredState> {
  const file = await readFile(path);
  const state = await readState(path, file, (records, db) => ({
    facts: factsOf(records, db),
    accounts: records.accounts.list(),
    tokens: records.tokens.list(),
  })).catch((error: unknown) => {
    throw error instanceof DamagedDatabase ? new Error(`its database is damaged (${error.reason})`) : error;
  });
  const [stateAt, backupAt] = [state.facts.savedAt, madeAt].map((time) => new Date(time).toISOString());
  const what = `the state of ${stateAt}, from a backup made ${backupAt}, by platen restore`;
  const restored = await alteredBytes(file, (db) => {
    goBack(db);
    noteRestored(db, now, what);
  });
  await writeDurably(path, restored);
  return state;
}

/** Further on than any change that the log of a backup may have and its database not. */
const behindAll = 1_000_000;

/** An entry for the audit log, which the next start writes: so it stands there once, also where that start comes to nothing. */
function noteRestored(db: Queries, at: number, what: string): void {
  // A database of before there was a log has no place for it.
  if (db.first("SELECT 1 FROM sqlite_schema WHERE name = 'changes'") === undefined) return;
  const changes = new Changes(db);
  changes.keep(changes.last() + behindAll, [{ at, ...itself, event: "backup-restored", what }]);
}
