import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { timeStamp } from "../../domain/text.ts";
import {
  exists,
  makeFolder,
  moveIntoPlace,
  noneIfAbsent,
  syncFolder,
  undefinedIfAbsent,
} from "../durable-files.ts";

/** The folder below DATA_DIR in which a backup is unpacked. */
const stagingName = "restore.new";
/** Its name once it is complete. The folder with the replaced files has the same time in its name. */
const readyName = /^restore\.ready-(\d{4}-\d\d-\d\dT\d{6}Z)$/;
/** Left by an interrupted restore of an earlier version. */
const oldJournalName = "restore.json";
const items = ["platen.sqlite", "secret", "drivers", "icons", "preferences", "signatures", "audit"];

/** Whether a restore is unfinished: the folder has parts of both states. */
export async function isSwapping(dataDir: string): Promise<boolean> {
  return (await pendingStamp(dataDir)) !== undefined || exists(join(dataDir, oldJournalName));
}

export async function makeStaging(dataDir: string): Promise<string> {
  const staging = join(dataDir, stagingName);
  await mkdir(staging, { mode: 0o700 });
  return staging;
}

/**
 * Replaces the data with the unpacked files. Before the staging folder is renamed, nothing has changed. After that, the next
 * start finishes the restore if it is interrupted.
 * @returns the folder with the replaced files; undefined when there were none
 */
export async function swapIn(dataDir: string, now: number): Promise<string | undefined> {
  let time = now;
  while (await existsStrictly(join(dataDir, `before-restore-${timeStamp(time)}`))) time += 1000;
  await moveIntoPlace(join(dataDir, stagingName), join(dataDir, `restore.ready-${timeStamp(time)}`));
  return finish(dataDir, timeStamp(time));
}

/**
 * Finishes an interrupted restore, and deletes an incomplete staging folder. The caller must hold the folder's lock.
 * @throws Error when an earlier version of Platen has to finish the restore
 */
export async function finishSwap(dataDir: string, log: (line: string) => void): Promise<void> {
  if (await exists(join(dataDir, oldJournalName)))
    throw new Error(
      `${dataDir} has an interrupted restore of an earlier version of Platen: start that version once, which finishes it`,
    );
  await rm(join(dataDir, stagingName), { recursive: true, force: true });
  const stamp = await pendingStamp(dataDir);
  if (stamp === undefined) return;
  const kept = await finish(dataDir, stamp);
  const where =
    kept === undefined ? "" : `: what was there, also later entries of the audit log, is in ${kept}`;
  log(`a restore that was interrupted is finished${where}`);
}

async function finish(dataDir: string, stamp: string): Promise<string | undefined> {
  const ready = join(dataDir, `restore.ready-${stamp}`);
  const kept = `before-restore-${stamp}`;
  for (const item of items) await replace(join(ready, item), join(dataDir, item), join(dataDir, kept, item));
  await rm(ready, { recursive: true, force: true });
  await syncFolder(dataDir);
  return (await exists(join(dataDir, kept))) ? kept : undefined;
}

/** Can be repeated: an item that is no longer at `from` is already in place. */
async function replace(from: string, place: string, aside: string): Promise<void> {
  if (!(await existsStrictly(from))) return;
  if ((await existsStrictly(place)) && !(await existsStrictly(aside))) {
    await makeFolder(dirname(aside));
    await moveIntoPlace(place, aside);
  }
  await moveIntoPlace(from, place);
}

/** Unlike `exists`, it throws on an error of the disk: otherwise the old file could be overwritten. */
async function existsStrictly(path: string): Promise<boolean> {
  return (await stat(path).catch(undefinedIfAbsent)) !== undefined;
}

async function pendingStamp(dataDir: string): Promise<string | undefined> {
  for (const name of await readdir(dataDir).catch(noneIfAbsent)) {
    const [, stamp] = readyName.exec(name) ?? [];
    if (stamp !== undefined) return stamp;
  }
  return undefined;
}
