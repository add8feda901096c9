import { type FileHandle, open, readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { AuditEntry } from "../../domain/audit.ts";
import { mostLineBytes, readLine } from "../../domain/audit-chain.ts";
import { isThere, noneIfAbsent } from "../found-files.ts";

const monthFile = /^\d{4}-\d{2}\.jsonl$/;
const chunkBytes = 64 * 1024;
const newline = 10;

/** The folder of the audit log. */
export function auditFolder(dataDir: string): string {
  return join(dataDir, "audit");
}

/** A log where somebody keeps it. */
interface KeptLog {
  /** The folder of its files. */
  readonly folder: string;
  /** Where the database is that knows the log, if there is one. */
  readonly dataDir: string;
}

/**
 * The log of a data folder, which may have no entries yet, or of a folder that has the log's files itself, such as a copy;
 * undefined where there is neither.
 */
export async function findLog(dir: string): Promise<KeptLog | undefined> {
  const folder = auditFolder(dir);
  if (await isThere(folder)) return { folder, dataDir: dir };
  const names = await monthFiles(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOTDIR") return [];
    throw error;
  });
  const isOfData = basename(dir) === basename(folder) && (await isThere(join(dirname(dir), "platen.sqlite")));
  if (isOfData) return { folder: dir, dataDir: dirname(dir) };
  if (names.length > 0) return { folder: dir, dataDir: dir };
  return (await isThere(join(dir, "platen.sqlite"))) ? { folder, dataDir: dir } : undefined;
}

/** The name of the file for a time, UTC. */
export function monthFileAt(at: number): string {
  return `${new Date(at).toISOString().slice(0, 7)}.jsonl`;
}

/** The names of the log's files, the oldest first; none where there is no folder. */
export async function monthFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(noneIfAbsent);
  return names.filter((name) => monthFile.test(name)).sort();
}

/** A line where it stands. */
interface FoundLine {
  /** Without its end; undefined where it is longer than any of ours. */
  readonly text: string | undefined;
  readonly start: number;
  /** Behind its end, where the next one begins. */
  readonly end: number;
  /** Whether it has an end: the last one may have been cut off. */
  readonly isEnded: boolean;
}

/** A line of any of the log's files. */
export interface LogLine extends FoundLine {
  readonly file: string;
}

/** The lines of all files from a place in one of them on, which is the beginning of a line. */
export async function* logLines(folder: string, from = { file: "", size: 0 }): AsyncGenerator<LogLine> {
  for (const file of await monthFiles(folder)) {
    if (file < from.file) continue;
    const start = file === from.file ? from.size : 0;
    for await (const line of linesFrom(join(folder, file), start)) yield { ...line, file };
  }
}

/** All that the log in a folder says, the oldest entry first; what is no line of ours is left out. */
export async function* readEntries(folder: string): AsyncGenerator<AuditEntry> {
  for await (const { text } of logLines(folder)) {
    const line = text === undefined ? undefined : readLine(text);
    if (line !== undefined) yield line.entry;
  }
}

/** The lines from a place on, which is the beginning of one. */
export async function* linesFrom(path: string, from = 0): AsyncGenerator<FoundLine> {
  const file = await open(path, "r");
  try {
    for (let start = from; ; ) {
      const bytes = await readAt(file, start, chunkBytes);
      if (bytes.length === 0) return;
      let at = 0;
      for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, at)) {
        yield {
          text: bytes.toString("utf8", at, end),
          start: start + at,
          end: start + end + 1,
          isEnded: true,
        };
        at = end + 1;
      }
      if (at === 0) {
        const end = await endOfLine(file, start + bytes.length);
        yield await longLine(file, start, end.at, end.isEnded);
        start = end.at;
      } else start += at;
    }
  } finally {
    await file.close();
  }
}

/** The lines before a place, the last one first; what has no end is left out. */
export async function* linesBefore(
  path: string,
  before = Number.POSITIVE_INFINITY,
): AsyncGenerator<FoundLine> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    let end = await startOfLine(file, Math.min(before, size));
    while (end > 0) {
      const from = Math.max(0, end - chunkBytes);
      const bytes = await readAt(file, from, end - from);
      if (bytes.length < end - from) return;
      let last = bytes.length;
      for (let at = lineStart(bytes, last); at > 0 || (from === 0 && last > 0); at = lineStart(bytes, last)) {
        yield {
          text: bytes.toString("utf8", at, last - 1),
          start: from + at,
          end: from + last,
          isEnded: true,
        };
        last = at;
      }
      if (last === bytes.length) {
        const start = await startOfLine(file, from);
        yield await longLine(file, start, end, true);
        end = start;
      } else end = from + last;
    }
  } finally {
    await file.close();
  }
}

/** Where the line begins that ends at `end`; 0 also where it begins before these bytes. */
function lineStart(bytes: Buffer, end: number): number {
  return end < 2 ? 0 : bytes.lastIndexOf(newline, end - 2) + 1;
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  const { bytesRead } = await file.read(buffer, 0, length, position);
  return buffer.subarray(0, bytesRead);
}

/** Behind the first line break from a place on, else where the file ends. */
async function endOfLine(
  file: FileHandle,
  from: number,
): Promise<{ readonly at: number; readonly isEnded: boolean }> {
  for (let at = from; ; ) {
    const bytes = await readAt(file, at, chunkBytes);
    const end = bytes.indexOf(newline);
    if (end >= 0) return { at: at + end + 1, isEnded: true };
    if (bytes.length === 0) return { at, isEnded: false };
    at += bytes.length;
  }
}

/** Behind the last line break before a place, else 0. */
async function startOfLine(file: FileHandle, before: number): Promise<number> {
  for (let at = before; at > 0; ) {
    const from = Math.max(0, at - chunkBytes);
    const start = (await readAt(file, from, at - from)).lastIndexOf(newline);
    if (start >= 0) return from + start + 1;
    at = from;
  }
  return 0;
}

/** A line that no chunk holds whole. */
async function longLine(file: FileHandle, start: number, end: number, isEnded: boolean): Promise<FoundLine> {
  const length = end - start - Number(isEnded);
  const text = length > mostLineBytes ? undefined : (await readAt(file, start, length)).toString("utf8");
  return { text, start, end, isEnded };
}
