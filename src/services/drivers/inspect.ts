import { createHash } from "node:crypto";
import type { ByteSource } from "../../domain/byte-source.ts";
import type { Architecture } from "../../domain/drivers/driver.ts";
import { cabinetFirstBytes, cabinetHeadBytes, cabinetNames } from "../../inf/cabinet.ts";
import { infLimitBytes } from "../../inf/document.ts";
import { type EntryKind, infsOf, kindOf } from "../../inf/entries.ts";
import { executableHeadBytes, executableMachine } from "../../inf/executable.ts";
import {
  choosePrinterInf,
  type InfReading,
  readInf,
  unusedFiles,
  unusedInPackage,
} from "../../inf/package.ts";
import { PackageFiles } from "../../inf/package-files.ts";
import { Work } from "../../inf/work-budget.ts";
import { type Archive, checkEntry, readArchive } from "../../pkg/zip/archive.ts";
import { countUsedBuffers } from "../../workers/memory.ts";

/** The result of reading a driver ZIP. The `inspect` command prints it; an upload stores a report of it. */
export interface Inspection {
  readonly archive: Archive;
  readonly files: PackageFiles;
  readonly readings: readonly InfReading[];
  readonly printerInf: InfReading | undefined;
  /** The architecture of each program file, by path. The file may be compressed as `name.dl_`. */
  readonly machines: ReadonlyMap<string, Architecture>;
  /** The operations left in the archive's budget. Functions that evaluate the INFs later use them too. */
  readonly work: Work;
  /** Where the driver may be if there is no printer INF, in sentences; undefined if that is unknown. */
  readonly packed?: string;
}

/**
 * Reads a ZIP: its directory, every entry's checksum, the file names in its cabinets, and its INFs, if it has any. Only
 * one INF is in memory at a time. Decompression blocks the thread: call this in a separate process (`Inspections`).
 * @throws UserError "invalid" when it is not a ZIP or is damaged
 */
export async function inspectArchive(source: ByteSource): Promise<Inspection> {
  const work = new Work();
  const archive = await readArchive(source);
  const infs = infsOf(archive.entries);
  const { cabinets, machines } = await checkOtherEntries(source, archive);
  const paths = archive.entries.map((entry) => entry.path);
  const files = new PackageFiles(paths, cabinets);
  const readings: InfReading[] = [];
  for (const entry of infs) {
    const bytes = await checkEntry(source, entry, infLimitBytes, countUsedBuffers);
    readings.push(readInf(entry.path, bytes, files, work));
  }
  return { archive, files, readings, printerInf: choosePrinterInf(readings), machines, work };
}

/** The JSON that the `inspect` command prints. */
export function inspectionJson(inspection: Inspection, sha256: string): Record<string, unknown> {
  const { archive, readings, files, printerInf, work } = inspection;
  const infs = readings.map((reading) => [
    reading.path,
    {
      class: reading.version.class,
      classGuid: reading.version.classGuid,
      isPrinter: reading.version.isPrinter,
      driverModel: reading.version.driverModel,
      provider: reading.version.provider,
      driverVer: reading.version.driverVer,
      catalogs: reading.version.catalogs,
      architectures: reading.files.architectures,
      descriptions: reading.models.descriptions,
      modelLines: reading.models.lineCount,
      manufacturers: reading.models.manufacturers,
      copyInf: reading.files.copyInf,
      unused: unusedFiles(reading.files.used, files, work),
      missing: reading.files.missing,
      inCab: reading.files.inCab,
      foundCompressed: reading.files.foundCompressed,
    },
  ]);
  return {
    sha256,
    printerInf: printerInf?.path ?? null,
    package: { fileCount: archive.entries.length, unused: unusedInPackage(readings, files, work) ?? null },
    infs: Object.fromEntries(infs),
  };
}

/** The source's SHA-256 in hex. */
export async function digestOf(source: ByteSource): Promise<string> {
  const hash = createHash("sha256");
  const chunkBytes = 1024 * 1024;
  for (let at = 0; at < source.size; at += chunkBytes)
    hash.update(await source.read(at, Math.min(chunkBytes, source.size - at)));
  return hash.digest("hex");
}

/** Checks every entry except INFs. Reads the file names in cabinets and the architectures of program files. */
async function checkOtherEntries(source: ByteSource, { entries }: Archive) {
  const cabinets = new Map<string, readonly string[]>();
  const machines = new Map<string, Architecture>();
  for (const entry of entries) {
    const kind = kindOf(entry.path);
    if (kind === "inf") continue;
    const head = await checkEntry(source, entry, headBytes[kind], countUsedBuffers);
    const names = kind === "cabinet" ? cabinetNames(head) : undefined;
    if (names !== undefined) cabinets.set(entry.path, names);
    const machine = machineOf(kind, head);
    if (machine !== undefined) machines.set(entry.path, machine);
  }
  return { cabinets, machines };
}

/** Enough for the cabinet header and first block of a program file compressed as `name.dl_`. */
const packedHeadBytes = 64 * 1024;

/** How many bytes from the start of a file are needed, by the kind of file. */
const headBytes: Readonly<Record<EntryKind, number>> = {
  inf: 0,
  cabinet: cabinetHeadBytes,
  program: executableHeadBytes,
  packed: packedHeadBytes,
  other: 0,
};

function machineOf(kind: EntryKind, head: Buffer): Architecture | undefined {
  if (kind === "program") return executableMachine(head);
  const unpacked = kind === "packed" ? cabinetFirstBytes(head) : undefined;
  return unpacked && executableMachine(unpacked);
}
