import type { DatabaseFacts, KeptState } from "../../domain/backup.ts";

/** What stands beside a kept state: what was found when it was read. */
interface Note {
  /** In bytes. */
  readonly size: number;
  /** UTC, milliseconds since 1970. */
  readonly at: number;
  readonly facts: DatabaseFacts;
}

export function noteText({ size, at, facts }: Note): string {
  return `${JSON.stringify({ size, at, ...facts })}\n`;
}

/**
 * What a note says of a state.
 * @returns undefined where it was not written by `noteText`, or is of a file of another size: then the state is read again
 */
export function checkedIn(text: string, size: number): KeptState["checked"] {
  const note = parse(text);
  if (note === undefined || note.size !== size) return undefined;
  return { at: note.at, facts: note.facts };
}

function parse(text: string): Note | undefined {
  try {
    const { size, at, savedAt, records, files } = JSON.parse(text);
    const numbers = [size, at, savedAt, records.clients, records.drivers, records.printers];
    if (!numbers.every((number) => Number.isSafeInteger(number) && number >= 0)) return undefined;
    const { clients, drivers, printers } = records;
    const digests = { drivers: digestsIn(files.drivers), icons: digestsIn(files.icons) };
    return { size, at, facts: { savedAt, records: { clients, drivers, printers }, files: digests } };
  } catch {
    return undefined;
  }
}

/** @throws Error where it is no list of them */
function digestsIn(list: unknown): readonly string[] {
  if (Array.isArray(list) && list.every((text) => typeof text === "string" && /^[0-9a-f]{64}$/.test(text)))
    return list;
  throw new Error("no list of digests");
}
