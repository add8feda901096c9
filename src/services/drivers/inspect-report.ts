import type { Architecture, ArchiveReport, InfSummary, UnusedFiles } from "../../domain/drivers/driver.ts";
import { escapeInvisible } from "../../domain/text.ts";
import { nameLimit } from "../../inf/models.ts";
import { CopiedInfs, type InfReading } from "../../inf/package.ts";
import type { Inspection } from "./inspect.ts";
import { infWarnings } from "./inspect-warnings.ts";

/** The maximum size of a report's JSON. The database keeps reports, and each driver page reads one. */
const reportLimitBytes = 2 * 1024 * 1024;
/** The maximum number of names in one list of an INF. Counts are of all names. */
const listLimit = 500;
/** The maximum number of names in all lists together, without model names. */
const namesLimit = 10_000;
const descriptionsLimit = 50_000;
/** The maximum length of a class, provider, date or version. */
const factLimit = 100;

/**
 * The part of an inspection that is kept with the driver and shown. Lists are cut to the limits above. The
 * names of the printer's INF come first.
 * @throws UserError "invalid" when the archive's budget of operations is used up
 */
export function reportOf(inspection: Inspection): ArchiveReport {
  const { archive, readings, printerInf } = inspection;
  const { summaries, unused } = summariesOf(inspection);
  const warnings = [...archive.warnings, ...infWarnings(inspection)];
  const budget = new ReportBudget();
  budget.charge(warnings);
  const listedUnused = unused && withinBudget(budget, unused);
  for (const summary of summaries.values()) budget.charge({ ...summary, ...withoutLists(summary) });
  const printerFirst = new Set([...(printerInf ? [printerInf] : []), ...readings]);
  for (const reading of printerFirst) {
    const summary = summaries.get(reading);
    if (summary !== undefined) summaries.set(reading, { ...summary, ...listsWithin(budget, summary) });
  }
  const infs = [...summaries.values()];
  return {
    fileCount: archive.entries.length,
    totalBytes: sum(archive.entries.map((entry) => entry.size)),
    infs,
    ...(listedUnused && { unused: listedUnused }),
    printerInf: printerInf?.path ?? null,
    warnings: [...warnings, ...modelWarnings(readings, infs)],
  };
}

/** Counts down the bytes of JSON, the descriptions and the other names that a report may still take. */
class ReportBudget {
  #bytes = reportLimitBytes - 4096;
  #descriptions = descriptionsLimit;
  #names = namesLimit;

  charge(value: unknown): void {
    this.#bytes -= Buffer.byteLength(JSON.stringify(value));
  }

  descriptions(names: readonly string[]): string[] {
    const taken = this.#take(names, this.#descriptions);
    this.#descriptions -= taken.length;
    return taken;
  }

  names(names: readonly string[]): string[] {
    const taken = this.#take(names, Math.min(listLimit, this.#names));
    this.#names -= taken.length;
    return taken;
  }

  /** The first of these names, up to `max`, until one does not fit. */
  #take(names: readonly string[], max: number): string[] {
    const taken: string[] = [];
    for (const name of names) {
      const bytes = Buffer.byteLength(JSON.stringify(name)) + 1;
      if (taken.length >= max || bytes > this.#bytes) break;
      this.#bytes -= bytes;
      taken.push(name);
    }
    return taken;
  }
}

type Lists = Pick<
  InfSummary,
  "catalogFiles" | "descriptions" | "manufacturers" | "copyInf" | "missing" | "unused"
>;

function withoutLists({ unused }: Lists): Lists {
  return {
    catalogFiles: [],
    descriptions: [],
    manufacturers: [],
    copyInf: [],
    missing: [],
    unused: { ...unused, paths: [] },
  };
}

function listsWithin(budget: ReportBudget, lists: Lists): Lists {
  return {
    descriptions: budget.descriptions(lists.descriptions),
    catalogFiles: budget.names(lists.catalogFiles),
    manufacturers: budget.names(lists.manufacturers.map((name) => cut(name, nameLimit))),
    missing: budget.names(lists.missing.slice(0, listLimit).map((name) => cut(name, nameLimit))),
    copyInf: budget.names(lists.copyInf.slice(0, listLimit).map((name) => cut(name, nameLimit))),
    unused: withinBudget(budget, lists.unused),
  };
}

function withinBudget(budget: ReportBudget, unused: UnusedFiles): UnusedFiles {
  return { ...unused, paths: budget.names(unused.paths) };
}

/**
 * @returns the INFs in their order, with uncut lists, and `unused`: files that no printer INF uses; undefined without a
 *   printer INF
 */
function summariesOf(inspection: Inspection) {
  const { archive, readings, files, work } = inspection;
  const sizes = new Map(archive.entries.map((entry) => [entry.path, entry.size]));
  const total = sum([...sizes.values()]);
  const copied = new CopiedInfs(readings, files, work);
  const unusedBy = (start: readonly InfReading[]) =>
    unusedFiles(inspection, copied.usedBy(start), sizes, total);
  const summaries = new Map(
    readings.map((reading) => [reading, summaryOf(inspection, reading, unusedBy([reading]))]),
  );
  const printers = readings.filter(({ version }) => version.isPrinter);
  return { summaries, unused: printers.length === 0 ? undefined : unusedBy(printers) };
}

function summaryOf(inspection: Inspection, reading: InfReading, unused: UnusedFiles): InfSummary {
  const { version, models, files } = reading;
  return {
    path: reading.path,
    class: version.class && cut(version.class, factLimit),
    isPrinter: version.isPrinter,
    driverModel: version.driverModel,
    provider: version.provider && cut(version.provider, factLimit),
    driverVer: version.driverVer && {
      date: cut(version.driverVer.date, factLimit),
      version: cut(version.driverVer.version, factLimit),
    },
    signed: files.catalogs.length > 0,
    catalogFiles: files.catalogs,
    architectures: files.architectures,
    notShipped: notShipped(inspection, reading),
    descriptions: models.descriptions,
    modelLines: models.lineCount,
    manufacturers: models.manufacturers,
    copyInf: files.copyInf,
    missing: files.missing,
    missingCount: files.missing.length,
    missingFor: files.missingFor,
    unused,
  };
}

function unusedFiles(
  { files, work }: Inspection,
  used: ReadonlySet<string>,
  sizes: ReadonlyMap<string, number>,
  totalBytes: number,
): UnusedFiles {
  work.spend(used.size);
  let usedBytes = 0;
  for (const path of used) usedBytes += sizes.get(path) ?? 0;
  const paths: string[] = [];
  for (const path of files.sorted) {
    if (paths.length >= listLimit) break;
    if (!used.has(path)) paths.push(path);
  }
  return { count: files.sorted.length - used.size, bytes: totalBytes - usedBytes, paths };
}

/**
 * Architectures that the INF declares although all known program files for them are of other architectures. Platen does
 * not know the architecture of files in larger cabinets, and believes the INF if all files are unknown.
 */
function notShipped({ machines }: Inspection, { files }: InfReading): Architecture[] {
  return files.architectures.filter((architecture) => {
    const found = [...(files.usedBy.get(architecture) ?? [])].map((path) => machines.get(path));
    const known = found.filter((machine) => machine !== undefined);
    return known.length > 0 && !known.includes(architecture);
  });
}

/** Shortens a text of an INF and makes its invisible characters visible. */
function cut(text: string, max: number): string {
  const seen = escapeInvisible(text.length <= max ? text : text.slice(0, max));
  return seen.length <= max && text.length <= max ? seen : `${seen.slice(0, max - 1)}…`;
}

/** Warnings about models that the report does not list. */
function modelWarnings(readings: readonly InfReading[], infs: readonly InfSummary[]): string[] {
  const unusable = sum(readings.map(({ models }) => models.unusableNames));
  const read = sum(readings.map(({ models }) => models.beyondLimit + models.descriptions.length));
  const hidden = read - sum(infs.map(({ descriptions }) => descriptions.length));
  const warnings: string[] = [];
  if (unusable > 0) {
    warnings.push(
      `${unusable} ${unusable === 1 ? "model is" : "models are"} left out. Their names have over ${nameLimit} characters, or characters that Platen does not accept.`,
    );
  }
  if (hidden > 0) {
    warnings.push(`${hidden} models are not listed. You can type them on the driver’s page.`);
  }
  return warnings;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
