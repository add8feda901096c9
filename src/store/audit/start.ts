import { type FileHandle, open, stat } from "node:fs/promises";
import { join } from "node:path";
import type { AuditEntry } from "../../domain/audit.ts";
import { readLine } from "../../domain/audit-chain.ts";
import { writeAll, writeDurably } from "../durable-files.ts";
import { noPlace } from "./changes.ts";
import { type LogLine, linesBefore, logLines, monthFiles } from "./files.ts";
import type { AuditPlace } from "./writer.ts";

interface Finding {
  readonly event: "log-mended" | "log-broken";
  readonly what: string;
}

/** Where the log goes on at a start. */
interface ResumedLog {
  readonly head: AuditPlace;
  /** The numbers of changes that stand behind the place that the database knew, in their order. */
  readonly changes: readonly number[];
  /** What was found and is to be written down. */
  readonly found?: Finding | undefined;
}

/**
 * Finds the end of the log, and sets right what a power cut left there: a line that is not whole is kept in a file beside
 * the log. What was cut off or changed before the place that the database knows was no power cut, since it was synced: that
 * is said, and nothing of it is touched.
 * @param known the last line that the database knows; the one before the first where the database is new
 */
export async function resumeLog(folder: string, known: AuditPlace, clock: () => number): Promise<ResumedLog> {
  const files = await monthFiles(folder);
  const last = files.at(-1);
  if (last === undefined) return withoutFiles(known);
  if (known.file !== "" && !(await isThere(folder, known)))
    return afterLast(folder, last, known, isMissing(known));
  const { head, changes, wrong } = await readOn(folder, known);
  if (wrong === undefined) return { head: await ended(folder, head), changes };
  // Of a database that is new, all of an older log may not be what it expects.
  const isOurs = wrong.file === last && (known.seq > 0 || !wrong.isEnded);
  const aside = isOurs ? await setAside(folder, { head, clock }, wrong).catch(() => undefined) : undefined;
  if (aside !== undefined) return { head, changes, found: aside };
  const what = `a line of ${wrong.file} does not follow entry ${head.seq}`;
  const found = known.seq === 0 ? isBehind : ({ event: "log-broken", what } as const);
  return { ...(await afterLast(folder, last, head, found)), changes };
}

const isBehind: Finding = {
  event: "log-mended",
  what: "the database is new: it knows nothing of the entries before this one",
};

function isMissing({ seq, file }: AuditPlace): Finding {
  return {
    event: "log-broken",
    what: `entry ${seq} is not where it was, in ${file}: entries were cut off or changed`,
  };
}

function withoutFiles(known: AuditPlace): ResumedLog {
  if (known.seq === 0) return { head: noPlace, changes: [] };
  return { head: { ...known, file: "", size: 0 }, changes: [], found: isMissing(known) };
}

/** Whether the line that the database knows stands where it stood. */
async function isThere(folder: string, { file, size, seq, hash }: AuditPlace): Promise<boolean> {
  const path = join(folder, file);
  const length = (await stat(path).catch(() => undefined))?.size ?? 0;
  if (file === "" || length < size) return false;
  for await (const { text, end } of linesBefore(path, size)) {
    const line = text === undefined ? undefined : readLine(text);
    return end === size && line?.entry.seq === seq && line.hash === hash;
  }
  return false;
}

/** Reads what came behind the place that the database knows, up to what does not belong there. */
async function readOn(folder: string, known: AuditPlace) {
  const changes: number[] = [];
  let head = known;
  for await (const found of logLines(folder, known)) {
    const next = following(head, found);
    if (next === undefined) return { head, changes, wrong: found };
    if (next.entry.change !== undefined) changes.push(next.entry.change);
    head = next.place;
  }
  return { head, changes, wrong: undefined };
}

/** Where a line stands that follows another one, and what it says; undefined where it does not. */
export function following(
  { seq, hash }: Pick<AuditPlace, "seq" | "hash">,
  { text, file, end }: LogLine,
): { readonly place: AuditPlace; readonly entry: AuditEntry } | undefined {
  const line = text === undefined ? undefined : readLine(text);
  if (line?.entry.seq !== seq + 1 || !line.follows(hash)) return undefined;
  return { place: { seq: seq + 1, hash: line.hash, file, size: end }, entry: line.entry };
}

/** Goes on behind whatever the last file ends with. */
async function afterLast(
  folder: string,
  file: string,
  known: AuditPlace,
  found: Finding | undefined,
): Promise<ResumedLog> {
  const path = join(folder, file);
  const { size } = await stat(path);
  let { seq, hash } = known;
  for await (const { text } of linesBefore(path)) {
    const line = text === undefined ? undefined : readLine(text);
    if (line === undefined) continue;
    if (line.entry.seq > seq) [seq, hash] = [line.entry.seq, line.hash];
    break;
  }
  const head = await ended(folder, { seq, hash, file, size });
  return { head, changes: [], found };
}

/** Behind a line break, so that what follows stands on a line of its own. */
async function ended(folder: string, head: AuditPlace): Promise<AuditPlace> {
  if (head.size === 0) return head;
  const path = join(folder, head.file);
  return using(path, async (file) => {
    const { size } = await file.stat();
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
    if (buffer[0] === newline) return { ...head, size };
    const added = await writeAll(file, [Buffer.from("\n")]);
    await file.datasync();
    return { ...head, size: size + added };
  });
}

/** Takes what stands behind the last line into a file of its own. @throws an error of the disk */
async function setAside(
  folder: string,
  { head, clock }: { readonly head: AuditPlace; readonly clock: () => number },
  { file, start, isEnded }: LogLine,
): Promise<Finding> {
  const name = `behind-${head.seq}-${clock()}.txt`;
  return using(join(folder, file), async (handle) => {
    const length = (await handle.stat()).size - start;
    const bytes = Buffer.alloc(Math.min(length, mostAside));
    await handle.read(bytes, 0, bytes.length, start);
    await writeDurably(join(folder, name), bytes);
    await handle.truncate(start);
    await handle.datasync();
    const isTorn = !isEnded || bytes.includes(0);
    const why = isTorn ? "a line that was not written to its end" : "lines that do not follow it";
    const what = `${length} bytes behind entry ${head.seq} are in ${name} now: ${why}`;
    return { event: isTorn ? "log-mended" : "log-broken", what };
  });
}

/** More is not kept of what a power cut left. */
const mostAside = 16 * 1024 * 1024;
const newline = 10;

async function using<T>(path: string, work: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, "a+");
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}
