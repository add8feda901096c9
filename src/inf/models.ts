import { getOrAdd } from "../domain/collections.ts";
import type { Architecture } from "../domain/drivers/driver.ts";
import { withoutMarkRuns } from "../domain/fields.ts";
import type { InfDocument } from "./document.ts";
import type { InfLine } from "./lines.ts";
import type { Work } from "./work-budget.ts";

/** In characters. Models with longer names are left out. */
export const nameLimit = 260;
/** The maximum number of descriptions of one INF. The largest known vendor INF has 501. */
const descriptionLimit = 10_000;
const manufacturerLimit = 500;

export interface InfModels {
  /** Distinct, in the INF's order, `manufacturerLimit` at most. */
  readonly manufacturers: readonly string[];
  /** The number of lines in all models sections that the INF names, also those for unknown architectures. */
  readonly lineCount: number;
  /** The number of lines in sections for known architectures. A section counts once for each architecture. */
  readonly usableLines: number;
  /** Architectures with at least one model line. */
  readonly architectures: readonly Architecture[];
  /** Distinct, in the INF's order, without core drivers, `descriptionLimit` at most. */
  readonly descriptions: readonly string[];
  /** The number of lines whose description is left out because of `descriptionLimit`. */
  readonly beyondLimit: number;
  /** The number of lines whose description cannot be a driver's name: see `isName`. */
  readonly unusableNames: number;
  /** Undefined if Windows reads the same descriptions in all languages. */
  readonly localized: LocalizedModel | undefined;
}

/** A description that Windows reads differently in some languages. */
interface LocalizedModel {
  /** Such as `0407`, in lower case. */
  readonly languages: readonly string[];
  readonly name: string;
  /** The description in the first of these languages. */
  readonly localName: string;
}

export interface ReadModels extends InfModels {
  /** Names of the install sections of each architecture's models, with tokens replaced. */
  readonly installSections: ReadonlyMap<Architecture, ReadonlySet<string>>;
}

/**
 * Reads `[Manufacturer]` and the models sections it names, with their decorations
 * (`.nt[architecture][.os major[.os minor …]]`).
 * @throws UserError "invalid" when the work for the archive is used up
 */
export function readModels(inf: InfDocument, work: Work): ReadModels {
  const entries = manufacturerEntries(inf);
  const listed = new Set(entries.flatMap((entry) => entry.decorations.map(architectureOf)));
  const isX86 = listed.has("x86") || undecoratedServesX86(inf);
  const collected = new ModelLines(inf, work);
  for (const entry of entries) {
    for (const decoration of new Set(["", ...entry.decorations])) {
      const architecture = architectureOf(decoration) ?? (isX86 ? "x86" : undefined);
      collected.add(decoration === "" ? entry.section : `${entry.section}.${decoration}`, architecture);
    }
  }
  const manufacturers = new Set(entries.map((entry) => entry.manufacturer));
  return {
    manufacturers: [...manufacturers].slice(0, manufacturerLimit),
    localized: localizedModel(inf, collected.withTokens),
    ...collected.result(),
  };
}

/** @param models descriptions whose tokens are not replaced */
function localizedModel(inf: InfDocument, models: readonly string[]): LocalizedModel | undefined {
  const tokens = models.flatMap((model) => [...model.matchAll(/%([^%]+)%/g)].map(([, token = ""]) => token));
  const languages = inf.languagesChanging(new Set(tokens.map((token) => token.trim().toLowerCase())));
  if (languages.length === 0) return undefined;
  const localNameOf = (model: string) => inf.resolve(model, languages[0]);
  const differing = models.find((model) => localNameOf(model) !== inf.resolve(model));
  if (differing === undefined) return undefined;
  return { languages, name: inf.resolve(differing), localName: localNameOf(differing) };
}

interface ManufacturerEntry {
  readonly manufacturer: string;
  readonly section: string;
  readonly decorations: readonly string[];
}

function manufacturerEntries(inf: InfDocument): ManufacturerEntry[] {
  const entries: ManufacturerEntry[] = [];
  for (const { key, values } of inf.section("Manufacturer") ?? []) {
    const section = inf.resolve(values[0] || (key ?? ""));
    const manufacturer = inf.resolve(key ?? values[0] ?? "");
    const decorations = values.slice(1).map((value) => inf.resolve(value).toLowerCase());
    if (section !== "") {
      entries.push({ manufacturer, section, decorations: decorations.filter((value) => value !== "") });
    }
  }
  return entries;
}

/**
 * Whether models sections without an architecture are for 32-bit Windows if `[Manufacturer]` does not list x86: not if
 * other sections or the catalogs of the INF name only other architectures.
 */
function undecoratedServesX86(inf: InfDocument): boolean {
  const sections = ["printerpackageinstallation", "sourcedisksnames", "sourcedisksfiles"];
  const found = sections.map((section) => decorationsOf(section, inf.sectionNames));
  const versionKeys = (inf.section("Version") ?? []).map((line) => line.key?.toLowerCase() ?? "");
  return ![...found, decorationsOf("catalogfile", versionKeys)].some(rulesOutX86);
}

/** The decorations of `name` in a list of names in lower case; empty for the undecorated name. */
export function decorationsOf(name: string, names: readonly string[]): string[] {
  const decorated = names.filter((other) => other === name || other.startsWith(`${name}.`));
  return decorated.map((other) => other.slice(name.length + 1));
}

function rulesOutX86(decorations: readonly string[]): boolean {
  return decorations.length > 0 && !decorations.some((each) => ["", "nt", "x86", "ntx86"].includes(each));
}

/** Collects models sections. A section that several manufacturers name is read once for each architecture. */
class ModelLines {
  /** Descriptions with tokens that are not replaced. */
  readonly withTokens: string[] = [];
  readonly #inf: InfDocument;
  readonly #work: Work;
  /** Number of lines by section. */
  readonly #counts = new Map<string, number>();
  readonly #read = new Set<string>();
  readonly #installSections = new Map<Architecture, Set<string>>();
  readonly #descriptions = new Set<string>();
  #usableLines = 0;
  #beyondLimit = 0;
  #unusableNames = 0;

  constructor(inf: InfDocument, work: Work) {
    this.#inf = inf;
    this.#work = work;
  }

  /** @param architecture the architecture that the section is for; undefined if it is unknown */
  add(name: string, architecture: Architecture | undefined): void {
    const key = name.toLowerCase();
    const section = this.#inf.section(name);
    this.#work.spendText(name);
    if (section === undefined) return;
    this.#counts.set(key, section.length);
    if (architecture === undefined || this.#read.has(`${architecture} ${key}`)) return;
    this.#read.add(`${architecture} ${key}`);
    for (const line of section) this.#addLine(line, architecture);
  }

  result(): Omit<ReadModels, "manufacturers" | "localized"> {
    return {
      lineCount: [...this.#counts.values()].reduce((sum, count) => sum + count, 0),
      usableLines: this.#usableLines,
      architectures: sortArchitectures(this.#installSections.keys()),
      descriptions: [...this.#descriptions],
      beyondLimit: this.#beyondLimit,
      unusableNames: this.#unusableNames,
      installSections: this.#installSections,
    };
  }

  #addLine({ key, values }: InfLine, architecture: Architecture): void {
    if (key === undefined) return;
    this.#usableLines++;
    const section = this.#inf.resolve(values[0] ?? "");
    getOrAdd(this.#installSections, architecture, () => new Set<string>()).add(section);
    const description = this.#inf.resolve(key);
    if (isCoreDriver(description) || this.#descriptions.has(description)) return;
    if (!isName(description)) this.#unusableNames++;
    else if (this.#descriptions.size >= descriptionLimit) this.#beyondLimit++;
    else {
      this.#descriptions.add(description);
      if (key.includes("%")) this.withTokens.push(key);
    }
  }
}

/** `"{GUID}" = …`: a core driver, which is never a printer. */
function isCoreDriver(description: string): boolean {
  return /^\{[0-9a-f-]{36}\}$/i.test(description);
}

/** Line breaks, and controls that change the direction of text. */
const lineBreakOrDirection = /[\u2028-\u202e\u2066-\u2069]/;

/** Whether a description can be a driver's name: not too long, no long runs of accents, nothing unprintable. */
function isName(description: string): boolean {
  if (description.length > nameLimit || /[^\P{Cc}\t]/u.test(description)) return false;
  if (lineBreakOrDirection.test(description)) return false;
  return withoutMarkRuns(description) === description;
}

const architectureOrder: readonly Architecture[] = ["x86", "amd64", "arm64", "arm", "ia64"];
const architectureByDecoration = new Map(
  architectureOrder.map((architecture) => [`nt${architecture}`, architecture]),
);

/** The architecture that a decoration in lower case names; undefined if it names none, such as `nt`. */
export function architectureOf(decoration: string): Architecture | undefined {
  const dot = decoration.indexOf(".");
  return architectureByDecoration.get(dot < 0 ? decoration : decoration.slice(0, dot));
}

export function sortArchitectures(found: Iterable<Architecture>): Architecture[] {
  const present = new Set(found);
  return architectureOrder.filter((architecture) => present.has(architecture));
}
