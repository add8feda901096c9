import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { readLine } from "../../domain/audit/audit-chain.ts";
import { Connection, loadSqlite } from "../database/connection.ts";
import { undefinedIfAbsent } from "../durable-files.ts";
import { Changes } from "./changes.ts";
import { startOf } from "./expiry.ts";
import { auditFolder, type LogLine, logLines } from "./files.ts";
import { followingLine } from "./open.ts";
import type { AuditPlace } from "./writer.ts";

type Break = "changed" | "removed" | "inserted" | "cut off";

/** The first break of the chain. */
interface AuditBreak {
  readonly file: string;
  /** Counted from 1; 0 means after the last line. */
  readonly line: number;
  readonly kind: Break;
  /** A sentence without its full stop. */
  readonly what: string;
}

export interface AuditReport {
  /** The number of entries in an unbroken chain. */
  readonly count: number;
  /** The last entry of the chain. */
  readonly last: AuditPlace;
  readonly broken?: AuditBreak | undefined;
  /** Whether the last line is incomplete: it is being written, or there was a power cut. */
  readonly isTorn: boolean;
  /** Whether the database stores where the log ends. Otherwise lines cut off at the end are not detected. */
  readonly isEndKnown: boolean;
}

interface KnownPlaces {
  readonly start: AuditPlace | undefined;
  readonly head: AuditPlace | undefined;
}

/**
 * Reads the whole log and finds the first break of its chain. It changes nothing, and works while a service is running.
 * @param folder the folder of the log's files, when it is not the one in `dataDir`
 * @throws Error when the database or the log cannot be read
 */
export async function verifyAudit(dataDir: string, folder = auditFolder(dataDir)): Promise<AuditReport> {
  for (let places = await knownPlaces(dataDir); ; ) {
    const report = await verifyFrom(folder, places);
    const now = report.broken === undefined ? places : await knownPlaces(dataDir);
    // Retry when the service removed old files meanwhile.
    if (now.start?.seq === places.start?.seq) return { ...report, isEndKnown: places.head !== undefined };
    places = now;
  }
}

/** Reads the saved database. Both places are undefined when there is none. */
async function knownPlaces(dataDir: string): Promise<KnownPlaces> {
  const bytes = await readFile(join(dataDir, "platen.sqlite")).catch(undefinedIfAbsent);
  if (bytes === undefined) return { start: undefined, head: undefined };
  const db = Connection.copyOf(await loadSqlite(), bytes);
  try {
    // A database from before the audit log has no such table.
    if (db.first("SELECT 1 FROM sqlite_schema WHERE name = 'audit_places'") === undefined)
      return { start: undefined, head: undefined };
    const places = new Changes(db);
    return { start: places.place("start"), head: places.place("head") };
  } finally {
    db.close();
  }
}

async function verifyFrom(
  folder: string,
  { start, head }: KnownPlaces,
): Promise<Omit<AuditReport, "isEndKnown">> {
  let [last, count] = [start ?? (await startOf(folder)), 0];
  for await (const found of logLines(folder)) {
    if (count === 0 && isExpired(found, last)) continue;
    const next = followingLine(last, found) ?? unchecked(last, found);
    if (next === undefined)
      return { count, last, isTorn: !found.isComplete, broken: breakAt(found, last, head) };
    last = next.place;
    count++;
    const broken = rewritten(found, last, head);
    if (broken !== undefined) return { count, last, isTorn: false, broken };
  }
  return { count, last, isTorn: false, broken: cutOff(last, head) };
}

/** Whether the service is about to remove a line because of its age. */
function isExpired({ text }: LogLine, start: AuditPlace): boolean {
  const line = readLine(text);
  return line !== undefined && line.entry.seq <= start.seq;
}

/** A break if the last line that the database knows has another hash there: then the log was rewritten. */
function rewritten({ file, line }: LogLine, { seq, hash }: AuditPlace, head: AuditPlace | undefined) {
  if (seq !== head?.seq || hash === head.hash) return undefined;
  const what = `entry ${seq} is not the one that the database knows`;
  return { file, line, kind: "changed", what } as const;
}

/** Accepts the first line without a check when the hash before it is unknown. */
function unchecked(
  { seq, hash }: AuditPlace,
  { text, file, end }: LogLine,
): { place: AuditPlace } | undefined {
  const line = readLine(text);
  if (hash !== "" || line?.entry.seq !== seq + 1) return undefined;
  return { place: { seq: seq + 1, hash: line.hash, file, size: end } };
}

/** An incomplete last line was never synced. It is a break only if the database knows this line or later ones. */
function breakAt(
  { text, file, line, isComplete }: LogLine,
  last: AuditPlace,
  head: AuditPlace | undefined,
): AuditBreak | undefined {
  if (!isComplete) return cutOff(last, head);
  const expected = last.seq + 1;
  const seq = readLine(text)?.entry.seq ?? expected;
  const found = (kind: Break, what: string) => ({ file, line, kind, what });
  if (seq > expected) return found("removed", `${entries(expected, seq - 1)} missing before this line`);
  if (seq < expected) return found("inserted", `entry ${seq} stands here again, or in a wrong place`);
  return found("changed", `this line is not entry ${expected} as it was written`);
}

function cutOff(last: AuditPlace, head: AuditPlace | undefined): AuditBreak | undefined {
  if (head === undefined || last.seq >= head.seq) return undefined;
  const what = `${entries(last.seq + 1, head.seq)} missing at the end of the log, which the database knows`;
  return { file: last.file || head.file, line: 0, kind: "cut off", what };
}

function entries(first: number, last: number): string {
  return first === last ? `entry ${first} is` : `entries ${first} to ${last} are`;
}
