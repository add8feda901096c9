import { readFile, rm, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import type { AuditEntry } from "../../domain/audit/audit.ts";
import { readLine } from "../../domain/audit/audit-chain.ts";
import { errorMessage } from "../../domain/errors.ts";
import { serviceActor } from "../actor.ts";
import type { Database } from "../database/database.ts";
import { writeDurably } from "../durable-files.ts";
import type { ChangeRecorder } from "./change-recorder.ts";
import { Changes, noPlace } from "./changes.ts";
import { expiredFiles, startOf } from "./expiry.ts";
import { auditFolder, type LogLine, linesBefore, logLines, monthFiles } from "./files.ts";
import { AuditLog } from "./log.ts";
import { type AuditPlace, AuditWriter } from "./writer.ts";

interface AuditOptions {
  readonly clock: () => number;
  readonly log: (line: string) => void;
  /** Days that entries are kept. */
  readonly days: number;
}

interface OpenedAudit {
  readonly audit: AuditLog;
  /** Whether the log has changes that the database never had: an older database was put in place. */
  readonly isAhead: boolean;
}

/** Opens the audit log, which then writes the changes that only the database has. */
export async function openAudit(
  dataDir: string,
  db: Database,
  recorder: ChangeRecorder,
  { clock, log, days }: AuditOptions,
): Promise<OpenedAudit> {
  const folder = auditFolder(dataDir);
  const changes = new Changes(db);
  const { head, changes: written, found } = await findEnd(folder, changes.place("head") ?? noPlace, clock);
  const start = changes.place("start") ?? (await startOf(folder));
  const writer = new AuditWriter(folder, clock, head);
  const alreadyLogged = new Set(written);
  const expire = async () => {
    try {
      const expired = await expiredFiles(folder, clock(), days);
      if (expired === undefined) return;
      // Save the new start of the chain first: after a power cut, `platen audit verify` must not report removed files as missing.
      await db.write(() => db.maintenance(() => changes.setPlace("start", expired.start)));
      for (const name of expired.names) await rm(join(folder, name), { force: true });
      const what = `${expired.names.join(", ")}: all up to entry ${expired.start.seq}, because of their age`;
      audit.record("log-shortened", { what, actor: serviceActor });
    } catch (error) {
      log(`warning: old entries of the audit log are still there: ${errorMessage(error)}`);
    }
  };
  const files = { folder, writer, expire, changes: recorder.savedChanges(changes), alreadyLogged };
  const audit = new AuditLog(files, clock, log);
  const last = written.reduce((highest, number) => Math.max(highest, number), changes.last());
  recorder.begin(audit, last, start);
  if (found !== undefined) {
    log(`warning: the audit log: ${found.what}`);
    audit.record(found.event, { what: found.what, actor: serviceActor });
  }
  await expire();
  audit.scheduleFlush();
  // A change is saved before it is logged, and stays in the database until the place of its line is saved. So a number that is
  // logged twice, or that the database does not have, shows that the database was replaced.
  const isAhead = alreadyLogged.size < written.length || written.some((number) => !changes.has(number));
  return { audit, isAhead };
}

/** A problem of the log, and its entry in the log. */
interface Finding {
  readonly event: "log-mended" | "log-broken";
  readonly what: string;
}

/** Where the log continues after a start. */
interface LogEnd {
  readonly head: AuditPlace;
  /** The numbers of changes in lines after the last line that the database knows. */
  readonly changes: readonly number[];
  readonly found?: Finding | undefined;
}

/**
 * Finds the end of the log and repairs what a power cut left there: an incomplete line moves to a file beside the log.
 * Lines up to the last one that the database knows were synced, so a power cut cannot have removed or changed them. Such
 * damage is reported, and nothing is repaired.
 * @param known the last line that the database knows; `noPlace` when the database is new
 */
async function findEnd(folder: string, known: AuditPlace, clock: () => number): Promise<LogEnd> {
  const last = (await monthFiles(folder)).at(-1);
  const missing = {
    event: "log-broken",
    what: `entry ${known.seq} is not where it was, in ${known.file}: entries were cut off or changed`,
  } as const;
  if (last === undefined)
    return {
      head: { ...known, file: "", size: 0 },
      changes: [],
      found: known.seq === 0 ? undefined : missing,
    };
  if (known.file !== "" && !(await hasLine(folder, known)))
    return { head: await lastReadablePlace(folder, last, known), changes: [], found: missing };
  const { head, changes, wrong } = await readAfter(folder, known);
  if (wrong === undefined) return { head, changes };
  const isTorn = wrong.file === last && (!wrong.isComplete || wrong.text.includes("\0"));
  const mended = isTorn ? await moveTornLine(folder, head, clock(), wrong).catch(() => undefined) : undefined;
  if (mended !== undefined) return { head, changes, found: mended };
  const what = `a line of ${wrong.file} does not follow entry ${head.seq}`;
  const found = known.seq === 0 ? databaseIsNew : ({ event: "log-broken", what } as const);
  return { head: await lastReadablePlace(folder, last, head), changes, found };
}

const databaseIsNew: Finding = {
  event: "log-mended",
  what: "the database is new: it knows nothing of the entries before this one",
};

/** Whether the log still has this line at its place. */
async function hasLine(folder: string, { file, size, seq, hash }: AuditPlace): Promise<boolean> {
  const path = join(folder, file);
  const length = (await stat(path).catch(() => undefined))?.size ?? 0;
  if (length < size) return false;
  for await (const { text, end } of linesBefore(path, size)) {
    const line = readLine(text);
    return end === size && line?.entry.seq === seq && line.hash === hash;
  }
  return false;
}

/** Reads the lines after a place, up to the first one that does not continue the chain. */
async function readAfter(folder: string, known: AuditPlace) {
  const changes: number[] = [];
  let head = known;
  for await (const found of logLines(folder, known)) {
    const next = followingLine(head, found);
    if (next === undefined) return { head, changes, wrong: found };
    if (next.entry.change !== undefined) changes.push(next.entry.change);
    head = next.place;
  }
  return { head, changes, wrong: undefined };
}

/** The entry and the place of a line; undefined when the line is incomplete or does not follow the given one. */
export function followingLine(
  { seq, hash }: Pick<AuditPlace, "seq" | "hash">,
  { text, file, end, isComplete }: LogLine,
): { readonly place: AuditPlace; readonly entry: AuditEntry } | undefined {
  const line = readLine(text);
  if (!isComplete || line?.entry.seq !== seq + 1 || !line.follows(hash)) return undefined;
  return { place: { seq: seq + 1, hash: line.hash, file, size: end }, entry: line.entry };
}

/** Where the log continues after damage: the end of the last readable line of a file. Unreadable lines after it stay. */
async function lastReadablePlace(folder: string, file: string, known: AuditPlace): Promise<AuditPlace> {
  for await (const { text, end } of linesBefore(join(folder, file))) {
    const line = readLine(text);
    if (line === undefined) continue;
    const { seq } = line.entry;
    return seq > known.seq ? { seq, hash: line.hash, file, size: end } : { ...known, file, size: end };
  }
  return { ...known, file, size: 0 };
}

/** Moves the bytes after the last complete line to a file of their own. @throws an error of the disk */
async function moveTornLine(
  folder: string,
  { seq }: AuditPlace,
  now: number,
  { file, start }: LogLine,
): Promise<Finding> {
  const name = `behind-${seq}-${now}.txt`;
  const path = join(folder, file);
  const bytes = (await readFile(path)).subarray(start);
  await writeDurably(join(folder, name), bytes);
  await truncate(path, start);
  const what = `${bytes.length} bytes behind entry ${seq} are in ${name} now: a line that was not written to its end`;
  return { event: "log-mended", what };
}
