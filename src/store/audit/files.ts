import { createReadStream } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { AuditEntry } from "../../domain/audit/audit.ts";
import { readLine } from "../../domain/audit/audit-chain.ts";
import { isThere, noneIfAbsent } from "../durable-files.ts";

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
  const hasDatabase = (dataDir: string) => isThere(join(dataDir, "platen.sqlite"));
  if (await isThere(folder)) return { folder, dataDir: dir };
  const around = dirname(dir);
  if (basename(dir) === basename(folder) && (await hasDatabase(around)))
    return { folder: dir, dataDir: around };
  if ((await monthFiles(dir)).length > 0) return { folder: dir, dataDir: dir };
  return (await hasDatabase(dir)) ? { folder, dataDir: dir } : undefined;
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
export interface FoundLine {
  /** Without its end. */
  readonly text: string;
  readonly start: number;
  /** Behind its end, where the next one begins. */
  readonly end: number;
}

/** A line of any of the log's files. */
export interface LogLine extends FoundLine {
  readonly file: string;
  /** Its number in its file, from 1, where the file was read from its beginning. */
  readonly line: number;
  /** Whether it has an end: the last one may have been cut off. */
  readonly isEnded: boolean;
}

/** Before the first line of all. */
const beginning = { file: "", size: 0 };

/** The lines of all files from a place in one of them on, which is the beginning of a line. */
export async function* logLines(folder: string, from = beginning): AsyncGenerator<LogLine> {
  for (const file of await monthFiles(folder))
    if (file >= from.file) yield* linesFrom(folder, file, file === from.file ? from.size : 0);
}

/** What the log in a folder says from a place on, the oldest entry first; what is no line of ours is left out. */
export async function* readEntries(folder: string, from = beginning): AsyncGenerator<AuditEntry> {
  for await (const { text } of logLines(folder, from)) {
    const line = readLine(text);
    if (line !== undefined) yield line.entry;
  }
}

async function* linesFrom(folder: string, file: string, from: number): AsyncGenerator<LogLine> {
  let rest: Buffer = Buffer.alloc(0);
  let [start, line] = [from, 0];
  for await (const chunk of createReadStream(join(folder, file), { start: from })) {
    const bytes: Buffer = Buffer.concat([rest, chunk]);
    const found = linesIn(bytes, 0, start);
    for (const one of found) yield { ...one, file, line: ++line, isEnded: true };
    const end = found.at(-1)?.end ?? start;
    rest = bytes.subarray(end - start);
    start = end;
  }
  if (rest.length === 0) return;
  yield { text: rest.toString(), start, end: start + rest.length, file, line: line + 1, isEnded: false };
}

/** The lines before a place, the last one first; what has no end is left out. */
export async function* linesBefore(
  path: string,
  before = Number.POSITIVE_INFINITY,
): AsyncGenerator<FoundLine> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    /** The end of a line that begins before `start`; undefined where no line's end was found yet. */
    let rest: Buffer | undefined;
    for (let start = Math.min(before, size); start > 0; ) {
      const length = Math.min(chunkBytes, start);
      start -= length;
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start);
      if (bytesRead < length) return;
      const bytes = rest
        ? Buffer.concat([buffer, rest])
        : buffer.subarray(0, buffer.lastIndexOf(newline) + 1);
      const first = start === 0 ? 0 : bytes.indexOf(newline) + 1;
      yield* linesIn(bytes, first, start).reverse();
      if (bytes.length > 0) rest = bytes.subarray(0, first);
    }
  } finally {
    await file.close();
  }
}

/** The lines in some bytes from `first` on, without what has no end. @param start where the bytes stand in their file */
function linesIn(bytes: Buffer, first: number, start: number): FoundLine[] {
  const lines: FoundLine[] = [];
  let at = first;
  for (let end = bytes.indexOf(newline, at); end >= 0; end = bytes.indexOf(newline, at)) {
    lines.push({ text: bytes.toString("utf8", at, end), start: start + at, end: start + end + 1 });
    at = end + 1;
  }
  return lines;
}
