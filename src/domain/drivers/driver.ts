/** Processor architectures as INF decorations name them. */
export type Architecture = "x86" | "amd64" | "arm64" | "arm" | "ia64";

/** What one INF of an archive says, as far as anybody is shown it. */
export interface InfSummary {
  /** Inside the archive, with `/`. */
  readonly path: string;
  readonly class: string | null;
  readonly isPrinter: boolean;
  readonly driverModel: "v3" | "v4" | null;
  readonly provider: string | null;
  readonly driverVer: { readonly date: string; readonly version: string } | null;
  /** A catalog is named for 64-bit Windows and is in the archive. */
  readonly signed: boolean;
  /** The catalogs that are in the archive, as paths inside it. */
  readonly catalogFiles: readonly string[];
  readonly architectures: readonly Architecture[];
  /** Declared by models, but the driver's own program files are of other machines. */
  readonly notShipped: readonly Architecture[];
  readonly descriptions: readonly string[];
  /** Model lines, several of which may share one description. */
  readonly modelLines: number;
  readonly manufacturers: readonly string[];
  readonly copyInf: readonly string[];
  /** The first of them; `missingCountOf` says how many there are. */
  readonly missing: readonly string[];
  /** Absent in reports of earlier versions, which list them all. */
  readonly missingCount?: number;
  /** Architectures whose machines need one of the missing files; absent in reports of earlier versions. */
  readonly missingFor?: readonly Architecture[];
  /** What neither this INF uses nor those that it brings along. */
  readonly unused: UnusedFiles;
}

export interface UnusedFiles {
  readonly count: number;
  /** Unpacked. */
  readonly bytes: number;
  /** The first of them. */
  readonly paths: readonly string[];
}

/** What reading an archive gave: kept with the driver. */
export interface ArchiveReport {
  readonly fileCount: number;
  /** Of all files, unpacked. */
  readonly totalBytes: number;
  readonly infs: readonly InfSummary[];
  /** What no printer INF uses, nor those that they bring along; absent without any, and in earlier reports. */
  readonly unused?: UnusedFiles;
  /** The path of the INF that is the printer's, by the rule in docs/decisions; null where there is none. */
  readonly printerInf: string | null;
  /** Things about the archive that an operator should know, a sentence each. */
  readonly warnings: readonly string[];
}

/** What an operator may say of a driver after the upload. */
export interface DriverSettings {
  readonly name: string;
  readonly comment: string;
  /** The INF reference: the path of the chosen INF inside the archive; empty where there is none. */
  readonly inf_path: string;
  /** The chosen model; empty where none was found yet. */
  readonly driver_desc: string;
  /** Whether a person chose the model; where nobody did, it is the one that `firstModel` answers. */
  readonly model_chosen: boolean;
  /** The scripts import the catalog's signing certificate into the machine's trusted publishers. */
  readonly trust_publisher: boolean;
  /** Packages leave out what neither the chosen INF uses nor those that it brings along. */
  readonly drop_unused: boolean;
}

/**
 * Where a driver comes from: `upload`, a vendor's ZIP; `windows`, every Windows brings it or gets it by its name; `ipp`,
 * the class driver that Windows chooses by itself for a printer that speaks IPP.
 */
export const driverOrigins = ["upload", "windows", "ipp"] as const;
export type DriverOrigin = (typeof driverOrigins)[number];

/** A driver without its report, which may be large. */
export interface DriverSummary extends DriverSettings {
  readonly id: number;
  readonly origin: DriverOrigin;
  /** Of the archive as uploaded. */
  readonly sha256: string;
  readonly file_name: string;
  /** Of the archive, in bytes. */
  readonly size: number;
  /** UTC, milliseconds since 1970. */
  readonly uploaded_at: number;
  /** UTC, milliseconds since 1970. */
  readonly updated_at: number;
  /** What lists show of the chosen INF; undefined where none is chosen. */
  readonly listed: ListedInf | undefined;
}

export interface Driver extends DriverSummary {
  readonly report: ArchiveReport;
}

/** What lists show of the chosen INF. It is kept beside the report, so that no list reads a report. */
export interface ListedInf
  extends Pick<
    InfSummary,
    | "isPrinter"
    | "class"
    | "driverModel"
    | "provider"
    | "driverVer"
    | "signed"
    | "architectures"
    | "notShipped"
  > {
  readonly missingCount: number;
  /** Architectures whose machines need one of the missing files. */
  readonly missingFor: readonly Architecture[];
  /** How many names of models the INF has. */
  readonly modelCount: number;
  /** Names that the driver or printers of it deploy and that the INF, which names others, does not have. */
  readonly lostModels: readonly string[];
}

/** How many files an INF needs and does not find. */
export function missingCountOf(inf: Partial<Pick<InfSummary, "missing" | "missingCount">>): number {
  return inf.missingCount ?? inf.missing?.length ?? 0;
}

/** The architectures whose machines need a missing file: all of them, where nothing else is known. */
export function missingForOf(inf: MissingFacts): readonly Architecture[] {
  return missingCountOf(inf) === 0 ? [] : (inf.missingFor ?? inf.architectures);
}

/** Of lists, which do not have the names, as of reports. */
type MissingFacts = Pick<InfSummary, "architectures" | "missingCount" | "missingFor"> &
  Partial<Pick<InfSummary, "missing">>;

/** The architectures for which everything is there. */
export function completeFor(inf: MissingFacts & Pick<InfSummary, "notShipped">): readonly Architecture[] {
  const lacking = missingForOf(inf);
  return inf.architectures.filter((name) => !lacking.includes(name) && !inf.notShipped.includes(name));
}

/** The architectures that an INF's driver has program files for. */
export function shippedBy(
  inf: Pick<InfSummary, "architectures" | "notShipped"> | undefined,
): readonly Architecture[] {
  return inf?.architectures.filter((name) => !inf.notShipped.includes(name)) ?? [];
}

/** What the driver is called on a page: what the operator calls it, else its provider, INF and version. */
export function driverTitle(driver: Titled): string {
  if (driver.name !== "" || driver.listed === undefined) return driverFamily(driver);
  return [driverFamily(driver), driver.listed.driverVer?.version].filter(Boolean).join(" ");
}

type Titled = Pick<DriverSummary, "name" | "file_name" | "inf_path" | "listed">;

/** The same without the version, which others of its name may have too. */
export function driverFamily(driver: Titled): string {
  if (driver.name !== "") return driver.name;
  if (driver.listed === undefined) return driver.file_name;
  return [vendorOf(driver.listed.provider), fileOf(driver.inf_path)].filter(Boolean).join(" ");
}

/** What the app is called that brings the driver alone: others depend on it by this name. */
export function driverPackageName(driver: Titled): string {
  const title = driverTitle(driver);
  const version = driver.listed?.driverVer?.version ?? "";
  return `Printer driver ${title.includes(version) ? title : `${title} ${version}`}`;
}

/** The name of a file without its folders. */
export function fileOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** An INF's provider as people know it; undefined where it is a token that the INF does not resolve. */
export function vendorOf(provider: string | null): string | undefined {
  return provider === null || provider.includes("%") ? undefined : provider;
}

/** The INF that the driver's scripts use. */
export function chosenInf(driver: Pick<Driver, "inf_path" | "report">): InfSummary | undefined {
  return driver.report.infs.find((inf) => inf.path === driver.inf_path);
}

/** What is known of the archive's file: not there, or not what was uploaded. */
export type ArchiveState = "sound" | "missing" | "damaged";

/** What is wrong with an archive and the remedy: what a sentence says that begins with the archive. */
export function archiveProblem(
  { file_name }: Pick<Driver, "file_name">,
  state: Exclude<ArchiveState, "sound">,
): string {
  return `is ${state} on disk: upload ${file_name} again to put it back.`;
}

/**
 * Why the driver cannot be deployed yet, as one sentence with the remedy; undefined when it can.
 * @param subject what the sentence begins with
 */
export function driverNeeds(
  driver: Pick<Driver, "inf_path" | "driver_desc">,
  subject = "This driver",
): string | undefined {
  if (driver.inf_path === "") {
    return `${subject} has no INF reference: choose the printer’s INF on the driver’s page. Where it has none, this is no printer’s driver.`;
  }
  if (driver.driver_desc === "") {
    return `${subject} has no driver description: choose or type the model on the driver’s page.`;
  }
  return undefined;
}

const architectureNames: Record<Architecture, string> = {
  amd64: "x64",
  x86: "x86",
  arm64: "ARM64",
  arm: "ARM",
  ia64: "Itanium",
};

/** As Windows says them: `x64, ARM64`; `none` of none. */
export function architecturesInWords(names: readonly Architecture[]): string {
  return names.map((name) => architectureNames[name]).join(", ") || "none";
}
