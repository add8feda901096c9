import { readFile } from "node:fs/promises";
import { join } from "node:path";
import initSqlJs from "sql.js";
import wasm from "sql.js/dist/sql-wasm.wasm";
import { readLine } from "../../domain/audit/audit-chain.ts";
import { Connection } from "../database/connection.ts";
import { undefinedIfAbsent } from "../durable-files.ts";
import { Changes } from "./changes.ts";
import { startOf } from "./expiry.ts";
import { auditFolder, type LogLine, logLines } from "./files.ts";
import { following } from "./open.ts";
import type { AuditPlace } from "./writer.ts";

type Break = "changed" | "removed" | "inserted" | "cut off";

/** Where the chain breaks first. */
interface AuditBreak {
  readonly file: string;
  /** Counted from 1; 0 behind the last one. */
  readonly line: number;
  readonly kind: Break;
  /** A sentence without its end. */
  readonly what: string;
}

/** What the log is. */
export interface AuditReport {
  /** How many entries hold together. */
  readonly count: number;
  /** The last of them. */
  readonly last: AuditPlace;
  readonly broken?: AuditBreak | undefined;
  /** Whether the last line was not written to its end: it is being written, or there was a power cut. */
  readonly isTorn: boolean;
  /** Whether the database says where the log ends: without it nobody sees what was cut off there. */
  readonly isEndKnown: boolean;
}

/** What the database knows of the log. */
interface KnownPlaces {
  readonly start: AuditPlace | undefined;
  readonly head: AuditPlace | undefined;
}

/**
 * Reads the whole log of a data folder, or in a folder that is given, and says where its chain breaks first. It changes
 * nothing, and works beside a running service.
 * @throws Error where the database or the log cannot be read
 */
export async function verifyAudit(dataDir: string, folder = auditFolder(dataDir)): Promise<AuditReport> {
  for (let places = await knownPlaces(dataDir); ; ) {
    const report = await verifyFrom(folder, places);
    const now = report.broken === undefined ? places : await knownPlaces(dataDir);
    // Old files may have been removed meanwhile.
    if (now.start?.seq === places.start?.seq) return { ...report, isEndKnown: places.head !== undefined };
    places = now;
  }
}

/** The database as it is saved; nothing is known where there is none. */
async function knownPlaces(dataDir: string): Promise<KnownPlaces> {
  const bytes = await readFile(join(dataDir, "platen.sqlite")).catch(undefinedIfAbsent);
  if (bytes === undefined) return { start: undefined, head: undefined };
  const db = Connection.copyOf(await initSqlJs({ wasmBinary: wasm.buffer as ArrayBuffer }), bytes);
  try {
    // A database of before there was a log has no place for it.
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
    const next = following(last, found) ?? unchecked(last, found);
    if (next === undefined)
      return { count, last, isTorn: !found.isEnded, broken: wrongAt(found, last, head) };
    last = next.place;
    count++;
    const broken = rewritten(found, last, head);
    if (broken !== undefined) return { count, last, isTorn: false, broken };
  }
  return { count, last, isTorn: false, broken: cutOff(last, head) };
}

/** Whether a line is about to be removed because of its age. */
function isExpired({ text }: LogLine, start: AuditPlace): boolean {
  const line = readLine(text);
  return line !== undefined && line.entry.seq <= start.seq;
}

/** Whether everything up to a line was made anew. */
function rewritten({ file, line }: LogLine, { seq, hash }: AuditPlace, head: AuditPlace | undefined) {
  if (seq !== head?.seq || hash === head.hash) return undefined;
  const what = `entry ${seq} is not the one that the database knows`;
  return { file, line, kind: "changed", what } as const;
}

/** The first line where it is not known what it comes behind. */
function unchecked(
  { seq, hash }: AuditPlace,
  { text, file, end }: LogLine,
): { place: AuditPlace } | undefined {
  const line = readLine(text);
  if (hash !== "" || line?.entry.seq !== seq + 1) return undefined;
  return { place: { seq: seq + 1, hash: line.hash, file, size: end } };
}

/** A last line that has no end was not synced unless the database knows it: nobody had to cut it. */
function wrongAt(
  { text, file, line, isEnded }: LogLine,
  last: AuditPlace,
  head: AuditPlace | undefined,
): AuditBreak | undefined {
  if (!isEnded) return cutOff(last, head);
  const missed = last.seq + 1;
  const seq = readLine(text)?.entry.seq ?? missed;
  const found = (kind: Break, what: string) => ({ file, line, kind, what });
  if (seq > missed) return found("removed", `${entries(missed, seq - 1)} missing before this line`);
  if (seq < missed) return found("inserted", `entry ${seq} stands here again, or in a wrong place`);
  return found("changed", `this line is not entry ${missed} as it was written`);
}

function cutOff(last: AuditPlace, head: AuditPlace | undefined): AuditBreak | undefined {
  if (head === undefined || last.seq >= head.seq) return undefined;
  const what = `${entries(last.seq + 1, head.seq)} missing at the end of the log, which the database knows`;
  return { file: last.file || head.file, line: 0, kind: "cut off", what };
}

function entries(first: number, last: number): string {
  return first === last ? `entry ${first} is` : `entries ${first} to ${last} are`;
}
