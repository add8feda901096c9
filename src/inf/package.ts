import { decodeInf, isMarkedText, utf8Reading } from "../domain/decode.ts";
import type { Architecture } from "../domain/drivers/driver.ts";
import { driverRank } from "../domain/drivers/driver-version.ts";
import { byCodeUnit } from "../domain/text.ts";
import { InfDocument } from "./document.ts";
import { kindOf } from "./entries.ts";
import { type InfFiles, readFiles } from "./files.ts";
import { type InfModels, readModels } from "./models.ts";
import { folderOf, normalizePath, type PackageFiles } from "./package-files.ts";
import { type InfVersion, readVersion } from "./printer-inf.ts";
import { Work } from "./work-budget.ts";

export interface InfReading {
  /** Inside the archive, with `/`. */
  readonly path: string;
  readonly version: InfVersion;
  readonly models: InfModels;
  readonly files: InfFiles;
  /** Names of models and missing files that are UTF-8 without a byte order mark, as Windows reads them. */
  readonly misread: readonly string[];
}

/**
 * Reads one INF and looks for its files in its package.
 * @param work the budget that all INFs of an archive share
 * @throws UserError "invalid" when the INF is too large or the work for the archive is used up
 */
export function readInf(path: string, bytes: Uint8Array, files: PackageFiles, work = new Work()): InfReading {
  const inf = new InfDocument(decodeInf(bytes), work);
  const version = readVersion(inf);
  const read = readModels(inf, work);
  const { copyInf, missing, sideEffects, ...found } = readFiles(inf, path, version, read, files, work);
  const { installSections: _, ...models } = read;
  const names = isMarkedText(bytes) ? [] : [...models.descriptions, ...missing];
  const misread = names.filter((name) => utf8Reading(name) !== undefined);
  // Cloned, because a substring keeps the whole text of the INF in memory.
  const copy = structuredClone({ version, models, misread, files: { copyInf, missing, sideEffects } });
  return { path, ...copy, files: { ...found, ...copy.files } };
}

/**
 * The files, in sorted order, that neither the printer INFs use nor the INFs that they copy (CopyINF) directly or
 * indirectly; undefined when the package has no printer INF.
 * @throws UserError "invalid" when the work for the archive is used up
 */
export function unusedInPackage(
  readings: readonly InfReading[],
  files: PackageFiles,
  work = new Work(),
): string[] | undefined {
  const printers = readings.filter((reading) => reading.version.isPrinter);
  if (printers.length === 0) return undefined;
  return unusedFiles(new CopiedInfs(readings, files, work).usedBy(printers), files, work);
}

/**
 * The files that are not in `used`, in sorted order.
 * @throws UserError "invalid" when the work for the archive is used up
 */
export function unusedFiles(used: ReadonlySet<string>, files: PackageFiles, work: Work): string[] {
  work.spend(files.sorted.length);
  return files.sorted.filter((path) => !used.has(path));
}

/** Which INFs of a package copy which others with CopyINF. */
export class CopiedInfs {
  readonly #copied = new Map<InfReading, ReadonlySet<InfReading>>();
  readonly #work: Work;

  constructor(readings: readonly InfReading[], files: PackageFiles, work: Work) {
    this.#work = work;
    const byPath = new Map(readings.map((reading) => [reading.path, reading]));
    for (const reading of readings) {
      const others = copiedPaths(reading, files, work).map((path) => byPath.get(path));
      this.#copied.set(reading, new Set(others.filter((other) => other !== undefined)));
    }
  }

  /** The files that these INFs use, or the INFs that they copy directly or indirectly. */
  usedBy(start: readonly InfReading[]): ReadonlySet<string> {
    const found = new Set(start);
    for (const reading of found) {
      for (const copied of this.#copied.get(reading) ?? []) {
        this.#work.spend(1);
        found.add(copied);
      }
    }
    const [first, ...others] = found;
    if (first !== undefined && others.length === 0) return first.files.used;
    const used = new Set<string>();
    for (const { files } of found) {
      this.#work.spend(files.used.size);
      for (const path of files.used) used.add(path);
    }
    return used;
  }
}

/** The files of the package that an INF names with CopyINF. */
function copiedPaths({ path, files: { copyInf } }: InfReading, files: PackageFiles, work: Work): string[] {
  return copyInf.flatMap((name) => {
    work.spendText(name);
    return files.find(folderOf(path) + normalizePath(name)) ?? [];
  });
}

/**
 * The files that an INF uses, or the INFs that it copies directly or indirectly. No other INFs are read.
 * @param bytesOf returns the bytes of an INF of the package
 * @throws UserError "invalid" when an INF is too large or the work for the archive is used up
 */
export async function usedByInf(
  path: string,
  files: PackageFiles,
  work: Work,
  bytesOf: (path: string) => Promise<Uint8Array>,
): Promise<ReadonlySet<string>> {
  const readings: InfReading[] = [];
  const paths = new Set([path]);
  for (const next of paths) {
    const reading = readInf(next, await bytesOf(next), files, work);
    readings.push(reading);
    for (const copied of copiedPaths(reading, files, work)) if (kindOf(copied) === "inf") paths.add(copied);
  }
  return new CopiedInfs(readings, files, work).usedBy(readings.slice(0, 1));
}

/**
 * The printer's INF, by the rule in docs/decisions/0005: printer class; has models; no file missing; serves x64, else
 * ARM64; nearest to the root; newest DriverVer; most model lines; first by path.
 */
export function choosePrinterInf(readings: readonly InfReading[]): InfReading | undefined {
  return readings.filter(({ version }) => version.isPrinter).toSorted(comparePrinterInfs)[0];
}

/** Orders printers' INFs by the rule of `choosePrinterInf`, the best first. */
export function comparePrinterInfs(a: InfReading, b: InfReading): number {
  return (
    preferIf(({ models }) => models.descriptions.length > 0)(a, b) ||
    preferIf(({ files }) => files.missing.length === 0)(a, b) ||
    architectureRank(a.files.architectures) - architectureRank(b.files.architectures) ||
    a.path.split("/").length - b.path.split("/").length ||
    byCodeUnit(driverRank(b.version.driverVer), driverRank(a.version.driverVer)) ||
    b.models.usableLines - a.models.usableLines ||
    byCodeUnit(a.path, b.path)
  );
}

function preferIf(isBetter: (reading: InfReading) => boolean) {
  return (a: InfReading, b: InfReading) => Number(isBetter(b)) - Number(isBetter(a));
}

/** Orders by the number of machines in use: x64, then ARM64, then 32-bit. */
function architectureRank(architectures: readonly Architecture[]): number {
  if (architectures.includes("amd64")) return 0;
  return architectures.includes("arm64") ? 1 : 2;
}
