import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseFacts } from "../../domain/backup.ts";
import { messageOf } from "../../domain/errors.ts";
import type { Manifest } from "../../domain/full-backup.ts";
import { withRestored } from "../audit/gone-back.ts";
import { DamagedDatabase } from "../database/file.ts";
import { type LockOptions, lockFolder } from "../database/lock.ts";
import { makeFolders, writeDurably } from "../durable-files.ts";
import { withoutLinks } from "../link-generations.ts";
import { readFileFacts } from "../records.ts";
import { blobNames } from "./full-backup.ts";
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

/** What a backup was. */
interface Restored {
  readonly manifest: Manifest;
  readonly facts: DatabaseFacts;
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
    let facts: DatabaseFacts;
    try {
      manifest = await unpackBackup(tar, staging);
      facts = await readFileFacts(join(staging, "platen.sqlite"));
      const what = `the state of ${timeOf(facts.savedAt)}, from a backup made ${timeOf(manifest.madeAt)}, by platen restore`;
      await goBack(join(staging, "platen.sqlite"), now, what);
    } catch (error) {
      await rm(staging, { recursive: true, force: true });
      throw error instanceof DamagedDatabase ? new Error(`its database is damaged (${error.reason})`) : error;
    }
    const names = new Set(manifest.files.map(({ name }) => name));
    const missing = blobNames(facts).filter((name) => !names.has(name));
    const kept = await swapIn(dataDir, now).catch(async (error: unknown) => {
      throw (await isSwapping(dataDir)) ? new UnfinishedRestore(error) : error;
    });
    return { manifest, facts, missing, kept };
  } finally {
    await lock.release();
  }
}

/** Ends the links of that time, and has the next start write down what happened. */
async function goBack(path: string, now: number, what: string): Promise<void> {
  const bytes = await withoutLinks(new Uint8Array(await readFile(path)));
  await writeDurably(path, await withRestored(bytes, now, what));
}

function timeOf(time: number): string {
  return new Date(time).toISOString();
}
