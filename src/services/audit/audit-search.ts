import { join } from "node:path";
import type { AuditEntry } from "../../domain/audit/audit.ts";
import { auditCsvHead, auditCsvLine } from "../../domain/audit/audit.ts";
import { readLine } from "../../domain/audit/audit-chain.ts";
import { type AuditFilter, type AuditMatcher, auditMatcher } from "../../domain/audit/audit-filter.ts";
import { type FoundLine, linesBefore, monthFileAt, monthFiles } from "../../store/audit/files.ts";

/** The place where a search continues: before this offset of a file. */
export interface AuditCursor {
  readonly file: string;
  readonly before: number;
}

/** A page of results, newest first. */
interface FoundEntries {
  readonly entries: readonly AuditEntry[];
  /** The cursor for older entries; undefined at the end of the log. */
  readonly next: AuditCursor | undefined;
  /** The time of the oldest entry that was checked. */
  readonly searchedBackTo: number | undefined;
}

/** A page ends after this many entries, or after searching this many bytes. */
const maxPageEntries = 100;
const maxPageBytes = 8 * 1024 * 1024;
/** A chunk of a CSV has about this many characters. */
const chunkCharacters = 64 * 1024;

/** Searches the log backwards, from its end or from the cursor of an earlier search. */
export async function searchAudit(
  folder: string,
  filter: AuditFilter,
  cursor: AuditCursor | undefined,
): Promise<FoundEntries> {
  const entries: AuditEntry[] = [];
  let [bytesLeft, searchedBackTo] = [maxPageBytes, undefined as number | undefined];
  for await (const { file, line, entry, isMatch } of entriesBack(folder, filter, cursor)) {
    bytesLeft -= line.end - line.start;
    searchedBackTo = entry?.at ?? searchedBackTo;
    if (isMatch && entry !== undefined) entries.push(entry);
    const isFull = entries.length >= maxPageEntries || bytesLeft <= 0;
    if (isFull) return { entries, searchedBackTo, next: { file, before: line.start } };
  }
  return { entries, searchedBackTo, next: undefined };
}

/** All matching entries as chunks of CSV, newest first. */
export async function* auditCsv(folder: string, filter: AuditFilter): AsyncGenerator<Uint8Array> {
  let text = auditCsvHead;
  for await (const { entry, isMatch } of entriesBack(folder, filter, undefined)) {
    if (isMatch && entry !== undefined) text += auditCsvLine(entry);
    if (text.length < chunkCharacters) continue;
    yield Buffer.from(text);
    text = "";
  }
  yield Buffer.from(text);
}

interface CheckedLine {
  readonly file: string;
  readonly line: FoundLine;
  /** Undefined when the line cannot be read. */
  readonly entry: AuditEntry | undefined;
  readonly isMatch: boolean;
}

/** Last line first. Files are read in chunks, so that other requests can run in between. */
async function* entriesBack(
  folder: string,
  filter: AuditFilter,
  cursor: AuditCursor | undefined,
): AsyncGenerator<CheckedLine> {
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

/** The files that may have matching entries, oldest first. */
async function filesOf(folder: string, { since, until }: AuditMatcher, cursor: AuditCursor | undefined) {
  const first = Number.isFinite(since) ? monthFileAt(since) : "";
  const last = Number.isFinite(until) ? monthFileAt(until) : "9999";
  const files = await monthFiles(folder);
  return files.filter((name) => name >= first && name <= last && name <= (cursor?.file ?? name));
}

/** The beginning of a day in the service's time zone, which pages use too. @returns NaN for an invalid day */
export function midnight(day: string, daysLater = 0): number {
  const date = new Date(`${day}T00:00:00`);
  return date.setDate(date.getDate() + daysLater);
}
