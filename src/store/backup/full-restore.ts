import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Account } from "../../domain/account.ts";
import type { DatabaseFacts } from "../../domain/backup.ts";
import { messageOf } from "../../domain/errors.ts";
import type { Manifest } from "../../domain/full-backup.ts";
import type { Token } from "../../domain/token.ts";
import { withRestored } from "../audit/gone-back.ts";
import { DamagedDatabase } from "../database/file.ts";
import { type LockOptions, lockFolder } from "../database/lock.ts";
import { makeFolders, writeDurably } from "../durable-files.ts";
import { factsOf, readState } from "../records.ts";
import { blobNames } from "./full-backup.ts";
import { earlierState } from "./recovery.ts";
import { finishSwap, isSwapping, makeStaging, swapIn } from "./swap.ts";
import { unpackBackup } from "./unpacking.ts";

interface RestoreOptions {
  readonly dataDir: string;
  /** UTC, milliseconds since 1970. */
  readonly now: number;
  readonly log: (line: string) => void;
  readonly lock?: LockOptions;
}

/** A restore that broke off when what was unpacked was taking its place: the next start goes on with it. */
export class UnfinishedRestore extends Error {
  override readonly name = "UnfinishedRestore";

  constructor(cause: unknown) {
    super(`the restore is not finished (${messageOf(cause)}): start Platen, which goes on with it`);
  }
}

/** An account, and in how many browsers it is signed in. */
interface RestoredAccount extends Account {
  readonly sessions: number;
}

/** What a backup was. */
interface Restored {
  readonly manifest: Manifest;
  readonly facts: DatabaseFacts;
  /** Who can sign in, and programs that can ask, by what it holds. */
  readonly accounts: readonly RestoredAccount[];
  readonly tokens: readonly Token[];
  /** Names of files that records refer to and that were not in it. */
  readonly missing: readonly string[];
  /** The folder, below DATA_DIR, of what was there; undefined where nothing was. */
  readonly kept: string | undefined;
}

/**
 * Puts a full backup in the place of what a DATA_DIR holds, which is kept. Nothing is replaced before all of it was
 * unpacked, compared, and read as a start would.
 * @param tar from anywhere
 * @throws Error that says what is wrong, where nothing was changed
 */
export async function restoreBackup(
  tar: AsyncIterable<Buffer>,
  { dataDir, now, log, lock: lockOptions }: RestoreOptions,
): Promise<Restored> {
  await makeFolders(dataDir);
  const lock = await lockFolder(dataDir, log, lockOptions);
  try {
    await finishSwap(dataDir, log);
    const staging = await makeStaging(dataDir);
    let manifest: Manifest;
    let state: Awaited<ReturnType<typeof takeState>>;
    try {
      manifest = await unpackBackup(tar, staging);
      state = await takeState(join(staging, "platen.sqlite"), now, manifest);
    } catch (error) {
      await rm(staging, { recursive: true, force: true });
      throw error instanceof DamagedDatabase ? new Error(`its database is damaged (${error.reason})`) : error;
    }
    const names = new Set(manifest.files.map(({ name }) => name));
    const missing = blobNames(state.facts).filter((name) => !names.has(name));
    const kept = await swapIn(dataDir, now).catch(async (error: unknown) => {
      throw (await isSwapping(dataDir)) ? new UnfinishedRestore(error) : error;
    });
    return { manifest, ...state, missing, kept };
  } finally {
    await lock.release();
  }
}

/**
 * Reads the database that was unpacked, ends the links of its time, and has the next start write down what happened.
 * @throws DamagedDatabase, NewerDatabase
 */
async function takeState(
  path: string,
  now: number,
  { madeAt }: Manifest,
): Promise<Pick<Restored, "facts" | "accounts" | "tokens">> {
  const bytes = new Uint8Array(await readFile(path));
  const state = await readState(path, bytes, (records, db) => ({
    facts: factsOf(records, db),
    accounts: records.accounts
      .list()
      .map((account) => ({ ...account, sessions: records.sessions.ofAccount(account.id).length })),
    tokens: records.tokens.list(),
  }));
  const what = `the state of ${timeOf(state.facts.savedAt)}, from a backup made ${timeOf(madeAt)}, by platen restore`;
  await writeDurably(path, await withRestored(await earlierState(bytes), now, what));
  return state;
}

function timeOf(time: number): string {
  return new Date(time).toISOString();
}
