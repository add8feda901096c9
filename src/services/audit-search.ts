import { join } from "node:path";
import type { AuditEntry } from "../domain/audit.ts";
import { readLine } from "../domain/audit-chain.ts";
import { type AuditFilter, AuditMatcher } from "../domain/audit-filter.ts";
import { type LogLine, linesBefore, monthFileAt, monthFiles } from "../store/audit/files.ts";

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

interface SearchBounds {
  readonly entries: number;
  /** Of the files, at most. */
  readonly bytes: number;
}

/** Of one page. */
const pageBounds: SearchBounds = { entries: 100, bytes: 8 * 1024 * 1024 };
/** So long nobody else is served. */
const sliceMs = 10;

/** Looks through the log backwards, from its end or from where a search before it ended. */
export async function searchAudit(
  folder: string,
  filter: AuditFilter,
  cursor: AuditCursor | undefined,
  bounds: SearchBounds = pageBounds,
): Promise<FoundEntries> {
  const matcher = new AuditMatcher(filter, midnight);
  const breathe = breathing();
  const entries: AuditEntry[] = [];
  let [left, lookedBackTo] = [bounds.bytes, undefined as number | undefined];
  for await (const { file, text = "", start, end } of linesBack(folder, matcher, cursor)) {
    const entry = readLine(text)?.entry;
    left -= end - start;
    lookedBackTo = entry?.at ?? lookedBackTo;
    if (entry !== undefined && matcher.matches(entry, text)) entries.push(entry);
    const isFull = entries.length >= bounds.entries || left <= 0;
    if (isFull) return { entries, lookedBackTo, next: { file, before: start } };
    await breathe();
  }
  return { entries, lookedBackTo, next: undefined };
}

/** The last line first. */
async function* linesBack(
  folder: string,
  matcher: AuditMatcher,
  cursor: AuditCursor | undefined,
): AsyncGenerator<LogLine> {
  const files = await filesOf(folder, matcher, cursor);
  for (const file of files.reverse()) {
    const before = file === cursor?.file ? cursor.before : undefined;
    for await (const line of linesBefore(join(folder, file), before)) yield { ...line, file };
  }
}

/** The files that may hold what is looked for, the oldest first. */
async function filesOf(folder: string, { since, until }: AuditMatcher, cursor: AuditCursor | undefined) {
  const first = Number.isFinite(since) ? monthFileAt(since) : "";
  const last = Number.isFinite(until) ? monthFileAt(until) : "9999";
  const files = await monthFiles(folder);
  return files.filter((name) => name >= first && name <= last && name <= (cursor?.file ?? name));
}

/** Lets others come in whenever it has taken a while. */
function breathing(): () => Promise<void> {
  let began = performance.now();
  return async () => {
    if (performance.now() - began < sliceMs) return;
    await new Promise(setImmediate);
    began = performance.now();
  };
}

/** In the service's own time zone, as pages show times. */
function midnight(day: string): number {
  const time = new Date(`${day}T00:00:00`).getTime();
  return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : time;
}
