import { addTo } from "../collections.ts";
import { type DriverSummary, driverTitle } from "../drivers/driver.ts";
import { newestFirst } from "../drivers/driver-version.ts";
import { cleanText } from "../fields.ts";
import { effectiveDescription, type Printer } from "../printers/printer.ts";
import type { DriverHint, ImportRow } from "./import-row.ts";

/** What a row's driver comes to: the fields of its form, and what an operator should know of it. */
export interface DriverChoice {
  readonly driver: DriverSummary | undefined;
  readonly driver_desc: string;
  readonly note?: string;
  /** What a driver that is not here is called. */
  readonly missing?: string;
  /** Why the row cannot be taken. */
  readonly problem?: string;
}

/** What a driver is called in sentences, and what the names of its fields begin with. */
const kinds = {
  driver: { what: "driver", prefix: "" },
  arm64Driver: { what: "driver for ARM64", prefix: "arm64_" },
} as const;

const noHint: DriverHint = { sha256: "", model: "", title: "", version: "" };

/**
 * Chooses the driver that a row names. One that is not here leaves a printer with the driver that it has.
 * @param kind the first driver, or the one for ARM64 machines
 */
export function chooseDriver(
  kind: keyof typeof kinds,
  row: ImportRow,
  printer: Printer | undefined,
  drivers: KnownDrivers,
): DriverChoice {
  const { what, prefix } = kinds[kind];
  const [idField, modelField] = [`${prefix}driver_id`, `${prefix}driver_desc`] as const;
  const current = drivers.get(printer?.[idField]);
  const currentModel = printer?.[modelField] ?? "";
  const typed = row.values[modelField];
  const driver_desc = typed ?? currentModel;
  if (namesNone(row, kind, typed))
    return { driver: row[kind] === undefined ? current : undefined, driver_desc };
  const hint = row[kind] ?? noHint;
  const ownModel = cleanText(typed ?? "");
  const found = drivers.find(hint, ownModel, current?.id);
  if (found === undefined) {
    const missing = cleanText(ownModel || hint.model || hint.title || hint.sha256).slice(0, 200);
    return { driver: current, driver_desc: currentModel, ...missingNote(what, missing, current) };
  }
  if ("contradiction" in found)
    return { driver: current, driver_desc, problem: contradictionIn(prefix, found) };
  const kept = typed ?? (current?.id === found.driver.id ? currentModel : "");
  return { driver: found.driver, driver_desc: deployedModel(found, ownModel, kept), ...noteOf(found) };
}

function missingNote(what: string, missing: string, current: DriverSummary | undefined) {
  const outcome = current === undefined ? "none is assigned" : "the printer keeps its own";
  return { missing, note: `The ${what} “${missing}” is not here: ${outcome}.` };
}

/**
 * Whether a row names no driver. A model alone names one where a list is written by hand; an export says by it that
 * a printer has a model and no driver.
 */
function namesNone(row: ImportRow, kind: keyof typeof kinds, typed = ""): boolean {
  const { sha256, model, title } = row[kind] ?? noHint;
  if (sha256 + model + title !== "") return false;
  return cleanText(typed) === "" || (row[kind] !== undefined && row.origin !== undefined);
}

/** What the printer chooses by itself; empty where the driver's own model is wanted. */
function deployedModel({ driver, description }: FoundDriver, ownModel: string, kept: string): string {
  if (description === undefined) return kept;
  if (ownModel !== "") return description;
  return effectiveDescription({ driver_desc: kept }, driver) === description ? kept : description;
}

function noteOf({ driver, others }: FoundDriver): { note?: string } {
  if (others === 0) return {};
  const rest = others === 1 ? "another driver has" : `${others} other drivers have`;
  return { note: `Takes ${driverTitle(driver)}, the newest: ${rest} this model too.` };
}

const shownCharacters = 200;

function contradictionIn(prefix: string, { contradiction, driver }: Contradiction): string {
  const { title, model } = contradiction;
  const cells = Object.entries({ driver: title, driver_model: model }).filter(([, text]) => text !== "");
  const said = cells.map(([name, text]) => `“${prefix}${name}” is “${text.slice(0, shownCharacters)}”`);
  return `${said.join(" and ")}, which no driver here is, and “${prefix}driver_sha256” is that of ${driverTitle(driver)}: empty what is wrong.`;
}

/** A driver that has a description, as the driver writes it. */
interface Match {
  readonly driver: DriverSummary;
  readonly description: string;
}

/** What a row's driver was found to be. */
interface FoundDriver {
  readonly driver: DriverSummary;
  /** The description that is to be deployed; undefined where the row's own is exact. */
  readonly description: string | undefined;
  /** How many others could have been meant. */
  readonly others: number;
}

/** What a row says of its driver; where it has a digest, what that driver is not. Each may be empty. */
interface Said {
  readonly title: string;
  readonly model: string;
  readonly version: string;
}

/** A row that names no driver and the digest of this one. */
interface Contradiction {
  readonly contradiction: Said;
  readonly driver: DriverSummary;
}

/** All drivers by what a row may name them by: a description may be sought for each of many rows. */
export class KnownDrivers {
  readonly #byId: ReadonlyMap<number, DriverSummary>;
  readonly #byDigest: ReadonlyMap<string, DriverSummary>;
  readonly #byTitle = new Map<string, Match[]>();
  readonly #byModel = new Map<string, Match[]>();
  readonly #withAnyModel = new Set<number>();

  /** @param modelsOf reads the descriptions of a driver's chosen INF, which may be long */
  constructor(drivers: readonly DriverSummary[], modelsOf: (driver: DriverSummary) => readonly string[]) {
    this.#byId = new Map(drivers.map((driver) => [driver.id, driver]));
    this.#byDigest = new Map(drivers.map((driver) => [driver.sha256, driver]));
    for (const driver of newestFirst(drivers)) this.#add(driver, modelsOf(driver));
  }

  get(id: number | null | undefined): DriverSummary | undefined {
    return this.#byId.get(id ?? 0);
  }

  /** Whether a printer may use this description, as `hasModel` says. */
  hasModel({ id }: DriverSummary, description: string): boolean {
    if (this.#withAnyModel.has(id)) return true;
    const matches = this.#byModel.get(description.toLowerCase()) ?? [];
    return matches.some((match) => match.driver.id === id && match.description === description);
  }

  /**
   * By the archive's digest where title and description do not say otherwise, else by the description, else by the title.
   * Where several have the description: the one of the version that is named, else the one that the printer has, else
   * the newest.
   */
  find(
    hint: DriverHint,
    ownModel: string,
    current: number | undefined,
  ): FoundDriver | Contradiction | undefined {
    const exact = this.#byDigest.get(hint.sha256);
    // Digests are not edited by hand: a title or a model that is another than the driver's was, and decides.
    const said = exact === undefined ? saidIn(hint, ownModel) : editedIn(hint, exact);
    if (exact === undefined) return this.#meant(said, exact, current);
    if (said.title + said.model === "") return { driver: exact, description: undefined, others: 0 };
    const found = this.#meant(said, exact, current);
    if (found === undefined) return { contradiction: said, driver: exact };
    // Where a printer has a model of its own, the driver alone is asked for.
    return ownModel === "" ? found : { ...found, description: undefined };
  }

  #meant(
    { title, model, version }: Said,
    exact: DriverSummary | undefined,
    current: number | undefined,
  ): FoundDriver | undefined {
    const matches = title === "" ? this.#withModel(model) : this.#named(title, model);
    if (matches.length > 0) {
      const isExact = matches.some(({ driver }) => driver.id === exact?.id);
      return chosen(matches, version, isExact ? exact?.id : current);
    }
    if (model === "") return this.#titled(title);
    const isAny = title === "" && exact !== undefined && this.#withAnyModel.has(exact.id);
    return isAny ? { driver: exact, description: model, others: 0 } : undefined;
  }

  /** Those that have this description and, where it is another, the model too; else those of this title with the model. */
  #named(title: string, model: string): readonly Match[] {
    if (model === "") return this.#withModel(title);
    const titles = [...this.#withModel(title), ...(this.#byTitle.get(title.toLowerCase()) ?? [])];
    const ids = new Set(titles.map(({ driver }) => driver.id));
    return this.#withModel(model).filter(({ driver }) => ids.has(driver.id));
  }

  #titled(title: string): FoundDriver | undefined {
    const [titled, ...others] = this.#byTitle.get(title.toLowerCase()) ?? [];
    return titled && { driver: titled.driver, description: undefined, others: others.length };
  }

  /** Those that write it just so, else those that differ in case alone. */
  #withModel(model: string): readonly Match[] {
    const matches = this.#byModel.get(model.toLowerCase()) ?? [];
    const exact = matches.filter(({ description }) => description === model);
    return exact.length > 0 ? exact : matches;
  }

  #add(driver: DriverSummary, models: readonly string[]): void {
    for (const title of new Set([driverTitle(driver), driver.file_name]))
      addTo(this.#byTitle, title.toLowerCase(), { driver, description: title });
    if (models.length === 0) this.#withAnyModel.add(driver.id);
    for (const description of new Set([driver.driver_desc, ...models.map((model) => cleanText(model))]))
      addTo(this.#byModel, description.toLowerCase(), { driver, description });
  }
}

/** A model decides where there is one. */
function saidIn({ title, model, version }: DriverHint, ownModel: string): Said {
  const wanted = cleanText(ownModel || model);
  return { title: wanted === "" ? cleanText(title) : "", model: wanted, version };
}

function editedIn(hint: DriverHint, driver: DriverSummary): Said {
  const unless = (text: string, ...own: readonly (string | undefined)[]) =>
    own.some((each) => each?.toLowerCase() === text.toLowerCase()) ? "" : text;
  // Somebody may have named it since the list was exported.
  const titles = [driverTitle(driver), driverTitle({ ...driver, name: "" }), driver.file_name];
  return {
    title: unless(cleanText(hint.title), ...titles),
    model: unless(cleanText(hint.model), driver.driver_desc),
    version: unless(hint.version, driver.listed?.driverVer?.version),
  };
}

function chosen(matches: readonly Match[], version: string, current: number | undefined): FoundDriver {
  const ofVersion = matches.filter(({ driver }) => driver.listed?.driverVer?.version === version);
  const left = ofVersion.length > 0 ? ofVersion : matches;
  const match = left.find(({ driver }) => driver.id === current) ?? left[0];
  if (match === undefined) throw new Error("nothing to choose from");
  const ids = new Set(left.map(({ driver }) => driver.id));
  return { ...match, others: match.driver.id === current ? 0 : ids.size - 1 };
}
