import { type DriverSummary, driverTitle } from "./driver.ts";
import { cleanText } from "./fields.ts";
import type { DriverHint } from "./import-row.ts";

/** A driver that has a description, as the driver writes it. */
interface Match {
  readonly driver: DriverSummary;
  readonly description: string;
}

/** What a row's driver was found to be. */
export interface FoundDriver {
  readonly driver: DriverSummary;
  /** The description that is to be deployed; undefined where the row's own is exact. */
  readonly description: string | undefined;
  /** How many others could have been meant. */
  readonly others: number;
}

/** Why a row does not say which driver it means. */
interface Contradiction {
  /** @param prefix of the columns that say so */
  readonly problemIn: (prefix: string) => string;
}

/** What is asked of all drivers, looked up instead of searched: a description may be sought for each of many rows. */
export class KnownDrivers {
  readonly #byDigest = new Map<string, DriverSummary>();
  readonly #byTitle = new Map<string, Match[]>();
  readonly #byModel = new Map<string, Match[]>();
  readonly #withAnyModel = new Set<number>();
  readonly #wanted: ReadonlySet<string>;

  /** @param wanted the descriptions that may be asked for, in lower case; others are not remembered */
  constructor(wanted: ReadonlySet<string>) {
    this.#wanted = wanted;
  }

  /** @param models the descriptions of its chosen INF */
  add(driver: DriverSummary, models: readonly string[]): void {
    this.#byDigest.set(driver.sha256, driver);
    for (const title of new Set([driverTitle(driver), driver.file_name]))
      this.#note(this.#byTitle, title, driver);
    if (models.length === 0) this.#withAnyModel.add(driver.id);
    for (const model of new Set([driver.driver_desc, ...models.map((model) => cleanText(model))])) {
      if (model !== "") this.#note(this.#byModel, model, driver);
    }
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
   * the one that was added first.
   */
  find(
    hint: DriverHint,
    ownModel: string,
    current: number | undefined,
  ): FoundDriver | Contradiction | undefined {
    const exact = this.#byDigest.get(hint.sha256);
    if (exact !== undefined) return this.#withDigest(exact, hint, ownModel, current);
    const model = cleanText(ownModel || hint.model);
    const title = cleanText(hint.title);
    const matches = this.#withModel(model || title);
    if (matches.length > 0) return chosen(matches, hint.version, current);
    return model === "" ? this.#titled(title) : undefined;
  }

  /** Digests are not edited by hand: a title or a model that is another than the driver's was, and decides. */
  #withDigest(
    exact: DriverSummary,
    hint: DriverHint,
    ownModel: string,
    current: number | undefined,
  ): FoundDriver | Contradiction {
    const edited = editedIn(hint, exact);
    if (edited.title + edited.model === "") return { driver: exact, description: undefined, others: 0 };
    const found = this.#edited(exact, edited, current);
    if (found === undefined) return contradiction(exact, edited);
    // Where a printer has a model of its own, the driver alone is asked for.
    return ownModel === "" ? found : { ...found, description: undefined };
  }

  #edited(
    exact: DriverSummary,
    { title, model, version }: Edited,
    current: number | undefined,
  ): FoundDriver | undefined {
    const matches = title === "" ? this.#withModel(model) : this.#named(title, model);
    if (matches.length > 0) {
      const isExact = matches.some(({ driver }) => driver.id === exact.id);
      return chosen(matches, version, isExact ? exact.id : current);
    }
    if (model === "") return this.#titled(title);
    const isAny = title === "" && this.#withAnyModel.has(exact.id);
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

  #note(index: Map<string, Match[]>, description: string, driver: DriverSummary): void {
    const key = description.toLowerCase();
    if (!this.#wanted.has(key)) return;
    const known = index.get(key);
    if (known === undefined) index.set(key, [{ driver, description }]);
    else known.push({ driver, description });
  }
}

/** What a row says that the driver of its digest is not; each is empty where it is the driver's. */
interface Edited {
  readonly title: string;
  readonly model: string;
  readonly version: string;
}

function editedIn(hint: DriverHint, driver: DriverSummary): Edited {
  const unless = (text: string, ...own: readonly (string | undefined)[]) =>
    own.some((each) => each?.toLowerCase() === text.toLowerCase()) ? "" : text;
  return {
    // Somebody may have named it since the list was exported.
    title: unless(
      cleanText(hint.title),
      driverTitle(driver),
      driverTitle({ ...driver, name: "" }),
      driver.file_name,
    ),
    model: unless(cleanText(hint.model), driver.driver_desc),
    version: unless(hint.version, driver.listed?.driverVer?.version),
  };
}

const shownCharacters = 200;

function contradiction(exact: DriverSummary, { title, model }: Edited): Contradiction {
  const cells = Object.entries({ driver: title, driver_model: model }).filter(([, text]) => text !== "");
  const problemIn = (prefix: string) => {
    const said = cells.map(([name, text]) => `“${prefix}${name}” is “${text.slice(0, shownCharacters)}”`);
    return `${said.join(" and ")}, which no driver here is, and “${prefix}driver_sha256” is that of ${driverTitle(exact)}: empty what is wrong.`;
  };
  return { problemIn };
}

function chosen(matches: readonly Match[], version: string, current: number | undefined): FoundDriver {
  const ofVersion = matches.filter(({ driver }) => driver.listed?.driverVer?.version === version);
  const left = ofVersion.length > 0 ? ofVersion : matches;
  const match = left.find(({ driver }) => driver.id === current) ?? left[0];
  if (match === undefined) throw new Error("nothing to choose from");
  const ids = new Set(left.map(({ driver }) => driver.id));
  return { ...match, others: match.driver.id === current ? 0 : ids.size - 1 };
}
