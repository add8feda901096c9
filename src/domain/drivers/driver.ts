import { cleanText } from "../fields.ts";
/** Processor architectures as INF decorations name them. */
export type Architecture = "x86" | "amd64" | "arm64" | "arm" | "ia64";

/** The part of an INF's content that is kept in the report. */
export interface InfSummary {
  /** Inside the archive, with `/`. */
  readonly path: string;
  readonly class: string | null;
  readonly isPrinter: boolean;
  readonly driverModel: "v3" | "v4" | null;
  readonly provider: string | null;
  readonly driverVer: { readonly date: string; readonly version: string } | null;
  /** The archive has at least one catalog that the INF names. */
  readonly signed: boolean;
  /** The catalogs that the INF names and the archive has, as paths inside it. */
  readonly catalogFiles: readonly string[];
  readonly architectures: readonly Architecture[];
  /** Architectures that models declare, although the program files are all for others. */
  readonly notShipped: readonly Architecture[];
  readonly descriptions: readonly string[];
  /** The number of lines in models sections. Several may have the same description. */
  readonly modelLines: number;
  readonly manufacturers: readonly string[];
  readonly copyInf: readonly string[];
  /** The first missing files; `missingCountOf` gives their number. */
  readonly missing: readonly string[];
  /** Absent in reports of earlier versions, which list all missing files. */
  readonly missingCount?: number;
  /** Architectures that need one of the missing files; absent in reports of earlier versions. */
  readonly missingFor?: readonly Architecture[];
  /** Files that neither this INF nor the INFs that it copies use. */
  readonly unused: UnusedFiles;
}

export interface UnusedFiles {
  readonly count: number;
  /** Unpacked size. */
  readonly bytes: number;
  /** The first of these files. */
  readonly paths: readonly string[];
}

/** The result of reading an archive. It is kept with the driver. */
export interface ArchiveReport {
  readonly fileCount: number;
  /** Unpacked size of all files. */
  readonly totalBytes: number;
  readonly infs: readonly InfSummary[];
  /**
   * Files that neither a printer INF nor the INFs that it copies use; absent without a printer INF, and in reports of
   * earlier versions.
   */
  readonly unused?: UnusedFiles;
  /** The path of the printer's INF, by the rule in docs/decisions/0005; null if there is none. */
  readonly printerInf: string | null;
  /** Sentences about the archive for the operator. */
  readonly warnings: readonly string[];
}

/** The settings that an operator may change after the upload. */
export interface DriverSettings {
  readonly name: string;
  readonly comment: string;
  /** The INF reference: the path of the chosen INF inside the archive; empty if there is none. */
  readonly inf_path: string;
  /** The chosen model; empty if none was found yet. */
  readonly driver_desc: string;
  /** Whether a person chose the model; otherwise `preselectedModel` did. */
  readonly model_chosen: boolean;
  /** The scripts import the catalog's signing certificate into the machine's trusted publishers. */
  readonly trust_publisher: boolean;
  /** Packages leave out files that neither the chosen INF nor the INFs that it copies use. */
  readonly drop_unused: boolean;
  /** The scripts replace a newer version of the driver too. */
  readonly exact_version: boolean;
}

/**
 * Where a driver comes from: `upload` is a vendor's ZIP; `windows` is a driver that Windows has or fetches by its name;
 * `ipp` is the class driver that Windows chooses for a printer that speaks IPP.
 */
export const driverOrigins = ["upload", "windows", "ipp"] as const;
export type DriverOrigin = (typeof driverOrigins)[number];

/** A driver without its report, which may be large. */
export interface DriverSummary extends DriverSettings {
  readonly id: number;
  readonly origin: DriverOrigin;
  /** Digest of the archive as uploaded; a placeholder for a driver that comes with Windows. */
  readonly sha256: string;
  readonly file_name: string;
  /** Size of the archive in bytes. */
  readonly size: number;
  /** UTC, milliseconds since 1970. */
  readonly uploaded_at: number;
  /** UTC, milliseconds since 1970. */
  readonly updated_at: number;
  /**
   * The title that packages, scripts and apps keep, so that those of earlier versions of Platen stay as they are. Empty
   * for newer drivers, and once a person renames the driver: then the name is used.
   */
  readonly former_title: string;
  /** The data of the chosen INF for lists; undefined if none is chosen. */
  readonly listed: ListedInf | undefined;
}

export interface Driver extends DriverSummary {
  readonly report: ArchiveReport;
}

/** The data of the chosen INF for lists. It is saved apart from the report, so that lists need not read reports. */
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
  /** Architectures that need one of the missing files. */
  readonly missingFor: readonly Architecture[];
  /** Number of model names in the INF. */
  readonly modelCount: number;
  /** Models that the driver or its printers deploy although the INF does not have them. */
  readonly lostModels: readonly string[];
}

/** The number of files that an INF needs and the archive lacks. */
export function missingCountOf(inf: Partial<Pick<InfSummary, "missing" | "missingCount">>): number {
  return inf.missingCount ?? inf.missing?.length ?? 0;
}

/** The architectures that need a missing file. Reports of earlier versions do not say, so all of them count. */
export function missingForOf(inf: MissingCounts): readonly Architecture[] {
  return missingCountOf(inf) === 0 ? [] : (inf.missingFor ?? inf.architectures);
}

/** The counts of missing files. Only reports, not lists, have the names in `missing`. */
type MissingCounts = Pick<InfSummary, "architectures" | "missingCount" | "missingFor"> &
  Partial<Pick<InfSummary, "missing">>;

/** The architectures for which the archive has every file. */
export function completeFor(inf: MissingCounts & Pick<InfSummary, "notShipped">): readonly Architecture[] {
  const lacking = missingForOf(inf);
  return inf.architectures.filter((name) => !lacking.includes(name) && !inf.notShipped.includes(name));
}

/** The architectures that an INF's driver has program files for. */
export function shippedBy(
  inf: Pick<InfSummary, "architectures" | "notShipped"> | undefined,
): readonly Architecture[] {
  return inf?.architectures.filter((name) => !inf.notShipped.includes(name)) ?? [];
}

/** The driver's title on pages. No other driver has it. */
export function driverTitle(driver: Pick<DriverSummary, "name">): string {
  return driver.name;
}

/** The driver's title in packages, scripts and apps. */
export function packageTitle(driver: Pick<DriverSummary, "name" | "former_title">): string {
  return driver.former_title || driver.name;
}

/** The name of the app that installs only the driver. Other apps name it as their dependency. */
export function driverPackageName({ name, former_title: former, listed }: TitledPackage): string {
  const version = listed?.driverVer?.version ?? "";
  const title = former === "" ? withVersion(name, version) : former;
  const isWhole = former === "" || former.includes(version);
  return `Printer driver ${isWhole ? title : `${title} ${version}`}`;
}

type TitledPackage = Pick<DriverSummary, "name" | "former_title" | "listed">;

/** The name with the first two numbers of the version, or as it is if it has a version already. */
export function withVersion(name: string, version = ""): string {
  if (version === "" || /\d\.\d/.test(name)) return name;
  return `${name} ${version.split(".").slice(0, 2).join(".")}`;
}

/** Provider, INF and version, or else the file: the title of drivers without a name in earlier versions of Platen. */
export function infTitle(driver: Pick<DriverSummary, "file_name" | "inf_path" | "listed">): string {
  if (driver.listed === undefined) return driver.file_name;
  const { provider, driverVer } = driver.listed;
  return [vendorOf(provider), fileNameOf(driver.inf_path), driverVer?.version].filter(Boolean).join(" ");
}

/** Whether the driver may be offered for printers. Without a chosen INF, it is for no printer. */
export function isForPrinters({ listed }: Pick<DriverSummary, "listed">): boolean {
  return listed?.isPrinter === true;
}

export function fileNameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** An INF's provider; undefined if it is missing or contains a token that the INF does not define. */
export function vendorOf(provider: string | null): string | undefined {
  return provider === null || provider.includes("%") ? undefined : provider;
}

/** The INF that the driver's scripts use. */
export function chosenInf(driver: Pick<Driver, "inf_path" | "report">): InfSummary | undefined {
  return driver.report.infs.find((inf) => inf.path === driver.inf_path);
}

/** The INF whose path a form sent, where control characters may be lost. */
export function infNamed({ report }: Pick<Driver, "report">, path: string): InfSummary | undefined {
  return report.infs.find((inf) => cleanText(inf.path) === cleanText(path));
}

/** `missing`: the archive is not on disk; `damaged`: it is not the file that was uploaded. */
export type ArchiveState = "sound" | "missing" | "damaged";

/** The problem of an archive and its remedy, as the rest of a sentence whose subject is the archive. */
export function archiveProblem(
  { file_name }: Pick<Driver, "file_name">,
  state: Exclude<ArchiveState, "sound">,
): string {
  return `is ${state} on the server. Upload ${file_name} again.`;
}

/**
 * Why the driver cannot be deployed yet, as one sentence with the remedy; undefined when it can.
 * @param subject the subject of the sentence
 */
export function deployProblem(
  driver: Pick<Driver, "inf_path" | "driver_desc">,
  subject = "This driver",
): string | undefined {
  if (driver.inf_path === "") {
    return `${subject} has no chosen INF. Choose the printer’s INF on the driver’s page. If there is none, this is not a printer driver.`;
  }
  if (driver.driver_desc === "") {
    return `${subject} has no model. Choose one on the driver’s page.`;
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

/** Architectures as Windows names them, such as `x64, ARM64`; `none` for an empty list. */
export function architecturesInWords(names: readonly Architecture[]): string {
  return names.map((name) => architectureNames[name]).join(", ") || "none";
}

/** The result of a driver upload. */
export interface AddedDriver {
  readonly driver: Driver;
  /** False if Platen had the same archive already. */
  readonly isNew: boolean;
  /** The problem of the existing archive that the upload replaced; undefined if it replaced none. */
  readonly previousProblem?: Exclude<ArchiveState, "sound"> | undefined;
  /** Which ZIP inside the upload became the driver, in sentences. Undefined if the upload itself did. */
  readonly taken?: string;
}
