import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder, moveIntoPlace, syncFolder, writeDurably } from "../durable-files.ts";
import { isThere, undefinedIfAbsent } from "../found-files.ts";

/** Where a backup is unpacked, below DATA_DIR. */
const stagingName = "restore.new";
/** While it is there, what was unpacked is taking its place. */
const journalName = "restore.json";
const items = ["platen.sqlite", "secret", "drivers", "icons", "audit"] as const;
type Item = (typeof items)[number];

interface Journal {
  /** The folder of what was there. */
  readonly kept: string;
  /** What the backup has; of all else, what was there goes to the folder. */
  readonly fresh: readonly Item[];
}

/** Whether a swap was begun that is not finished: the folder holds some of both. */
export function isSwapping(dataDir: string): Promise<boolean> {
  return isThere(join(dataDir, journalName));
}

/** An empty folder beside what it will replace. */
export async function makeStaging(dataDir: string): Promise<string> {
  const staging = join(dataDir, stagingName);
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { mode: 0o700 });
  return staging;
}

/**
 * Puts what was unpacked in the place of what was there. Once the journal is on disk it is done, whatever happens: the
 * next start finishes it; before that nothing has changed.
 * @param moved is told after each step; what it throws stops the work, as a power cut would
 * @returns the folder of what was there; undefined where there was nothing
 */
export async function swapIn(
  dataDir: string,
  now: number,
  moved: () => void = () => {},
): Promise<string | undefined> {
  const fresh: Item[] = [];
  for (const item of items) if (await isThere(join(dataDir, stagingName, item))) fresh.push(item);
  const kept = await keptName(dataDir, now);
  moved();
  await writeDurably(join(dataDir, journalName), Buffer.from(JSON.stringify({ kept, fresh })));
  moved();
  return finish(dataDir, { kept, fresh }, moved);
}

/** Finishes what a process that ended has begun, or takes away what it left. Only for who holds the folder's lock. */
export async function finishSwap(dataDir: string, log: (line: string) => void): Promise<void> {
  const journal = await readJournal(join(dataDir, journalName));
  if (journal === undefined) return rm(join(dataDir, stagingName), { recursive: true, force: true });
  const kept = await finish(dataDir, journal, () => {});
  const hasLog = kept !== undefined && (await isThere(join(dataDir, kept, "audit")));
  const later = hasLog ? ", also the later entries of the audit log" : "";
  log(
    `a restore that was interrupted is finished${kept === undefined ? "" : `: what was there is in ${kept}${later}`}`,
  );
}

async function finish(
  dataDir: string,
  { kept, fresh }: Journal,
  moved: () => void,
): Promise<string | undefined> {
  for (const item of items) await replace(dataDir, item, { kept, isFresh: fresh.includes(item) }, moved);
  await rm(join(dataDir, journalName));
  await syncFolder(dataDir);
  moved();
  await rm(join(dataDir, stagingName), { recursive: true, force: true });
  return (await isThere(join(dataDir, kept))) ? kept : undefined;
}

/** Does what is left to be done with one of them. */
async function replace(
  dataDir: string,
  item: Item,
  { kept, isFresh }: { readonly kept: string; readonly isFresh: boolean },
  moved: () => void,
): Promise<void> {
  const [from, place, aside] = [
    join(dataDir, stagingName, item),
    join(dataDir, item),
    join(dataDir, kept, item),
  ];
  const isWaiting = await isThere(from);
  if (isFresh && !isWaiting) return;
  if ((await isThere(place)) && !(await isThere(aside))) {
    await makeFolder(join(dataDir, kept));
    await moveIntoPlace(place, aside);
    await syncFolder(dataDir);
    moved();
  }
  if (!isWaiting) return;
  await moveIntoPlace(from, place);
  moved();
}

async function keptName(dataDir: string, now: number): Promise<string> {
  const stamp = new Date(now).toISOString().replaceAll(":", "").slice(0, 17);
  for (let attempt = 0; ; attempt++) {
    const name = `before-restore-${stamp}Z${attempt === 0 ? "" : `-${attempt}`}`;
    if (!(await isThere(join(dataDir, name)))) return name;
  }
}

/** @throws Error where there is one that cannot be read */
async function readJournal(path: string): Promise<Journal | undefined> {
  const text = await readFile(path, "utf8").catch(undefinedIfAbsent);
  if (text === undefined) return undefined;
  const { kept, fresh } = parse(text);
  if (!/^before-restore-[0-9TZ-]{1,40}$/.test(String(kept)) || !Array.isArray(fresh))
    throw new Error(`${path} is damaged: an interrupted restore cannot be finished`);
  return { kept: String(kept), fresh: items.filter((item) => fresh.includes(item)) };
}

function parse(text: string): Partial<Journal> {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
