import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { timeStamp } from "../../domain/text.ts";
import {
  isThere,
  makeFolder,
  moveIntoPlace,
  noneIfAbsent,
  syncFolder,
  undefinedIfAbsent,
} from "../durable-files.ts";

/** Where a backup is unpacked, below DATA_DIR. */
const stagingName = "restore.new";
/** What that folder is called when all of it is there and is to take its place; the time names the folder of what was there. */
const readyName = /^restore\.ready-(\d{4}-\d\d-\d\dT\d{6}Z)$/;
/** A restore of an earlier version that was interrupted. */
const oldJournalName = "restore.json";
const items = ["platen.sqlite", "secret", "drivers", "icons", "audit"];

/** Whether a restore was begun that is not finished: the folder holds some of both states. */
export async function isSwapping(dataDir: string): Promise<boolean> {
  return (await pendingStamp(dataDir)) !== undefined || isThere(join(dataDir, oldJournalName));
}

/** An empty folder beside what it will replace. */
export async function makeStaging(dataDir: string): Promise<string> {
  const staging = join(dataDir, stagingName);
  await mkdir(staging, { mode: 0o700 });
  return staging;
}

/**
 * Puts what was unpacked in the place of what was there. Once its folder has another name it is done, whatever happens:
 * the next start finishes it; before that nothing has changed.
 * @returns the folder of what was there; undefined where there was nothing
 */
export async function swapIn(dataDir: string, now: number): Promise<string | undefined> {
  let time = now;
  while (await exists(join(dataDir, `before-restore-${timeStamp(time)}`))) time += 1000;
  await moveIntoPlace(join(dataDir, stagingName), join(dataDir, `restore.ready-${timeStamp(time)}`));
  return finish(dataDir, timeStamp(time));
}

/**
 * Finishes what a process that ended has begun, and deletes what it left unpacked. Only for who holds the folder's lock.
 * @throws Error where an earlier version has to finish it
 */
export async function finishSwap(dataDir: string, log: (line: string) => void): Promise<void> {
  if (await isThere(join(dataDir, oldJournalName)))
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
  return (await isThere(join(dataDir, kept))) ? kept : undefined;
}

/** Does what is left to be done: an item that is not in `from` any more is in its place. */
async function replace(from: string, place: string, aside: string): Promise<void> {
  if (!(await exists(from))) return;
  if ((await exists(place)) && !(await exists(aside))) {
    await makeFolder(dirname(aside));
    await moveIntoPlace(place, aside);
  }
  await moveIntoPlace(from, place);
}

/** @throws Error where the disk does not tell: what was there would not be kept */
async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(undefinedIfAbsent)) !== undefined;
}

async function pendingStamp(dataDir: string): Promise<string | undefined> {
  for (const name of await readdir(dataDir).catch(noneIfAbsent)) {
    const [, stamp] = readyName.exec(name) ?? [];
    if (stamp !== undefined) return stamp;
  }
  return undefined;
}
