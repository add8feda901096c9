import { createHash } from "node:crypto";
import type { ByteSource } from "../../domain/byte-source.ts";
import type { Architecture } from "../../domain/drivers/driver.ts";
import { cabinetFirstBytes, cabinetHeadBytes, cabinetNames } from "../../inf/cabinet.ts";
import { infLimitBytes } from "../../inf/document.ts";
import { type EntryKind, infsOf, kindOf } from "../../inf/entries.ts";
import { executableHeadBytes, executableMachine } from "../../inf/executable.ts";
import { choosePrinterInf, type InfReading, readInf, unusedBy, unusedInPackage } from "../../inf/package.ts";
import { PackageFiles } from "../../inf/package-files.ts";
import { Work } from "../../inf/work.ts";
import { type Archive, checkEntry, readArchive } from "../../pkg/zip/archive.ts";
import { buffersUsed } from "../../workers/memory.ts";

/** What reading a driver ZIP gives: all that `inspect` prints and all that an upload keeps. */
export interface Inspection {
  readonly archive: Archive;
  readonly files: PackageFiles;
  readonly readings: readonly InfReading[];
  readonly printerInf: InfReading | undefined;
  /** Of program files, plain or packed as `name.dl_`, by path. */
  readonly machines: ReadonlyMap<string, Architecture>;
  /** What further questions about the INFs are counted against. */
  readonly work: Work;
}

/**
 * Reads a driver ZIP: its directory, every entry's checksum, its cabinets' directories, its INFs, one in memory at
 * a time. Blocks while it inflates: call it in a process of its own (`Inspections`).
 * @throws UserError "invalid" when it is no driver ZIP
 */
export async function inspectArchive(source: ByteSource): Promise<Inspection> {
  const work = new Work();
  const archive = await readArchive(source);
  const infs = infsOf(archive.entries);
  const { cabinets, machines } = await readOthers(source, archive);
  const paths = archive.entries.map((entry) => entry.path);
  const files = new PackageFiles(paths, cabinets);
  const readings: InfReading[] = [];
  for (const entry of infs) {
    const bytes = await checkEntry(source, entry, infLimitBytes, buffersUsed);
    readings.push(readInf(entry.path, bytes, files, work));
  }
  return { archive, files, readings, printerInf: choosePrinterInf(readings), machines, work };
}

/** Checks every entry that is no INF, and keeps what cabinets and programs say of themselves. */
async function readOthers(source: ByteSource, { entries }: Archive) {
  const cabinets = new Map<string, readonly string[]>();
  const machines = new Map<string, Architecture>();
  for (const entry of entries) {
    const kind = kindOf(entry.path);
    if (kind === "inf") continue;
    const head = await checkEntry(source, entry, headBytes[kind], buffersUsed);
    const names = kind === "cabinet" ? cabinetNames(head) : undefined;
    if (names !== undefined) cabinets.set(entry.path, names);
    const machine = machineOf(kind, head);
    if (machine !== undefined) machines.set(entry.path, machine);
  }
  return { cabinets, machines };
}

/** Holds the first block of a packed program, with what stands before it. */
const packedHeadBytes = 64 * 1024;

/** What is read of a file of each kind, besides its checksum. */
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

/** What the `inspect` command prints: one object, its INFs by their paths. */
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
      unused: unusedBy(reading, files, work),
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

/** SHA-256 of a whole source, in hex. */
export async function digestOf(source: ByteSource): Promise<string> {
  const hash = createHash("sha256");
  const step = 1024 * 1024;
  for (let at = 0; at < source.size; at += step)
    hash.update(await source.read(at, Math.min(step, source.size - at)));
  return hash.digest("hex");
}
