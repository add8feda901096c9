import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Account } from "../../domain/access/account.ts";
import type { Token } from "../../domain/access/token.ts";
import type { DatabaseFacts } from "../../domain/backup/backup.ts";
import type { Manifest } from "../../domain/backup/full-backup.ts";
import { forgetSecret } from "../access/secret.ts";
import { serviceActor } from "../actor.ts";
import { Changes } from "../audit/changes.ts";
import { alteredBytes } from "../database/connection.ts";
import { DamagedDatabase } from "../database/file.ts";
import { lockFolder } from "../database/lock.ts";
import type { Queries } from "../database/rows.ts";
import { makeFolders, writeDurably } from "../durable-files.ts";
import { databaseFacts, readState } from "../records.ts";
import { prepareRestored } from "./recovery.ts";
import { finishSwap, makeStaging, swapIn } from "./swap.ts";
import { unpackBackup } from "./unpacking.ts";

interface RestoreOptions {
  readonly dataDir: string;
  /** UTC, milliseconds since 1970. */
  readonly now: number;
  readonly log: (line: string) => void;
}

/** The content of a restored database, and who can sign in with it. */
interface RestoredState {
  readonly facts: DatabaseFacts;
  readonly accounts: readonly Account[];
  readonly tokens: readonly Token[];
}

interface Restored extends RestoredState {
  readonly manifest: Manifest;
  /** The folder below DATA_DIR with the replaced files; undefined when there were none. */
  readonly kept: string | undefined;
}

/**
 * Replaces the content of a DATA_DIR with a full backup, and keeps the old content. Nothing is replaced before the whole
 * backup is unpacked, compared with its manifest, and read as a start would.
 * @param tar untrusted
 * @throws Error that says what is wrong. Either nothing was changed, or the next start finishes the restore (`isSwapping`).
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
      const state = await prepareDatabase(join(staging, "platen.sqlite"), now, manifest);
      return { manifest, ...state, kept: await swapIn(dataDir, now) };
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
  } finally {
    await lock.release();
  }
}

/**
 * Reads the unpacked database, revokes its links, skips ids, and adds an entry for the audit log.
 * @throws Error when the database cannot be used
 */
async function prepareDatabase(path: string, now: number, backup: Manifest): Promise<RestoredState> {
  const file = await readFile(path);
  const state = await readState(path, file, (records, db) => ({
    facts: databaseFacts(records, db),
    accounts: records.accounts.list(),
    tokens: records.tokens.list(),
  })).catch((error: unknown) => {
    throw error instanceof DamagedDatabase ? new Error(`its database is damaged (${error.reason})`) : error;
  });
  const [stateAt, backupAt] = [state.facts.savedAt, backup.madeAt].map((time) =>
    new Date(time).toISOString(),
  );
  const what = `the state of ${stateAt}, from a backup made ${backupAt}, by platen restore`;
  const restored = await alteredBytes(file, (db) => {
    prepareRestored(db);
    if (!backup.files.some(({ name }) => name === "secret")) forgetSecret(db);
    recordRestore(db, now, what);
  });
  await writeDurably(path, restored);
  return state;
}

/** How many change numbers are skipped: a backup's log may have changes later than its database, but never this many. */
const changeNumberGap = 1_000_000;

/** Stores an entry in the database for the audit log. The next start writes it exactly once, even if that start fails first. */
function recordRestore(db: Queries, at: number, what: string): void {
  // A database from before the audit log has no such table.
  if (db.first("SELECT 1 FROM sqlite_schema WHERE name = 'changes'") === undefined) return;
  const changes = new Changes(db);
  changes.keep(changes.last() + changeNumberGap, [{ at, ...serviceActor, event: "backup-restored", what }]);
}
