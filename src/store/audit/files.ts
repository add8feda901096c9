import { createReadStream } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { AuditEntry } from "../../domain/audit/audit.ts";
import { readLine } from "../../domain/audit/audit-chain.ts";
import { exists, noneIfAbsent } from "../durable-files.ts";

const monthFile = /^\d{4}-\d{2}\.jsonl$/;
const chunkBytes = 64 * 1024;
const newline = 10;

export function auditFolder(dataDir: string): string {
  return join(dataDir, "audit");
}

interface LogLocation {
  /** The folder of the log's files. */
  readonly folder: string;
  /** The folder that has the log's database, if there is one. */
  readonly dataDir: string;
}

/**
 * The log of a data folder, which may have no entries yet, or of a folder that contains the log's files, such as a copy.
 * Undefined when `dir` is neither.
 */
export async function findLog(dir: string): Promise<LogLocation | undefined> {
  const folder = auditFolder(dir);
  const hasDatabase = (dataDir: string) => exists(join(dataDir, "platen.sqlite"));
  if (await exists(folder)) return { folder, dataDir: dir };
  const parent = dirname(dir);
  if (basename(dir) === basename(folder) && (await hasDatabase(parent)))
    return { folder: dir, dataDir: parent };
  if ((await monthFiles(dir)).length > 0) return { folder: dir, dataDir: dir };
  return (await hasDatabase(dir)) ? { folder, dataDir: dir } : undefined;
}

/** The name of the file for the UTC month of a time. */
export function monthFileAt(at: number): string {
  return `${new Date(at).toISOString().slice(0, 7)}.jsonl`;
}

/** The names of the log's files, oldest first; none when there is no folder. */
export async function monthFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(noneIfAbsent);
  return names.filter((name) => monthFile.test(name)).sort();
}

/** A line and its offsets in the file. */
export interface FoundLine {
  /** Without the line break. */
  readonly text: string;
  readonly start: number;
  /** After the line break, where the next line begins. */
  readonly end: number;
}

export interface LogLine extends FoundLine {
  readonly file: string;
  /** Its number from 1, counted from the place where reading began. */
  readonly line: number;
  /** Whether it ends with a line break. The last line may not. */
  readonly isComplete: boolean;
}

/** Before the first line. */
const beginning = { file: "", size: 0 };

/** The lines of all files from a place on. @param from the beginning of a line */
export async function* logLines(folder: string, from = beginning): AsyncGenerator<LogLine> {
  for (const file of await monthFiles(folder))
    if (file >= from.file) yield* linesFrom(folder, file, file === from.file ? from.size : 0);
}

/** The entries of a log from a place on, oldest first. Lines that cannot be read are skipped. */
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
    for (const position of found) yield { ...position, file, line: ++line, isComplete: true };
    const end = found.at(-1)?.end ?? start;
    rest = bytes.subarray(end - start);
    start = end;
  }
  if (rest.length === 0) return;
  yield { text: rest.toString(), start, end: start + rest.length, file, line: line + 1, isComplete: false };
}

/** The lines before an offset, last one first. A line without line break is skipped. */
export async function* linesBefore(
  path: string,
  before = Number.POSITIVE_INFINITY,
): AsyncGenerator<FoundLine> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    /** The end of a line that begins before `start`; undefined until a line break was read. */
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

/** The complete lines in `bytes` from `first` on. @param start the offset of `bytes` in their file */
function linesIn(bytes: Buffer, first: number, start: number): FoundLine[] {
  const lines: FoundLine[] = [];
  let at = first;
  for (let end = bytes.indexOf(newline, at); end >= 0; end = bytes.indexOf(newline, at)) {
    lines.push({ text: bytes.toString("utf8", at, end), start: start + at, end: start + end + 1 });
    at = end + 1;
  }
  return lines;
}
