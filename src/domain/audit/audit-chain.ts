import { createHash } from "node:crypto";
import { type AuditEntry, entryHead, readEntry } from "./audit.ts";

// Each line ends with a SHA-256 over the hash of the line before it, as hex digits, and over its own bytes up to there.
// So the check covers the exact bytes in the file, not the values that a JSON parser reads from them.

/** The previous hash of the first line. */
export const noHash = "0".repeat(64);

const before = ',"hash":"';
const after = '"}';
const trailerLength = before.length + 64 + after.length;

/** An entry as a line without its line break, and the line's hash, which the next line includes. */
export function sealed(
  entry: AuditEntry,
  previous: string,
): { readonly line: string; readonly hash: string } {
  const head = entryHead(entry);
  const hash = hashOf(previous, head);
  return { line: head + before + hash + after, hash };
}

/** A complete line: its entry and its hash, which may be wrong. */
interface ChainedLine {
  readonly entry: AuditEntry;
  readonly hash: string;
  /** Whether it follows the line with this hash and was not changed. */
  follows(previous: string): boolean;
}

/** Undefined when the line is no entry with a hash. */
export function readLine(line: string): ChainedLine | undefined {
  const head = line.slice(0, -trailerLength);
  const trailer = line.slice(-trailerLength);
  const hash = trailer.slice(before.length, -after.length);
  if (!trailer.startsWith(before) || !trailer.endsWith(after) || !/^[0-9a-f]{64}$/.test(hash))
    return undefined;
  const entry = readEntry(line);
  return entry && { entry, hash, follows: (previous) => hashOf(previous, head) === hash };
}

function hashOf(previous: string, head: string): string {
  return createHash("sha256").update(previous).update(head).digest("hex");
}
