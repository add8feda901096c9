import { getOrAdd } from "../collections.ts";
import { cleanText } from "../fields.ts";
import type { DriverSummary, InfSummary } from "./driver.ts";

const namedVersion = /(?:\bv(?:er(?:sion)?)?\.?\s*\d|\(\s*v?\d+\.\d|\b\d+\.\d+\.\d)/i;

/** Whether the description names a version: then two versions can be installed side by side. */
export function namesVersion(description: string): boolean {
  return namedVersion.test(description);
}

/** Printer languages whose names contain a digit. Other words with a digit name a device. */
const languages = new Set(["pcl5", "pcl5e", "pcl5c", "pcl6", "ps2", "ps3", "ufr2"]);

/** Whether the description is that of a driver for many devices. */
export function isUniversal(description: string): boolean {
  return breadthOf(description) > 0;
}

/** 2 for every device (Universal Printing), 1 for a kind of device (Generic Mono), 0 for one device. */
function breadthOf(description: string): 0 | 1 | 2 {
  const words = description.toLowerCase().split(/[^a-z0-9]+/);
  const has = (...wanted: string[]) => wanted.every((word) => words.includes(word));
  if (words.some((word) => word.startsWith("universal"))) return 2;
  if (has("global", "driver") || has("gpd") || has("class", "driver")) return 2;
  const isDevice = words.some((word) => /\d/.test(word) && !/^v\d+$/.test(word) && !languages.has(word));
  return has("generic") && !isDevice ? 1 : 0;
}

/** The model to preselect: the preferred description of those for the most devices. */
export function preselectedModel({ descriptions, manufacturers }: ModelNames): string {
  return preferredDescription(broadestModels(descriptions), manufacturers);
}

/** The descriptions for the most devices. */
export function broadestModels(descriptions: readonly string[]): string[] {
  const breadths = descriptions.map(breadthOf);
  const broadest = Math.max(0, ...new Set(breadths));
  return descriptions.filter((_, i) => breadths[i] === broadest);
}

type ModelNames = Pick<InfSummary, "descriptions" | "manufacturers">;

/**
 * The description to prefer: without a version, because an update of such a driver applies to all of its queues; then one
 * that starts with a manufacturer's name; then the first.
 */
export function preferredDescription(
  descriptions: readonly string[],
  manufacturers: readonly string[] = [],
): string {
  const startsWithMaker = startsWithAny(
    manufacturers.map((maker) => maker.toLowerCase().split(/[\s,]/)[0] ?? ""),
  );
  const rank = (text: string) => (namesVersion(text) ? 2 : 0) + (startsWithMaker(text.toLowerCase()) ? 0 : 1);
  const firsts = [0, 1, 2, 3].map((wanted) =>
    descriptions.find((text) => text !== "" && rank(text) === wanted),
  );
  return firsts.find((text) => text !== undefined) ?? "";
}

const maxMakerName = 60;

/** Looks up one prefix of the text for each length of name, which is faster than trying every name. */
function startsWithAny(names: readonly string[]): (text: string) => boolean {
  const known = new Set(names.filter((name) => name !== "" && name.length <= maxMakerName));
  const lengths = [...new Set([...known].map((name) => name.length))];
  return (text) => lengths.some((length) => known.has(text.slice(0, length)));
}

type Names = Pick<InfSummary, "descriptions"> | undefined;

/** The models that an INF names, as forms show and send them. */
function modelNames(inf: Names): string[] {
  return (inf?.descriptions ?? []).map((name) => cleanText(name));
}

/** Whether an INF names a model. @param model as a form sends it */
export function namesModel(inf: Names, model: string): boolean {
  const names = inf?.descriptions ?? [];
  return names.includes(model) || names.some((name) => cleanText(name) === model);
}

/** Whether an INF has a model. An INF without names has every model. */
export function hasModel(inf: Names, model: string): boolean {
  return (inf?.descriptions ?? []).length === 0 || namesModel(inf, model);
}

/** `hasModel` for many models: it cleans each name of the INF once. */
export function modelTest(inf: Names): (model: string) => boolean {
  const names = new Set(modelNames(inf));
  return (model) => names.size === 0 || names.has(cleanText(model));
}

/**
 * A function that returns a model as the INF spells it. Windows compares blanks at the ends, but forms do not send them.
 * A model that the INF lacks stays as it is.
 */
export function modelSpelling(inf: Names): (model: string) => string {
  const names = inf?.descriptions ?? [];
  const cleaned = names.map((name) => [cleanText(name), name] as const);
  const spellings = new Map(cleaned.filter(([clean, name]) => clean !== name).reverse());
  for (const name of names) spellings.delete(name);
  return (model) => spellings.get(model) ?? model;
}

/** Models whose name contains every word of `query`: the first `limit` of them, and how many there are. */
export function findModels(infs: readonly InfSummary[], query: string, limit: number) {
  const matches = matcherOf(query);
  const found = infs.flatMap((inf) => inf.descriptions.filter(matches).map((model) => ({ model, inf })));
  return { visible: found.slice(0, limit), count: found.length };
}

/** In characters. The rest of a query is ignored, because each word is compared with every model. */
const maxQuery = 200;
const maxWords = 8;

/** Whether a text contains every word of `query`, without regard to case. An empty query matches every text. */
function matcherOf(query: string): (text: string) => boolean {
  const distinct = [...new Set(query.slice(0, maxQuery).toLowerCase().split(/\s+/))].filter(Boolean);
  const words = distinct.slice(0, maxWords);
  return (text) => {
    const lower = text.toLowerCase();
    return words.every((word) => lower.includes(word));
  };
}

/**
 * Returns a function that finds an INF's model by a name from elsewhere: the same name, else without regard to case, else
 * with another version in it. Its result is the name as the INF has it.
 */
export function modelFinder(inf: Names): (name: string) => string | undefined {
  const names = modelNames(inf);
  const exact = new Set(names);
  const folded = firstByKey(names, (name) => name.toLowerCase());
  let unversioned: ReadonlyMap<string, string> | undefined;
  return (name) => {
    const found = exact.has(name) ? name : folded.get(name.toLowerCase());
    if (found !== undefined || !namesVersion(name)) return found;
    unversioned ??= firstByKey(names.filter(namesVersion), withoutVersion);
    return unversioned.get(withoutVersion(name));
  };
}

function firstByKey(names: readonly string[], keyOf: (name: string) => string): Map<string, string> {
  const found = new Map<string, string>();
  for (const name of names) getOrAdd(found, keyOf(name), () => name);
  return found;
}

/** The name in lower case, with `#` for each version: the versions of a model have the same result. */
function withoutVersion(name: string): string {
  const words = name.toLowerCase().split(/[\s()]+/);
  return words.map((word) => (/^v?\d+(?:\.\d+)+$/.test(word) ? "#" : word)).join(" ");
}

/** Whether a user must still choose the model: the INF has several, and the preselected one is not universal. */
export function needsModelChoice({
  model_chosen,
  driver_desc,
  listed,
}: Pick<DriverSummary, "model_chosen" | "driver_desc" | "listed">): boolean {
  return !model_chosen && (listed?.modelCount ?? 0) > 1 && !isUniversal(driver_desc);
}
