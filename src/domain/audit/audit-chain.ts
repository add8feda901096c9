import { createHash } from "node:crypto";
import { type AuditEntry, entryHead, readEntry } from "./audit.ts";

// Each line ends with its hash: the SHA-256 of the previous line's hash (as hex digits) and of the line's own bytes before
// its hash. The check covers the exact bytes in the file, not the values that a JSON parser reads from them.

/** Replaces the previous hash for the first line. */
export const zeroHash = "0".repeat(64);

const hashStart = ',"hash":"';
const hashEnd = '"}';
const trailerLength = hashStart.length + 64 + hashEnd.length;

/** An entry as a line without its line break, and the hash of the line, from which the next hash is made. */
export function chainEntry(
  entry: AuditEntry,
  previous: string,
): { readonly line: string; readonly hash: string } {
  const head = entryHead(entry);
  const hash = hashOf(previous, head);
  return { line: head + hashStart + hash + hashEnd, hash };
}

/** A line of the log. Its hash may be wrong. */
interface ChainedLine {
  readonly entry: AuditEntry;
  readonly hash: string;
  /** Whether the line is unchanged, and the previous line has this hash. */
  follows(previous: string): boolean;
}

/** Undefined when the line is no entry with a hash. */
export function readLine(line: string): ChainedLine | undefined {
  const head = line.slice(0, -trailerLength);
  const trailer = line.slice(-trailerLength);
  const hash = trailer.slice(hashStart.length, -hashEnd.length);
  if (!trailer.startsWith(hashStart) || !trailer.endsWith(hashEnd) || !/^[0-9a-f]{64}$/.test(hash))
    return undefined;
  const entry = readEntry(line);
  return entry && { entry, hash, follows: (previous) => hashOf(previous, head) === hash };
}

function hashOf(previous: string, head: string): string {
  return createHash("sha256").update(previous).update(head).digest("hex");
}
