import { cleanText, FieldReader, type FormInput } from "./fields.ts";

export const architectures = ["x86", "amd64", "arm64", "arm", "ia64"] as const;

/** Processor architectures as INF decorations name them. */
export type Architecture = (typeof architectures)[number];

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
  /** Of all INFs, unpacked; absent in reports of earlier versions. */
  readonly infBytes?: number;
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
  /** Whether a person chose the model; where nobody did, it is the one that `preferredDescription` answers. */
  readonly model_chosen: boolean;
  /** The scripts import the catalog's signing certificate into the machine's trusted publishers. */
  readonly trust_publisher: boolean;
  /** Packages leave out what neither the chosen INF uses nor those that it brings along. */
  readonly drop_unused: boolean;
}

/** A driver without its report, which may be large. */
export interface DriverSummary extends DriverSettings {
  readonly id: number;
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
  /** How many names of models the INF has. */
  readonly modelCount: number;
  /** Names that the driver or printers of it deploy and that the INF, which names others, does not have. */
  readonly lostModels: readonly string[];
}

/**
 * A text field that was not sent keeps its value. Where another INF is chosen and the model is not one of
 * its models, that INF's preferred model is taken.
 * @throws UserError "invalid" with a message for each field.
 */
export function parseDriver(input: FormInput, driver: Driver): DriverSettings {
  const { name, comment, inf_path, driver_desc } = driver;
  const fields = new FieldReader({ name, comment, inf_path, driver_desc, ...input });
  const settings = {
    name: fields.text("name", { label: "The name", maxLength: 120 }),
    comment: fields.text("comment", { label: "The comment", maxLength: 2000, multiline: true }),
    inf_path: fields.text("inf_path", { label: "The INF" }),
    driver_desc: fields.text("driver_desc", { label: "The model", maxLength: 500 }),
    trust_publisher: fields.checkbox("trust_publisher"),
    drop_unused: fields.checkbox("drop_unused"),
    model_chosen: driver.model_chosen || (input.driver_desc ?? driver_desc) !== driver_desc,
  };
  const inf = driver.report.infs.find(({ path }) => cleanText(path) === settings.inf_path);
  if (inf === undefined && settings.inf_path !== "")
    fields.refuse("inf_path", "This INF is not in the archive.");
  fields.check();
  if (inf === undefined) return settings;
  const keepsModel = settings.driver_desc !== driver_desc || inf.descriptions.includes(driver_desc);
  if (inf.path === inf_path || keepsModel) return { ...settings, inf_path: inf.path };
  return {
    ...settings,
    inf_path: inf.path,
    driver_desc: preferredDescription(inf.descriptions, inf.manufacturers),
    model_chosen: false,
  };
}

/** How many files an INF needs and does not find. */
export function missingCountOf(inf: Pick<InfSummary, "missing" | "missingCount">): number {
  return inf.missingCount ?? inf.missing.length;
}

/** What the driver is called on a page: what the operator calls it, else its provider, INF and version. */
export function driverTitle(
  driver: Pick<DriverSummary, "name" | "file_name" | "inf_path" | "listed">,
): string {
  if (driver.name !== "") return driver.name;
  if (driver.listed === undefined) return driver.file_name;
  const provider = vendorOf(driver.listed.provider);
  const inf = driver.inf_path.slice(driver.inf_path.lastIndexOf("/") + 1);
  return [provider, inf, driver.listed.driverVer?.version].filter(Boolean).join(" ");
}

/** An INF's provider as people know it; undefined where it is a token that the INF does not resolve. */
export function vendorOf(provider: string | null): string | undefined {
  return provider === null || provider.includes("%") ? undefined : provider;
}

/** The INF that the driver's scripts use. */
export function chosenInf(driver: Pick<Driver, "inf_path" | "report">): InfSummary | undefined {
  return driver.report.infs.find((inf) => inf.path === driver.inf_path);
}

/** Whether a printer may use this description: any, where the driver's INF names no model. */
export function hasModel(
  driver: Pick<Driver, "inf_path" | "driver_desc" | "report">,
  description: string,
): boolean {
  const models = chosenInf(driver)?.descriptions ?? [];
  return (
    models.length === 0 ||
    description === driver.driver_desc ||
    models.some((model) => cleanText(model) === description)
  );
}

/** More of a search than anybody types is not looked at: each word is sought in every model. */
const maxQuery = 200;

/** Models whose name holds every word of `query`, without regard to case; at most `limit` of them. */
export function findModels(inf: Pick<InfSummary, "descriptions"> | undefined, query: string, limit: number) {
  const words = [...new Set(query.slice(0, maxQuery).toLowerCase().split(/\s+/))].filter(Boolean);
  const matches = (inf?.descriptions ?? []).filter((text) => {
    const lower = text.toLowerCase();
    return words.every((word) => lower.includes(word));
  });
  return { shown: matches.slice(0, limit), count: matches.length, total: inf?.descriptions.length ?? 0 };
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

/** Why the driver cannot be deployed yet, as one sentence with the remedy; undefined when it can. */
export function driverNeeds(driver: Pick<Driver, "inf_path" | "driver_desc">): string | undefined {
  if (driver.inf_path === "") {
    return "This driver has no INF reference: choose the printer’s INF on the driver’s page.";
  }
  if (driver.driver_desc === "") {
    return "This driver has no driver description: choose or type the model on the driver’s page.";
  }
  return undefined;
}

const namedVersion = /(?:\bv(?:er(?:sion)?)?\.?\s*\d|\(\s*v?\d+\.\d|\b\d+\.\d+\.\d)/i;

/** Whether the description names a version, so that two versions can live side by side. */
export function namesVersion(description: string): boolean {
  return namedVersion.test(description);
}

/**
 * The description to preselect: without a version in it, because that name updates in place for every
 * queue that uses it; among those the one that starts as most of the others do (the maker's name).
 */
export function preferredDescription(
  descriptions: readonly string[],
  manufacturers: readonly string[] = [],
): string {
  const carriesMaker = startsWithAny(
    manufacturers.map((maker) => maker.toLowerCase().split(/[\s,]/)[0] ?? ""),
  );
  const rank = (text: string) => (namesVersion(text) ? 2 : 0) + (carriesMaker(text.toLowerCase()) ? 0 : 1);
  let best = { text: "", rank: Number.POSITIVE_INFINITY };
  for (const text of descriptions) {
    if (text === "" || best.rank === 0) continue;
    const own = rank(text);
    if (own < best.rank) best = { text, rank: own };
  }
  return best.text;
}

const maxMakerName = 60;

/** Looks one name up for each length that there is: not every name for every text. */
function startsWithAny(names: readonly string[]): (text: string) => boolean {
  const known = new Set(names.filter((name) => name !== "" && name.length <= maxMakerName));
  const lengths = [...new Set([...known].map((name) => name.length))];
  return (text) => lengths.some((length) => known.has(text.slice(0, length)));
}
