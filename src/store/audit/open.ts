import { readFile, rm, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import type { AuditEntry } from "../../domain/audit/audit.ts";
import { readLine } from "../../domain/audit/audit-chain.ts";
import { messageOf } from "../../domain/errors.ts";
import { itself } from "../actor.ts";
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
  /** So many days entries are kept. */
  readonly days: number;
}

interface OpenedAudit {
  readonly audit: AuditLog;
  /** Whether the log has changes that the database never had: a state of it from before was put in its place. */
  readonly isAhead: boolean;
}

/** Opens the audit log, which goes on with what the database has and the log lacks since the service ended. */
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
  const known = new Set(written);
  const expire = async () => {
    try {
      const expired = await expiredFiles(folder, clock(), days);
      if (expired === undefined) return;
      // The database knows first where the chain begins then: after a power cut nobody misses what is gone.
      await db.write(() => db.upkeep(() => changes.setPlace("start", expired.start)));
      for (const name of expired.names) await rm(join(folder, name), { force: true });
      const what = `${expired.names.join(", ")}: all up to entry ${expired.start.seq}, because of their age`;
      audit.note("log-shortened", { what, actor: itself });
    } catch (error) {
      log(`warning: old entries of the audit log are still there: ${messageOf(error)}`);
    }
  };
  const files = { folder, writer, expire, changes: recorder.savedOf(changes), known };
  const audit = new AuditLog(files, clock, log);
  const last = written.reduce((highest, number) => Math.max(highest, number), changes.last());
  recorder.begin(audit, last, start);
  if (found !== undefined) {
    log(`warning: the audit log: ${found.what}`);
    audit.note(found.event, { what: found.what, actor: itself });
  }
  await expire();
  audit.wake();
  // A change is saved before it is logged, and its number stays in the database until that knows its line.
  const isAhead = known.size < written.length || written.some((number) => !changes.has(number));
  return { audit, isAhead };
}

/** What is wrong with the log, as an entry says it. */
interface Finding {
  readonly event: "log-mended" | "log-broken";
  readonly what: string;
}

/** Where the log goes on at a start. */
interface LogEnd {
  readonly head: AuditPlace;
  /** The numbers of changes in lines behind the one that the database knows. */
  readonly changes: readonly number[];
  readonly found?: Finding | undefined;
}

/**
 * Finds the end of the log, and sets right what a power cut left there: a line that is not whole is kept in a file beside
 * the log. What was cut off or changed before the place that the database knows was no power cut, since it was synced: that
 * is said, and nothing of it is touched.
 * @param known the last line that the database knows; the one before the first where the database is new
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
  if (known.file !== "" && !(await isThere(folder, known)))
    return { head: await behindAll(folder, last, known), changes: [], found: missing };
  const { head, changes, wrong } = await readOn(folder, known);
  if (wrong === undefined) return { head, changes };
  const isTorn = wrong.file === last && (!wrong.isEnded || wrong.text.includes("\0"));
  const mended = isTorn ? await setAside(folder, head, clock(), wrong).catch(() => undefined) : undefined;
  if (mended !== undefined) return { head, changes, found: mended };
  const what = `a line of ${wrong.file} does not follow entry ${head.seq}`;
  const found = known.seq === 0 ? isBehind : ({ event: "log-broken", what } as const);
  return { head: await behindAll(folder, last, head), changes, found };
}

const isBehind: Finding = {
  event: "log-mended",
  what: "the database is new: it knows nothing of the entries before this one",
};

/** Whether the line that the database knows stands where it stood. */
async function isThere(folder: string, { file, size, seq, hash }: AuditPlace): Promise<boolean> {
  const path = join(folder, file);
  const length = (await stat(path).catch(() => undefined))?.size ?? 0;
  if (length < size) return false;
  for await (const { text, end } of linesBefore(path, size)) {
    const line = readLine(text);
    return end === size && line?.entry.seq === seq && line.hash === hash;
  }
  return false;
}

/** Reads what stands behind the place that the database knows, up to what does not belong there. */
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

/** Where a line stands that is whole and follows another one, and what it says; undefined where it is not. */
export function following(
  { seq, hash }: Pick<AuditPlace, "seq" | "hash">,
  { text, file, end, isEnded }: LogLine,
): { readonly place: AuditPlace; readonly entry: AuditEntry } | undefined {
  const line = readLine(text);
  if (!isEnded || line?.entry.seq !== seq + 1 || !line.follows(hash)) return undefined;
  return { place: { seq: seq + 1, hash: line.hash, file, size: end }, entry: line.entry };
}

/** The last entry of a file that can be read; what stands behind it stays there. */
async function behindAll(folder: string, file: string, known: AuditPlace): Promise<AuditPlace> {
  for await (const { text, end } of linesBefore(join(folder, file))) {
    const line = readLine(text);
    if (line === undefined) continue;
    const { seq } = line.entry;
    return seq > known.seq ? { seq, hash: line.hash, file, size: end } : { ...known, file, size: end };
  }
  return { ...known, file, size: 0 };
}

/** Moves what stands behind the last line to a file of its own. @throws an error of the disk */
async function setAside(
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
