import { readFile } from "node:fs/promises";
import { join } from "node:path";
import initSqlJs from "sql.js";
import wasm from "sql.js/dist/sql-wasm.wasm";
import { type ChainedLine, readLine } from "../../domain/audit-chain.ts";
import { undefinedIfAbsent } from "../found-files.ts";
import { startOf } from "./expiry.ts";
import { auditFolder, type LogLine, logLines } from "./files.ts";
import { following } from "./start.ts";
import type { AuditPlace } from "./writer.ts";

type Break = "changed" | "removed" | "moved" | "inserted" | "cut off";

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
  const sql = await initSqlJs({ wasmBinary: wasm.buffer as ArrayBuffer });
  const db = new sql.Database(bytes);
  try {
    const isThere = db.exec("SELECT 1 FROM sqlite_schema WHERE name = 'audit_places'").length > 0;
    const rows = isThere
      ? (db.exec("SELECT name, seq, hash, file, size FROM audit_places")[0]?.values ?? [])
      : [];
    const place = (wanted: string) => {
      const row = rows.find(([name]) => name === wanted);
      if (row === undefined) return undefined;
      const [, seq, hash, file, size] = row;
      return { seq: Number(seq), hash: String(hash), file: String(file), size: Number(size) };
    };
    return { start: place("start"), head: place("head") };
  } finally {
    db.close();
  }
}

async function verifyFrom(
  folder: string,
  { start, head }: KnownPlaces,
): Promise<Omit<AuditReport, "isEndKnown">> {
  const lines = numbered(logLines(folder));
  let [last, count] = [start ?? (await startOf(folder)), 0];
  for await (const found of lines) {
    const line = readFound(found);
    // What is about to be removed because of its age.
    if (count === 0 && line !== undefined && line.entry.seq <= last.seq) continue;
    const next = following(last, found) ?? (last.hash === "" ? unchecked(last, found) : undefined);
    if (next === undefined) return { count, last, ...(await wrongAt(found, last, head, lines)) };
    last = next.place;
    count++;
    const broken = rewritten(found, last, head);
    if (broken !== undefined) return { count, last, isTorn: false, broken };
  }
  return { count, last, isTorn: false, broken: cutOff(last, head) };
}

/** Whether everything up to a line was made anew. */
function rewritten(found: NumberedLine, { seq, hash }: AuditPlace, head: AuditPlace | undefined) {
  if (seq !== head?.seq || hash === head.hash) return undefined;
  const what = `entry ${seq} is not the one that the database knows`;
  return { ...placeOf(found), kind: "changed", what } as const;
}

type NumberedLine = LogLine & { readonly line: number };

/** Lines with their numbers in their files. */
async function* numbered(lines: AsyncIterable<LogLine>): AsyncGenerator<NumberedLine> {
  let [file, line] = ["", 0];
  for await (const found of lines) {
    line = found.file === file ? line + 1 : 1;
    file = found.file;
    yield { ...found, line };
  }
}

function readFound({ text }: LogLine): ChainedLine | undefined {
  return text === undefined ? undefined : readLine(text);
}

/** The first line where it is not known what it comes behind. */
function unchecked({ seq }: AuditPlace, found: LogLine): { readonly place: AuditPlace } | undefined {
  const line = readFound(found);
  if (line?.entry.seq !== seq + 1) return undefined;
  return { place: { seq: seq + 1, hash: line.hash, file: found.file, size: found.end } };
}

async function wrongAt(
  found: NumberedLine,
  last: AuditPlace,
  head: AuditPlace | undefined,
  lines: AsyncIterator<NumberedLine>,
): Promise<Pick<AuditReport, "broken" | "isTorn">> {
  if (found.isEnded) return { isTorn: false, broken: await breakAt(found, last, lines) };
  // What the database does not know was not synced: nobody had to cut it.
  return { isTorn: true, broken: cutOff(last, head) };
}

/** So many lines are looked at for the one that is missed. */
const lookedAhead = 10_000;

async function breakAt(
  found: NumberedLine,
  last: AuditPlace,
  lines: AsyncIterator<NumberedLine>,
): Promise<AuditBreak> {
  const seq = readFound(found)?.entry.seq ?? last.seq + 1;
  const place = placeOf(found);
  const missed = last.seq + 1;
  const later = await findNext(last, lines);
  if (later !== undefined && seq > missed)
    return {
      ...place,
      kind: "moved",
      what: `entry ${missed} stands in line ${later.line} of ${later.file}, behind entry ${seq}`,
    };
  if (later !== undefined)
    return {
      ...place,
      kind: "inserted",
      what: `this line stands between entry ${last.seq} and entry ${missed}`,
    };
  if (seq > missed)
    return { ...place, kind: "removed", what: `${entries(missed, seq - 1)} missing before this line` };
  if (seq < missed)
    return { ...place, kind: "inserted", what: `entry ${seq} stands here again, or in a wrong place` };
  return { ...place, kind: "changed", what: `this line is not entry ${missed} as it was written` };
}

/** The line that should have come, further on. */
async function findNext(
  last: AuditPlace,
  lines: AsyncIterator<NumberedLine>,
): Promise<NumberedLine | undefined> {
  for (let i = 0; i < lookedAhead; i++) {
    const { value, done } = await lines.next();
    if (done) return undefined;
    if (following(last, value) !== undefined) return value;
  }
  return undefined;
}

function cutOff(last: AuditPlace, head: AuditPlace | undefined): AuditBreak | undefined {
  if (head === undefined || last.seq >= head.seq) return undefined;
  const what = `${entries(last.seq + 1, head.seq)} missing at the end of the log, which the database knows`;
  return { file: last.file || head.file, line: 0, kind: "cut off", what };
}

function entries(first: number, last: number): string {
  return first === last ? `entry ${first} is` : `entries ${first} to ${last} are`;
}

function placeOf({ file, line }: NumberedLine): Pick<AuditBreak, "file" | "line"> {
  return { file, line };
}
