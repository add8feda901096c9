import { rm } from "node:fs/promises";
import { join } from "node:path";
import { readLine } from "../../domain/audit-chain.ts";
import { dayMs } from "../../domain/day.ts";
import { noPlace } from "./changes.ts";
import { linesBefore, logLines, monthFiles } from "./files.ts";
import type { AuditPlace } from "./writer.ts";

/** Files that are to be removed, and the last line of them, which the chain begins behind from then on. */
interface ExpiredFiles {
  readonly names: readonly string[];
  readonly start: AuditPlace;
}

/**
 * Removes what was kept for long enough: whole months that ended so many days ago. The database knows first where the
 * chain begins from then on.
 */
export class AuditExpiry {
  readonly #folder: string;
  readonly #days: number;
  #start: AuditPlace;
  #expired: ExpiredFiles | undefined;

  /** @param start where the chain begins */
  constructor(folder: string, days: number, start: AuditPlace) {
    this.#folder = folder;
    this.#days = days;
    this.#start = start;
  }

  /** The line that the chain begins behind, as the database is to know it. */
  get start(): AuditPlace {
    return this.#start;
  }

  /** Looks for files whose time is over. */
  async look(now: number): Promise<void> {
    this.#expired = await expiredFiles(this.#folder, now, this.#days);
    this.#start = this.#expired?.start ?? this.#start;
  }

  /** Removes what the database, as it is saved, does not begin with any more. @returns what was removed */
  async remove(saved: AuditPlace | undefined): Promise<ExpiredFiles | undefined> {
    const expired = this.#expired;
    if (expired === undefined || saved?.seq !== expired.start.seq) return undefined;
    this.#expired = undefined;
    for (const name of expired.names) await rm(join(this.#folder, name), { force: true });
    return expired;
  }
}

/** As many younger files must be there as the time has months: a clock that is set forward takes nothing away. */
async function expiredFiles(folder: string, now: number, days: number): Promise<ExpiredFiles | undefined> {
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

/** What the log begins behind where the database does not know it: the hash is not known then. */
export async function startOf(folder: string): Promise<AuditPlace> {
  for await (const { text } of logLines(folder)) {
    const seq = (readLine(text)?.entry.seq ?? 1) - 1;
    return seq === 0 ? noPlace : { ...noPlace, seq, hash: "" };
  }
  return noPlace;
}

/** Where the next month begins, UTC. */
function endOfMonth(name: string): number {
  return Date.UTC(Number(name.slice(0, 4)), Number(name.slice(5, 7)), 1);
}
