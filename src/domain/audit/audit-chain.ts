import { createHash } from "node:crypto";
import { type AuditEntry, entryHead, readEntry } from "./audit.ts";

// Each line ends with the SHA-256 of the line before it, as hex digits, and of its own bytes up to there. What was checked
// is thus what stands in the file, byte by byte, and not what a reader of JSON makes of it.

/** What the first line of all is chained to. */
export const noHash = "0".repeat(64);

const before = ',"hash":"';
const behind = '"}';
const tailLength = before.length + 64 + behind.length;

/** An entry as its line, without the line's end, and the hash that the next one is chained to. */
export function sealed(
  entry: AuditEntry,
  previous: string,
): { readonly line: string; readonly hash: string } {
  const head = entryHead(entry);
  const hash = hashOf(previous, head);
  return { line: head + before + hash + behind, hash };
}

/** A line that is whole: what it says and the hash that it carries, whether that is right or not. */
interface ChainedLine {
  readonly entry: AuditEntry;
  readonly hash: string;
  /** Whether it comes behind the line with this hash, and nothing in it was changed. */
  follows(previous: string): boolean;
}

/** Undefined where a line is none of ours. */
export function readLine(line: string): ChainedLine | undefined {
  const head = line.slice(0, -tailLength);
  const tail = line.slice(-tailLength);
  const hash = tail.slice(before.length, -behind.length);
  if (!tail.startsWith(before) || !tail.endsWith(behind) || !/^[0-9a-f]{64}$/.test(hash)) return undefined;
  const entry = readEntry(line);
  return entry && { entry, hash, follows: (previous) => hashOf(previous, head) === hash };
}

function hashOf(previous: string, head: string): string {
  return createHash("sha256").update(previous).update(head).digest("hex");
}
