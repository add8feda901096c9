import { addTo, getOrAdd } from "../collections.ts";
import { chosenInf, type Driver, type DriverSummary, driverTitle, infTitle } from "../drivers/driver.ts";
import { proposedNames } from "../drivers/driver-name.ts";
import { newestFirst } from "../drivers/driver-version.ts";
import { nearestInWords } from "../drivers/nearest-models.ts";
import { cleanText } from "../fields.ts";
import { effectiveDescription, type Printer } from "../printers/printer.ts";
import type { DriverHint, ImportRow } from "./import-row.ts";

/** The driver chosen for a row, its model, and what the operator should know. */
export interface DriverChoice {
  readonly driver: DriverSummary | undefined;
  readonly driver_desc: string;
  readonly remark?: string;
  /** The name of the driver, if Platen does not have it. */
  readonly missing?: string;
  /** Why the row cannot be imported. */
  readonly problem?: string;
}

/** The name of each driver in sentences, and the prefix of its form fields. */
const driverKinds = {
  driver: { what: "driver", prefix: "" },
  arm64Driver: { what: "driver for ARM64", prefix: "arm64_" },
} as const;

const noHint: DriverHint = { sha256: "", model: "", title: "", version: "" };

/**
 * Chooses the driver that a row names. If Platen does not have it, the printer keeps its current driver.
 * @param kind the main driver, or the one for ARM64 machines
 */
export function chooseDriver(
  kind: keyof typeof driverKinds,
  row: ImportRow,
  printer: Printer | undefined,
  drivers: KnownDrivers,
): DriverChoice {
  const { what, prefix } = driverKinds[kind];
  const [idField, modelField] = [`${prefix}driver_id`, `${prefix}driver_desc`] as const;
  const current = drivers.get(printer?.[idField]);
  const currentModel = printer?.[modelField] ?? "";
  const typed = row.values[modelField];
  const driver_desc = typed ?? currentModel;
  if (namesNoDriver(row, kind, typed))
    return { driver: row[kind] === undefined ? current : undefined, driver_desc };
  const hint = row[kind] ?? noHint;
  const ownModel = cleanText(typed ?? "");
  const found = drivers.find(hint, ownModel, current?.id);
  if (found === undefined) {
    const missing = cleanText(ownModel || hint.model || hint.title || hint.sha256).slice(0, 200);
    return {
      driver: current,
      driver_desc: currentModel,
      missing,
      remark: missingRemark(what, missing, current),
    };
  }
  if ("contradiction" in found)
    return { driver: current, driver_desc, problem: contradictionMessage(prefix, found) };
  const kept = typed ?? (current?.id === found.driver.id ? currentModel : "");
  return { driver: found.driver, driver_desc: deployedModel(found, ownModel, kept), ...othersRemark(found) };
}

function missingRemark(what: string, missing: string, current: DriverSummary | undefined): string {
  const consequence = current === undefined ? "The printer gets no driver" : `The printer keeps its ${what}`;
  return `Platen has no ${what} “${missing}”. ${consequence}.`;
}

/**
 * Whether a row names no driver. In a list written by hand, a model alone names a driver. In an export, it means that the
 * printer has a model and no driver.
 */
function namesNoDriver(row: ImportRow, kind: keyof typeof driverKinds, typed = ""): boolean {
  const { sha256, model, title } = row[kind] ?? noHint;
  if (sha256 + model + title !== "") return false;
  return cleanText(typed) === "" || (row[kind] !== undefined && row.origin !== undefined);
}

/** The `driver_desc` of the printer; empty if it uses the driver's own model. */
function deployedModel({ driver, description }: FoundDriver, ownModel: string, kept: string): string {
  if (description === undefined) return kept;
  if (ownModel !== "") return description;
  return effectiveDescription({ driver_desc: kept }, driver) === description ? kept : description;
}

function othersRemark({ driver, others }: FoundDriver): { remark?: string } {
  if (others === 0) return {};
  const rest = others === 1 ? "another driver also has" : `${others} other drivers also have`;
  return { remark: `Uses ${driverTitle(driver)}, the newest: ${rest} this model.` };
}

const maxQuotedCharacters = 200;

function contradictionMessage(prefix: string, { contradiction, driver }: Contradiction): string {
  const { title, model } = contradiction;
  const cells = Object.entries({ driver: title, driver_model: model }).filter(([, text]) => text !== "");
  const quoted = cells.map(([name, text]) => `“${prefix}${name}” is “${text.slice(0, maxQuotedCharacters)}”`);
  return `${quoted.join(" and ")}, but Platen has no such driver. “${prefix}driver_sha256” is that of ${driverTitle(driver)}. Clear the wrong cell.`;
}

/** A driver with one of its descriptions, in the driver's own spelling. */
interface Match {
  readonly driver: DriverSummary;
  readonly description: string;
}

/** The driver found for a row. */
interface FoundDriver {
  readonly driver: DriverSummary;
  /** The model to deploy; undefined to keep the row's model. */
  readonly description: string | undefined;
  /** How many other drivers match as well. */
  readonly others: number;
}

/** How a row names its driver. If it has a driver's digest, texts equal to that driver's are empty here. */
type WantedDriver = Omit<DriverHint, "sha256">;

/** The row's digest is that of `driver`, but its title or model is that of no driver. */
interface Contradiction {
  readonly contradiction: WantedDriver;
  readonly driver: DriverSummary;
}

/** Only so many rows are compared with every model of their driver: a list may have thousands. */
const maxNearest = 20;

/** All drivers, indexed by the texts that rows can name them by. */
export class KnownDrivers {
  readonly #withReport: (driver: DriverSummary) => Driver;
  readonly #byId: ReadonlyMap<number, DriverSummary>;
  readonly #byDigest: ReadonlyMap<string, DriverSummary>;
  readonly #byTitle = new Map<string, Match[]>();
  readonly #byModel = new Map<string, Match[]>();
  readonly #proposals = new Map<number, readonly string[]>();
  readonly #modelsById = new Map<number, readonly string[]>();
  #nearestLeft = maxNearest;

  /** @param withReport reads the driver's report, which may be large */
  constructor(drivers: readonly DriverSummary[], withReport: (driver: DriverSummary) => Driver) {
    this.#withReport = withReport;
    this.#byId = new Map(drivers.map((driver) => [driver.id, driver]));
    this.#byDigest = new Map(drivers.map((driver) => [driver.sha256, driver]));
    for (const driver of newestFirst(drivers))
      this.#add(driver, chosenInf(withReport(driver))?.descriptions ?? []);
  }

  get(id: number | null | undefined): DriverSummary | undefined {
    return this.#byId.get(id ?? 0);
  }

  /** Whether the driver has exactly this description. A driver without listed models accepts any. */
  hasModel({ id }: DriverSummary, description: string): boolean {
    if (this.#acceptsAny(id)) return true;
    const matches = this.#byModel.get(description.toLowerCase()) ?? [];
    return matches.some((match) => match.driver.id === id && match.description === description);
  }

  /** A driver whose INF names no models accepts any model. */
  #acceptsAny(id: number): boolean {
    return this.#modelsById.get(id)?.length === 0;
  }

  /** The nearest models of the driver, as the end of a message; empty for all but the first questions. */
  nearestInWords({ id }: DriverSummary, description: string): string {
    return this.#nearestLeft-- > 0 ? nearestInWords(this.#modelsById.get(id) ?? [], description) : "";
  }

  /**
   * Finds a driver by the archive's digest unless title or model were edited, else by the model, else by the title. Of
   * several with the same model, it returns the one with the named version, else the printer's current one, else the
   * newest.
   */
  find(
    hint: DriverHint,
    ownModel: string,
    current: number | undefined,
  ): FoundDriver | Contradiction | undefined {
    const exact = this.#byDigest.get(hint.sha256);
    if (exact === undefined) return this.#findWanted(wantedIn(hint, ownModel), undefined, current);
    // Nobody edits a digest by hand. A title or model that differs from the driver's was edited, so it decides.
    const title = this.#isTitleOf(exact, hint.title) ? "" : hint.title;
    const wanted = editsIn({ ...hint, title }, exact);
    if (wanted.title + wanted.model === "") return { driver: exact, description: undefined, others: 0 };
    const found = this.#findWanted(wanted, exact, current);
    if (found === undefined) return { contradiction: wanted, driver: exact };
    // A printer with its own model needs only the driver.
    return ownModel === "" ? found : { ...found, description: undefined };
  }

  /** Whether a list may name the driver so. It may have been renamed since the list was exported. */
  #isTitleOf(driver: DriverSummary, text: string): boolean {
    const title = cleanText(text).toLowerCase();
    const named = this.#driverNamed(title);
    if (title === "" || named !== undefined) return title === "" || named === driver;
    return [...titlesOf(driver), ...this.#proposalsFor(driver, title)].some(
      (each) => each.toLowerCase() === title,
    );
  }

  /** The names that the driver may have got at its upload. */
  #proposalsFor(driver: DriverSummary, title: string): readonly string[] {
    const names = getOrAdd(this.#proposals, driver.id, () => proposedNames(this.#withReport(driver)));
    const number = / \(\d{1,9}\)$/.exec(title)?.[0] ?? "";
    return names.map((name) => name + number);
  }

  #findWanted(
    { title, model, version }: WantedDriver,
    exact: DriverSummary | undefined,
    current: number | undefined,
  ): FoundDriver | undefined {
    const matches = title === "" ? this.#withModel(model) : this.#named(title, model);
    if (matches.length > 0) {
      const isExact = matches.some(({ driver }) => driver.id === exact?.id);
      return chooseMatch(matches, version, isExact ? exact?.id : current);
    }
    if (model === "") return this.#titled(title);
    const isAny = title === "" && exact !== undefined && this.#acceptsAny(exact.id);
    return isAny ? { driver: exact, description: model, others: 0 } : undefined;
  }

  /** Drivers with this description or title and, if a model is given, with that model too. */
  #named(title: string, model: string): readonly Match[] {
    if (model === "") return this.#withModel(title);
    const titles = [...this.#withModel(title), ...(this.#byTitle.get(title.toLowerCase()) ?? [])];
    const ids = new Set(titles.map(({ driver }) => driver.id));
    return this.#withModel(model).filter(({ driver }) => ids.has(driver.id));
  }

  #titled(title: string): FoundDriver | undefined {
    const found = this.#byTitle.get(title.toLowerCase()) ?? [];
    const named = this.#driverNamed(title);
    const driver = named ?? found[0]?.driver;
    return driver && { driver, description: undefined, others: named === undefined ? found.length - 1 : 0 };
  }

  #driverNamed(title: string): DriverSummary | undefined {
    const key = title.toLowerCase();
    return this.#byTitle.get(key)?.find(({ driver }) => driver.name.toLowerCase() === key)?.driver;
  }

  /** Drivers that spell the model exactly so, else those that differ only in case. */
  #withModel(model: string): readonly Match[] {
    const matches = this.#byModel.get(model.toLowerCase()) ?? [];
    const exact = matches.filter(({ description }) => description === model);
    return exact.length > 0 ? exact : matches;
  }

  #add(driver: DriverSummary, models: readonly string[]): void {
    for (const title of new Set(titlesOf(driver)))
      addTo(this.#byTitle, title.toLowerCase(), { driver, description: title });
    this.#modelsById.set(driver.id, models);
    for (const description of new Set([driver.driver_desc, ...models.map((model) => cleanText(model))]))
      addTo(this.#byModel, description.toLowerCase(), { driver, description });
  }
}

function titlesOf(driver: DriverSummary): readonly string[] {
  return [driver.name, driver.former_title, infTitle(driver), driver.file_name].filter(Boolean);
}

/** The title counts only if the row names no model. */
function wantedIn({ title, model, version }: DriverHint, ownModel: string): WantedDriver {
  const wanted = cleanText(ownModel || model);
  return { title: wanted === "" ? cleanText(title) : "", model: wanted, version };
}

function editsIn(hint: DriverHint, driver: DriverSummary): WantedDriver {
  const ifEdited = (text: string, ...own: readonly (string | undefined)[]) =>
    own.some((each) => each?.toLowerCase() === text.toLowerCase()) ? "" : text;
  return {
    title: cleanText(hint.title),
    model: ifEdited(cleanText(hint.model), driver.driver_desc),
    version: ifEdited(hint.version, driver.listed?.driverVer?.version),
  };
}

function chooseMatch(matches: readonly Match[], version: string, current: number | undefined): FoundDriver {
  const ofVersion = matches.filter(({ driver }) => driver.listed?.driverVer?.version === version);
  const candidates = ofVersion.length > 0 ? ofVersion : matches;
  const match = candidates.find(({ driver }) => driver.id === current) ?? candidates[0];
  if (match === undefined) throw new Error("nothing to choose from");
  const ids = new Set(candidates.map(({ driver }) => driver.id));
  return { ...match, others: match.driver.id === current ? 0 : ids.size - 1 };
}
