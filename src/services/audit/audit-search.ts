import { join } from "node:path";
import type { AuditEntry } from "../../domain/audit/audit.ts";
import { auditCsvHead, auditCsvLine } from "../../domain/audit/audit.ts";
import { readLine } from "../../domain/audit/audit-chain.ts";
import { type AuditFilter, type AuditMatcher, auditMatcher } from "../../domain/audit/audit-filter.ts";
import { type FoundLine, linesBefore, monthFileAt, monthFiles } from "../../store/audit/files.ts";

/** Where a search goes on: the entries before this place of a file. */
export interface AuditCursor {
  readonly file: string;
  readonly before: number;
}

/** What was found, the newest first. */
interface FoundEntries {
  readonly entries: readonly AuditEntry[];
  /** Where older ones are looked for; undefined where there are none. */
  readonly next: AuditCursor | undefined;
  /** The time of the oldest entry that was looked at. */
  readonly lookedBackTo: number | undefined;
}

/** Of a page; so many bytes of the files are looked through for it. */
const entriesOfPage = 100;
const bytesOfPage = 8 * 1024 * 1024;
/** Of a piece of a CSV, in characters. */
const pieceLength = 64 * 1024;

/** Looks through the log backwards, from its end or from where a search before it ended. */
export async function searchAudit(
  folder: string,
  filter: AuditFilter,
  cursor: AuditCursor | undefined,
): Promise<FoundEntries> {
  const entries: AuditEntry[] = [];
  let [left, lookedBackTo] = [bytesOfPage, undefined as number | undefined];
  for await (const { file, line, entry, isMatch } of entriesBack(folder, filter, cursor)) {
    left -= line.end - line.start;
    lookedBackTo = entry?.at ?? lookedBackTo;
    if (isMatch && entry !== undefined) entries.push(entry);
    const isFull = entries.length >= entriesOfPage || left <= 0;
    if (isFull) return { entries, lookedBackTo, next: { file, before: line.start } };
  }
  return { entries, lookedBackTo, next: undefined };
}

/** All that matches as CSV, the newest first, piece by piece. */
export async function* auditCsv(folder: string, filter: AuditFilter): AsyncGenerator<Uint8Array> {
  let text = auditCsvHead;
  for await (const { entry, isMatch } of entriesBack(folder, filter, undefined)) {
    if (isMatch && entry !== undefined) text += auditCsvLine(entry);
    if (text.length < pieceLength) continue;
    yield Buffer.from(text);
    text = "";
  }
  yield Buffer.from(text);
}

interface LookedAt {
  readonly file: string;
  readonly line: FoundLine;
  /** Undefined where the line is none of ours. */
  readonly entry: AuditEntry | undefined;
  readonly isMatch: boolean;
}

/** The last line first. Each chunk of a file is read while others are served. */
async function* entriesBack(
  folder: string,
  filter: AuditFilter,
  cursor: AuditCursor | undefined,
): AsyncGenerator<LookedAt> {
  const matcher = auditMatcher(filter, midnight);
  const files = await filesOf(folder, matcher, cursor);
  for (const file of files.reverse()) {
    const before = file === cursor?.file ? cursor.before : undefined;
    for await (const line of linesBefore(join(folder, file), before)) {
      const entry = readLine(line.text)?.entry;
      const isMatch = entry !== undefined && matcher.matches(entry, line.text);
      yield { file, line, entry, isMatch };
    }
  }
}

/** The files that may hold what is looked for, the oldest first. */
async function filesOf(folder: string, { since, until }: AuditMatcher, cursor: AuditCursor | undefined) {
  const first = Number.isFinite(since) ? monthFileAt(since) : "";
  const last = Number.isFinite(until) ? monthFileAt(until) : "9999";
  const files = await monthFiles(folder);
  return files.filter((name) => name >= first && name <= last && name <= (cursor?.file ?? name));
}

/** In the service's own time zone, as pages show times. @returns NaN of a day that is none */
export function midnight(day: string, later = 0): number {
  const date = new Date(`${day}T00:00:00`);
  return date.setDate(date.getDate() + later);
}
