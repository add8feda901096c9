import { join } from "node:path";
import { readLine } from "../../domain/audit/audit-chain.ts";
import { dayMs } from "../../domain/text.ts";
import { noPlace } from "./changes.ts";
import { linesBefore, logLines, monthFiles } from "./files.ts";
import type { AuditPlace } from "./writer.ts";

/** Files to remove, and the place of their last line. The chain then begins after that line. */
interface ExpiredFiles {
  readonly names: readonly string[];
  readonly start: AuditPlace;
}

/**
 * The files of whole months that ended more than `days` days ago; undefined when there are none. The newest `days / 31`
 * files always stay, even if the clock was set forward.
 */
export async function expiredFiles(
  folder: string,
  now: number,
  days: number,
): Promise<ExpiredFiles | undefined> {
  const files = await monthFiles(folder);
  const old = files.slice(0, -Math.ceil(days / 31)).filter((name) => endOfMonth(name) + days * dayMs < now);
  for (const name of [...old].reverse()) {
    for await (const { text } of linesBefore(join(folder, name))) {
      const line = readLine(text);
      if (line !== undefined)
        return { names: old, start: { ...noPlace, seq: line.entry.seq, hash: line.hash } };
    }
  }
  return undefined;
}

/** The place before the first line, read from the log itself. Its hash is empty (unknown) if older lines were removed. */
export async function startOf(folder: string): Promise<AuditPlace> {
  for await (const { text } of logLines(folder)) {
    const seq = (readLine(text)?.entry.seq ?? 1) - 1;
    return seq === 0 ? noPlace : { ...noPlace, seq, hash: "" };
  }
  return noPlace;
}

/** The beginning of the next month, UTC. */
function endOfMonth(name: string): number {
  return Date.UTC(Number(name.slice(0, 4)), Number(name.slice(5, 7)), 1);
}
