import type { Architecture } from "../domain/driver.ts";
import { decodeInf } from "./decode.ts";
import { InfDocument } from "./document.ts";
import { folderOf, type InfFiles, type PackageFiles, readFiles } from "./files.ts";
import { byCodePoint, type InfModels, type InfVersion, readModels, readVersion } from "./printer-inf.ts";

/** Everything that one INF of a package says. */
export interface InfReading {
  /** Inside the archive, with `/`. */
  readonly path: string;
  readonly version: InfVersion;
  readonly models: InfModels;
  readonly files: InfFiles;
}

/** Reads one INF against the files of its package. Throws only UserError, for a text without measure. */
export function readInf(path: string, bytes: Uint8Array, files: PackageFiles): InfReading {
  const inf = new InfDocument(decodeInf(bytes).text);
  const version = readVersion(inf);
  const models = readModels(inf);
  return { path, version, models, files: readFiles(inf, path, version, models, files) };
}

/** The files that one INF does not use, sorted. */
export function unusedBy(reading: InfReading, files: PackageFiles): string[] {
  return files.all.filter((path) => !reading.files.used.has(path)).sort(byCodePoint);
}

/**
 * The files that neither the printer INFs use nor the INFs they bring along with CopyINF (and those
 * again); undefined when the package has no printer INF. Sorted.
 */
export function unusedInPackage(readings: readonly InfReading[], files: PackageFiles): string[] | undefined {
  const printers = readings.filter((reading) => reading.version.isPrinter);
  if (printers.length === 0) return undefined;
  const used = new Set<string>();
  for (const reading of withCopied(printers, readings, files)) {
    for (const path of reading.files.used) used.add(path);
  }
  return files.all.filter((path) => !used.has(path)).sort(byCodePoint);
}

/** `start`, and every reading that one of them brings along with CopyINF. */
export function withCopied(
  start: readonly InfReading[],
  readings: readonly InfReading[],
  files: PackageFiles,
): Set<InfReading> {
  const found = new Set(start);
  for (const reading of found) {
    for (const name of reading.files.copyInf) {
      const path = files.find(folderOf(reading.path) + name.replaceAll("\\", "/"));
      const copied = readings.find((candidate) => candidate.path === path);
      if (copied !== undefined) found.add(copied);
    }
  }
  return found;
}

/**
 * The INF that is the printer's, by one rule (docs/decisions/0005): printer class; has models; nothing
 * missing; serves 64-bit Windows; nearest to the root; newest DriverVer; most models; first by path.
 */
export function choosePrinterInf(readings: readonly InfReading[]): InfReading | undefined {
  const candidates = readings.filter((reading) => reading.version.isPrinter);
  return candidates.sort(comparePrinterInfs)[0];
}

function comparePrinterInfs(a: InfReading, b: InfReading): number {
  return (
    preferring((reading) => reading.models.descriptions.length > 0)(a, b) ||
    preferring((reading) => reading.files.missing.length === 0)(a, b) ||
    rankOfMachines(a.files.architectures) - rankOfMachines(b.files.architectures) ||
    a.path.split("/").length - b.path.split("/").length ||
    compareDriverVer(b.version.driverVer, a.version.driverVer) ||
    b.models.lines.length - a.models.lines.length ||
    byCodePoint(a.path, b.path)
  );
}

function preferring(holds: (reading: InfReading) => boolean) {
  return (a: InfReading, b: InfReading) => Number(holds(b)) - Number(holds(a));
}

/** Most machines are x64, then ARM64, then 32-bit. */
function rankOfMachines(architectures: readonly Architecture[]): number {
  if (architectures.includes("amd64")) return 0;
  return architectures.includes("arm64") ? 1 : 2;
}

/** Compares the dates first, as Windows ranks drivers, then the versions; a missing one is the oldest. */
export function compareDriverVer(a: InfVersion["driverVer"], b: InfVersion["driverVer"]): number {
  const dates = dateNumber(a?.date) - dateNumber(b?.date);
  return dates !== 0 ? dates : compareVersions(a?.version ?? "", b?.version ?? "");
}

/** `mm/dd/yyyy` or `mm-dd-yyyy` as a number that sorts; 0 for anything else. */
function dateNumber(date: string | undefined): number {
  const match = /^(\d{1,2})[/-](\d{1,2})[/-](\d{4})$/.exec(date ?? "");
  if (match === null) return 0;
  const [, month, day, year] = match.map(Number);
  return (year ?? 0) * 10_000 + (month ?? 0) * 100 + (day ?? 0);
}

function compareVersions(a: string, b: string): number {
  const left = a.split(".").map((part) => Number.parseInt(part, 10) || 0);
  const right = b.split(".").map((part) => Number.parseInt(part, 10) || 0);
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
