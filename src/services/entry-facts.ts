import type { ByteSource } from "../domain/byte-source.ts";
import type { Architecture } from "../domain/driver.ts";
import { cabinetFirstBytes, cabinetHeadBytes, cabinetNames } from "../inf/cabinet.ts";
import { type EntryKind, kindOf } from "../inf/entries.ts";
import { executableHeadBytes, executableMachine } from "../inf/executable.ts";
import { type ArchiveEntry, checkEntry } from "../pkg/zip/archive.ts";
import { buffersUsed } from "../workers/memory.ts";

/** What a file says of itself. */
export interface EntryFacts {
  /** The names in a cabinet. */
  readonly names: readonly string[] | undefined;
  /** What a program runs on. */
  readonly machine: Architecture | undefined;
}

/** Holds the first block of a packed program, with what stands before it. */
const packedHeadBytes = 64 * 1024;

const headBytes: Readonly<Record<EntryKind, number>> = {
  inf: 0,
  cabinet: cabinetHeadBytes,
  program: executableHeadBytes,
  packed: packedHeadBytes,
  other: 0,
};

/** Checks an entry, and reads what it says of itself. @throws UserError "invalid" when it is damaged */
export async function readFacts(source: Pick<ByteSource, "read">, entry: ArchiveEntry): Promise<EntryFacts> {
  const kind = kindOf(entry.path);
  const head = await checkEntry(source, entry, headBytes[kind], buffersUsed);
  return { names: kind === "cabinet" ? cabinetNames(head) : undefined, machine: machineOf(kind, head) };
}

function machineOf(kind: EntryKind, head: Buffer): Architecture | undefined {
  if (kind === "program") return executableMachine(head);
  const unpacked = kind === "packed" ? cabinetFirstBytes(head) : undefined;
  return unpacked && executableMachine(unpacked);
}
