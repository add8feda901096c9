import { createHash } from "node:crypto";
import type { ByteSource } from "../domain/byte-source.ts";
import type { Architecture, ArchiveReport, InfSummary } from "../domain/driver.ts";
import { UserError } from "../domain/errors.ts";
import { cabinetFirstBytes, cabinetHeadBytes, cabinetNames } from "../inf/cabinet.ts";
import { infLimitBytes } from "../inf/document.ts";
import { executableHeadBytes, executableMachine } from "../inf/executable.ts";
import { PackageFiles } from "../inf/files.ts";
import {
  choosePrinterInf,
  type InfReading,
  readInf,
  unusedBy,
  unusedInPackage,
  withCopied,
} from "../inf/package.ts";
import { type Archive, type ArchiveEntry, checkEntry, readArchive } from "../pkg/archive.ts";
import { buffersUsed } from "./memory.ts";

/** What reading a driver ZIP gives: all that `inspect` prints and all that an upload keeps. */
export interface Inspection {
  readonly archive: Archive;
  readonly files: PackageFiles;
  readonly readings: readonly InfReading[];
  readonly printerInf: InfReading | undefined;
  /** Of program files, plain or packed as `name.dl_`, by path. */
  readonly machines: ReadonlyMap<string, Architecture>;
}

/** Holds the first block of a packed program, with what stands before it. */
const packedHeadBytes = 64 * 1024;
const infsLimitBytes = 4 * infLimitBytes;

/**
 * Reads a driver ZIP: its directory, every entry's checksum, its cabinets' directories, its INFs.
 * Blocks while it inflates: call it in a worker thread.
 * @throws UserError "invalid" when it is no driver ZIP
 */
export async function inspectArchive(source: ByteSource): Promise<Inspection> {
  const archive = await readArchive(source);
  const infs = archive.entries.filter((entry) => isInf(entry.path));
  checkInfs(infs);
  const contents = new Map<string, Buffer>();
  const cabinets = new Map<string, string[]>();
  const machines = new Map<string, Architecture>();
  for (const entry of archive.entries) {
    const kept = await checkEntry(source, entry, bytesToKeep(entry.path), buffersUsed);
    if (isInf(entry.path)) contents.set(entry.path, kept);
    const names = isCabinet(entry.path) ? cabinetNames(kept) : undefined;
    if (names !== undefined) cabinets.set(entry.path, names);
    const machine = machineOf(entry.path, kept);
    if (machine !== undefined) machines.set(entry.path, machine);
  }
  const files = new PackageFiles(
    archive.entries.map((entry) => entry.path),
    cabinets,
  );
  const readings = [...contents].map(([path, bytes]) => readInf(path, bytes, files));
  return { archive, files, readings, printerInf: choosePrinterInf(readings), machines };
}

function isInf(path: string): boolean {
  return /\.inf$/i.test(path);
}

function isCabinet(path: string): boolean {
  return /\.cab$/i.test(path);
}

function isProgram(path: string): boolean {
  return /\.(?:dll|exe|sys)$/i.test(path);
}

/** `name.dl_` and the like: a cabinet of one file. */
function isPackedProgram(path: string): boolean {
  return /\.(?:dl|ex|sy)_$/i.test(path);
}

function machineOf(path: string, head: Buffer): Architecture | undefined {
  if (isProgram(path)) return executableMachine(head);
  const unpacked = isPackedProgram(path) ? cabinetFirstBytes(head) : undefined;
  return unpacked && executableMachine(unpacked);
}

function bytesToKeep(path: string): number {
  if (isInf(path)) return infLimitBytes;
  if (isCabinet(path)) return cabinetHeadBytes;
  if (isPackedProgram(path)) return packedHeadBytes;
  return isProgram(path) ? executableHeadBytes : 0;
}

function checkInfs(infs: readonly ArchiveEntry[]): void {
  if (infs.length === 0) {
    throw new UserError(
      "invalid",
      "This ZIP holds no INF file. Vendors often put the driver in a ZIP inside the ZIP, or in a setup program: unpack it once and upload the folder with the INF as a ZIP.",
    );
  }
  const large = infs.find((entry) => entry.size > infLimitBytes);
  if (large !== undefined) {
    throw new UserError(
      "invalid",
      `The INF “${large.path}” has over 16 MB: that is no driver’s INF, and it is refused.`,
    );
  }
  if (infs.reduce((sum, entry) => sum + entry.size, 0) > infsLimitBytes) {
    throw new UserError("invalid", "The INF files of this ZIP have over 64 MB together, and are refused.");
  }
}

/** What of an inspection is kept with the driver and shown. */
export function reportOf(inspection: Inspection): ArchiveReport {
  const { archive, readings, printerInf } = inspection;
  const sizes = new Map(archive.entries.map((entry) => [entry.path, entry.size]));
  return {
    fileCount: archive.entries.length,
    totalBytes: archive.entries.reduce((sum, entry) => sum + entry.size, 0),
    infs: readings.map((reading) => summaryOf(inspection, reading, sizes)),
    printerInf: printerInf?.path ?? null,
    warnings: archive.warnings,
  };
}

/** No page can bear more names than this; the count says how many there are. */
const shownPaths = 500;

function summaryOf(
  inspection: Inspection,
  reading: InfReading,
  sizes: ReadonlyMap<string, number>,
): InfSummary {
  const { version, models, files } = reading;
  const unused = unusedBeside(inspection, reading);
  const catalogFiles = Object.values(version.catalogs).flatMap((name) => {
    const folder = reading.path.slice(0, reading.path.lastIndexOf("/") + 1);
    return name === null ? [] : (inspection.files.find(folder + name.replaceAll("\\", "/")) ?? []);
  });
  return {
    path: reading.path,
    class: version.class,
    isPrinter: version.isPrinter,
    driverModel: version.driverModel,
    provider: version.provider,
    driverVer: version.driverVer,
    signed: catalogFiles.length > 0,
    catalogFiles: [...new Set(catalogFiles)],
    architectures: files.architectures,
    notShipped: notShipped(inspection, reading),
    descriptions: models.descriptions,
    modelLines: models.lineCount,
    manufacturers: models.manufacturers,
    copyInf: files.copyInf,
    missing: files.missing,
    unused: {
      count: unused.length,
      bytes: unused.reduce((sum, path) => sum + (sizes.get(path) ?? 0), 0),
      paths: unused.slice(0, shownPaths),
    },
  };
}

/** What an operator is told is dead weight: what neither this INF nor those that it brings along use. */
function unusedBeside({ readings, files }: Inspection, reading: InfReading): string[] {
  const used = new Set<string>();
  for (const each of withCopied([reading], readings, files))
    for (const path of each.files.used) used.add(path);
  return unusedBy(reading, files).filter((path) => !used.has(path));
}

/**
 * Architectures that the INF declares, but whose program files are all of other machines. Files in larger
 * cabinets tell nothing, so a driver with no other program files is taken at its word.
 */
function notShipped({ machines }: Inspection, { files }: InfReading): Architecture[] {
  return files.architectures.filter((architecture) => {
    const found = [...(files.usedBy.get(architecture) ?? [])].map((path) => machines.get(path));
    const known = found.filter((machine) => machine !== undefined);
    return known.length > 0 && !known.includes(architecture);
  });
}

/** What the `inspect` command prints: one object, its INFs by their paths. */
export function inspectionJson(inspection: Inspection, sha256: string): Record<string, unknown> {
  const { archive, readings, files, printerInf } = inspection;
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
      unused: unusedBy(reading, files),
      missing: reading.files.missing,
      inCab: reading.files.inCab,
      foundCompressed: reading.files.foundCompressed,
    },
  ]);
  return {
    sha256,
    printerInf: printerInf?.path ?? null,
    package: { fileCount: archive.entries.length, unused: unusedInPackage(readings, files) ?? null },
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
