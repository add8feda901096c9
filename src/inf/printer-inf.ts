import type { Architecture } from "../domain/driver.ts";
import { UserError } from "../domain/errors.ts";
import type { InfDocument, InfLine } from "./document.ts";

const printerClassGuid = "{4d36e979-e325-11ce-bfc1-08002be10318}";
const modelLimit = 1_000_000;
const architectureOrder: readonly Architecture[] = ["x86", "amd64", "arm64", "arm", "ia64"];

export interface InfVersion {
  readonly class: string | null;
  readonly classGuid: string | null;
  /** Class or ClassGuid is Printer. */
  readonly isPrinter: boolean;
  /** Of printers: `v4` is ClassVer 4.0. */
  readonly driverModel: "v3" | "v4" | null;
  readonly provider: string | null;
  /** Both as written; a version may have fewer or more than four parts. */
  readonly driverVer: { readonly date: string; readonly version: string } | null;
  /** Catalog file names: `default`, and by decoration in lower case. */
  readonly catalogs: Readonly<Record<string, string | null>>;
}

/** One line of a models section. */
export interface ModelLine {
  readonly description: string;
  /** The install section as named in the line. */
  readonly installSection: string;
  readonly hardwareIds: readonly string[];
  /** The models section's decoration in lower case, without the leading dot; empty for none. */
  readonly decoration: string;
  readonly architecture: Architecture;
  /** `"{GUID}" = …`: a core driver, which is never a printer. */
  readonly isCoreDriver: boolean;
}

export interface InfModels {
  readonly manufacturers: readonly string[];
  /** Those that some machine can use. */
  readonly lines: readonly ModelLine[];
  /** Of all models sections that the INF names, also those that no machine looks at. */
  readonly lineCount: number;
  /** That models really serve. */
  readonly architectures: readonly Architecture[];
  /** Distinct, in the INF's order, without core drivers. */
  readonly descriptions: readonly string[];
}

/** Reads `[Version]`. */
export function readVersion(inf: InfDocument): InfVersion {
  const className = inf.value("Version", "Class") ?? null;
  const classGuid = inf.value("Version", "ClassGuid") ?? null;
  const isPrinter = className?.toLowerCase() === "printer" || classGuid?.toLowerCase() === printerClassGuid;
  const isV4 = Number.parseFloat(inf.value("Version", "ClassVer") ?? "") >= 4;
  return {
    class: className,
    classGuid,
    isPrinter,
    driverModel: isPrinter ? (isV4 ? "v4" : "v3") : null,
    provider: inf.value("Version", "Provider") ?? null,
    driverVer: readDriverVer(inf),
    catalogs: readCatalogs(inf),
  };
}

function readDriverVer(inf: InfDocument): InfVersion["driverVer"] {
  const [date, version] = inf.values("Version", "DriverVer").map((value) => inf.resolve(value).trim());
  return date ? { date, version: version ?? "" } : null;
}

function readCatalogs(inf: InfDocument): Record<string, string | null> {
  const catalogs: Record<string, string | null> = { default: null };
  for (const line of inf.section("Version") ?? []) {
    const key = line.key?.toLowerCase() ?? "";
    const value = inf.resolve(line.values[0] ?? "");
    if (value === "") continue;
    if (key === "catalogfile") catalogs.default ??= value;
    else if (key.startsWith("catalogfile.")) catalogs[key.slice("catalogfile.".length)] ??= value;
  }
  return catalogs;
}

/**
 * Reads `[Manufacturer]` and the models sections it names, with their decorations
 * (`.nt[architecture][.os major[.os minor …]]`).
 */
export function readModels(inf: InfDocument): InfModels {
  const entries = manufacturerEntries(inf);
  const listed = new Set(entries.flatMap((entry) => entry.decorations.map(architectureOf)));
  const undecorated = listed.has("x86") || undecoratedServes(inf);
  const lines: ModelLine[] = [];
  const counted = new Map<string, number>();
  const manufacturers: string[] = [];
  for (const entry of entries) {
    if (!manufacturers.includes(entry.manufacturer)) manufacturers.push(entry.manufacturer);
    for (const decoration of new Set(["", ...entry.decorations])) {
      const architecture = architectureOf(decoration);
      const name = decoration === "" ? entry.section : `${entry.section}.${decoration}`;
      const section = inf.section(name) ?? [];
      counted.set(name.toLowerCase(), section.length);
      if (architecture === undefined && !undecorated) continue;
      for (const line of section) {
        if (lines.length >= modelLimit)
          throw new UserError("invalid", "An INF with over a million models is refused.");
        const model = modelLine(inf, line, decoration, architecture ?? "x86");
        if (model !== undefined) lines.push(model);
      }
    }
  }
  const printers = lines.filter((line) => !line.isCoreDriver);
  return {
    manufacturers,
    lines,
    lineCount: [...counted.values()].reduce((sum, count) => sum + count, 0),
    architectures: sortArchitectures(lines.map((line) => line.architecture)),
    descriptions: [...new Set(printers.map((line) => line.description))],
  };
}

export function sortArchitectures(found: Iterable<Architecture>): Architecture[] {
  const present = new Set(found);
  return architectureOrder.filter((architecture) => present.has(architecture));
}

/** Orders text as its code points stand, not as some language sorts it. */
export function byCodePoint(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

interface ManufacturerEntry {
  readonly manufacturer: string;
  readonly section: string;
  readonly decorations: readonly string[];
}

function manufacturerEntries(inf: InfDocument): ManufacturerEntry[] {
  const entries: ManufacturerEntry[] = [];
  for (const line of inf.section("Manufacturer") ?? []) {
    const values = line.key === undefined ? line.values : [line.values[0] ?? "", ...line.values.slice(1)];
    const section = inf.resolve(values[0] || (line.key ?? ""));
    const manufacturer = inf.resolve(line.key ?? values[0] ?? "");
    const decorations = values.slice(1).map((value) => inf.resolve(value).toLowerCase());
    if (section !== "") {
      entries.push({ manufacturer, section, decorations: decorations.filter((value) => value !== "") });
    }
  }
  return entries;
}

/** The architecture a decoration names; undefined for none and for a plain `nt`. */
export function architectureOf(decoration: string): Architecture | undefined {
  return architectureOrder.find((architecture) => new RegExp(`^nt${architecture}(?:\\.|$)`).test(decoration));
}

/**
 * Whether models sections without an architecture make the INF serve 32-bit Windows where no section for
 * it is listed: not when something else in the INF rules it out by naming only other architectures.
 */
function undecoratedServes(inf: InfDocument): boolean {
  const families = ["printerpackageinstallation", "sourcedisksnames", "sourcedisksfiles"];
  for (const family of families) {
    const named = inf.sectionNames.filter((name) => name === family || name.startsWith(`${family}.`));
    if (rulesOutX86(named.map((name) => name.slice(family.length + 1)))) return false;
  }
  const catalogs = (inf.section("Version") ?? []).map((line) => line.key?.toLowerCase() ?? "");
  const decorations = catalogs
    .filter((key) => /^catalogfile(\.|$)/.test(key))
    .map((key) => key.slice("catalogfile.".length));
  return !rulesOutX86(decorations);
}

function rulesOutX86(decorations: readonly string[]): boolean {
  if (decorations.length === 0) return false;
  return decorations.every((decoration) => !["", "nt", "x86", "ntx86"].includes(decoration));
}

function modelLine(
  inf: InfDocument,
  line: InfLine,
  decoration: string,
  architecture: Architecture,
): ModelLine | undefined {
  if (line.key === undefined) return undefined;
  const description = inf.resolve(line.key);
  const [installSection = "", ...hardwareIds] = line.values.map((value) => inf.resolve(value));
  return {
    description,
    installSection,
    hardwareIds: hardwareIds.filter((id) => id !== ""),
    decoration,
    architecture,
    isCoreDriver: /^\{[0-9a-f-]{36}\}$/i.test(description),
  };
}
