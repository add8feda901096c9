import { cleanText } from "../fields.ts";
import { nameKey, withoutInvisible } from "../text.ts";
import {
  architecturesInWords,
  type Driver,
  fileNameOf,
  type InfSummary,
  shippedBy,
  vendorOf,
} from "./driver.ts";
import { makerName, printerMakers, startsWithWord } from "./driver-maker.ts";
import { broadestModels, isUniversal } from "./models.ts";

/** The maximum length of a driver's name. */
export const maxDriverName = 120;

/** More models, makers or characters would hardly change a name. */
const maxModels = 2000;
const maxModelsWithMaker = 200;
const maxMakers = 20;
const maxTextLength = 200;
const maxBaseLength = 60;

/** The best first. */
type Names = readonly [string, ...string[]];

type NamedBy = Pick<Driver, "inf_path" | "file_name" | "report">;

/**
 * Names for a driver, the shortest first: maker, family and the version's first two numbers, such as `Kyocera KX 7.2`.
 * Longer names have more of the version, then the machines too.
 */
export function proposedNames(driver: NamedBy): Names {
  const inf = namingInf(driver);
  if (inf === undefined) return [cutAtWord(zipName(driver), maxDriverName)];
  const models = inf.descriptions.slice(0, maxModels).map(plainText).filter(Boolean);
  const base = baseName(driver, inf, models);
  const numbers = versionOf(inf, models).split(".");
  const longer = [3, 4].filter((count) => Number(numbers[count - 1]) > 0);
  const named = [2, ...longer].map((count) => joined(base, numbers.slice(0, count).join(".")));
  const withMachines = joined(named.at(-1), architecturesInWords(shippedBy(inf)));
  return [named[0] ?? base, ...named.slice(1), cutAtWord(withMachines, maxDriverName)];
}

/** The names of drivers. No two are the same without regard to case. */
export class DriverNames {
  readonly #keys: Set<string>;
  /** The last number given to a name, so that a thousand drivers with the same name are named quickly. */
  readonly #numbers = new Map<string, number>();

  constructor(names: readonly string[]) {
    this.#keys = new Set(names.map(nameKey));
  }

  /** Takes the first free name, or else one of them with a number: `Kyocera KX 7.2 (2)`. */
  take(names: Names): string {
    const name = names.find((each) => this.#isFree(each)) ?? this.#numbered(names[0]);
    this.#keys.add(nameKey(name));
    return name;
  }

  #isFree(name: string): boolean {
    return !this.#keys.has(nameKey(name));
  }

  #numbered(name: string): string {
    for (let number = this.#numbers.get(name) ?? 2; ; number++) {
      const end = ` (${number})`;
      const numbered = cutAtWord(name, maxDriverName - end.length) + end;
      if (!this.#isFree(numbered)) continue;
      this.#numbers.set(name, number);
      return numbered;
    }
  }
}

/** The chosen INF; if none is chosen, the first that says what it is for. */
function namingInf({ report, inf_path }: NamedBy): InfSummary | undefined {
  const isTelling = ({ descriptions, provider }: InfSummary) => descriptions.length > 0 || provider !== null;
  return report.infs.find(({ path }) => path === inf_path) ?? report.infs.find(isTelling);
}

function baseName(driver: NamedBy, inf: InfSummary, models: readonly string[]): string {
  const companies = companiesIn(inf);
  const firstModels = models.slice(0, maxModelsWithMaker);
  const first = models[0] ?? "";
  const maker =
    companies.find((company) => firstModels.some((model) => startsWithWord(model, company))) ??
    printerMakers.find((known) => startsWithWord(first, known));
  const own = maker === undefined ? models : models.filter((model) => startsWithWord(model, maker));
  const family = familyOf(own.map((model) => wordsAfter(maker, model))) || fileFamily(driver, inf);
  const known = [maker, ...companies.slice(0, 1)].map((company = "") => makerName(company));
  const isShort = (name: string) => name !== "" && name.split(" ").length <= 2;
  const short = known.find((name) => isShort(name) && !startsWithWord(family, name)) ?? "";
  const isNamed = known.some((name) => name !== "" && startsWithWord(family, name));
  return cutAtWord(isNamed ? family : joined(short, family), maxBaseLength);
}

/** The companies that an INF names, each also by its usual name. */
function companiesIn({ provider, manufacturers }: InfSummary): string[] {
  const named = [provider, ...manufacturers.slice(0, maxMakers)].map((name) =>
    plainText(vendorOf(name) ?? ""),
  );
  // Samples of INFs have “TODO-Set-Provider”.
  const companies = named.filter((name) => name !== "" && !startsWithWord(name, "todo"));
  return companies.flatMap((name) => [name, makerName(name)]);
}

type Words = readonly string[];

/** The words of a model without its maker. */
function wordsAfter(maker: string | undefined, model: string): Words {
  const rest = maker === undefined ? model : model.slice(maker.length);
  return wordsOf(/^(?:\s|$)/.test(rest) ? rest : model);
}

/** What a driver is for, in the words of its models. */
function familyOf(models: readonly Words[]): string {
  const line = mainLine(models);
  const texts = models.map((words) => words.join(" "));
  const universal = line === undefined ? broadestModels(texts).filter(isUniversal) : [];
  if (universal.length === 0) return groupName(line ?? models);
  const versioned = universal.map(wordsOf);
  const plain = versioned.filter((words) => !isVersion(words.at(-1)));
  const [first = [], ...others] = (plain.length > 0 ? plain : versioned).map(withoutVersion);
  const start = sharedStart([first, ...others]);
  return withoutPrinting(start.length > 0 ? start : first).join(" ");
}

/** `Universal PCL 6` for `Universal Printing PCL 6`. */
function withoutPrinting(words: Words): Words {
  const isUniversalWord = (word = "") => word.toLowerCase() === "universal";
  return words.filter((word, i) => word.toLowerCase() !== "printing" || !isUniversalWord(words[i - 1]));
}

/** With at least so many models, and at least so large a part of them, the same last word names the driver. */
const minLineModels = 10;
const minLinePart = 0.9;

/** The models that end with the same word, such as KX or PCL6; undefined unless these are nearly all of many models. */
function mainLine(models: readonly Words[]): readonly Words[] | undefined {
  if (models.length < minLineModels) return undefined;
  const last = mostFrequent(models.map((words) => words.at(-1) ?? ""))[0] ?? "";
  const line = models.filter((words) => words.at(-1) === last);
  return line.length >= models.length * minLinePart && !isNoise(last) ? line : undefined;
}

const maxListed = 3;
const maxListedLength = 30;

/** A name for several models: the words that all of them have, and between them what differs if it is short. */
function groupName(all: readonly Words[]): string {
  const distinct = new Map(all.map((words) => [withoutVersion(words).join(" "), withoutVersion(words)]));
  const [only, ...others] = [...distinct.values()];
  if (only === undefined || others.length === 0) return only?.join(" ") ?? "";
  const models = [only, ...others].map(withoutNoise);
  const start = sharedStart(models);
  const rests = models.map((words) => words.slice(start.length));
  const end = sharedStart(rests.map((words) => words.toReversed())).toReversed();
  const middles = rests.map((words) => words.slice(0, words.length - end.length).join(" "));
  const listed = [...new Set(middles)].join("/");
  if (middles.includes("")) return joined(...start, ...end);
  if (middles.length <= maxListed && listed.length <= maxListedLength)
    return joined(...start, listed, ...end);
  const series =
    start.length > 0
      ? start.join(" ")
      : end.length > 0
        ? seriesOf(models, 2, minLinePart)
        : seriesOf(models, maxListed, 0.5);
  return end.length > 0 || series === "" ? joined(series, ...end) : `${series} series`;
}

/** A beginning of model names is a series if at least this part of them have it. */
const minSeriesPart = 0.1;

/** `MFC/DCP`: the letters that models begin with. Empty unless at most `max` of these are the given part of all. */
function seriesOf(models: readonly Words[], max: number, minPart: number): string {
  const letters = models.map(([first = ""]) => /^\p{L}*/u.exec(first)?.[0] ?? "");
  const part = (wanted: readonly string[]) =>
    letters.filter((each) => wanted.includes(each)).length / models.length;
  const series = mostFrequent(letters.filter(Boolean)).slice(0, max);
  const frequent = series.filter((each) => part([each]) >= minSeriesPart);
  return part(frequent) >= minPart ? frequent.join("/") : "";
}

/** The distinct texts, the most frequent first. */
function mostFrequent(texts: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).map(([text]) => text);
}

/** The words with which all lists begin. */
function sharedStart(lists: readonly Words[]): Words {
  const [first = []] = lists;
  const differs = first.findIndex((word, i) => lists.some((words) => words[i] !== word));
  return differs === -1 ? first : first.slice(0, differs);
}

function isNoise(word = ""): boolean {
  return /^(?:series|printer)$/i.test(word);
}

function withoutNoise(words: Words): Words {
  return words.length > 1 && isNoise(words.at(-1)) ? words.slice(0, -1) : words;
}

const versionWord = /^\(?v?(\d+(?:\.\d+)+)\)?$/i;

function isVersion(word = ""): boolean {
  return versionWord.test(word);
}

function withoutVersion(words: Words): Words {
  return words.length > 1 && isVersion(words.at(-1)) ? words.slice(0, -1) : words;
}

/** The version that the models name if they agree, or else that of the INF. Empty if neither names one. */
function versionOf({ driverVer }: InfSummary, models: readonly string[]): string {
  const named = models.flatMap((model) => versionWord.exec(wordsOf(model).at(-1) ?? "")?.[1] ?? []);
  const [first = driverVer?.version ?? "", ...others] = new Set(named);
  const version = others.length > 0 ? (driverVer?.version ?? "") : first;
  return /^\d{1,8}(?:\.\d{1,8}){0,3}/.exec(version.trim())?.[0] ?? "";
}

/** INFs with such a name do not say what they are for. */
const generalInf = /^(?:oem[a-z]*\d*|setup|driver|printer|autorun)$/i;

/** The family where models do not say it: from the name of the INF or of the ZIP. */
function fileFamily(driver: NamedBy, { path }: InfSummary): string {
  const inf = plainText(fileNameOf(path).replace(/\.inf$/i, ""));
  return inf === "" || generalInf.test(inf) ? zipName(driver) : inf;
}

function zipName({ file_name }: Pick<Driver, "file_name">): string {
  return wordsOf(plainText(file_name.replace(/\.zip$/i, "")).replaceAll("_", " ")).join(" ") || "Driver";
}

function plainText(text: string): string {
  return cleanText(withoutInvisible(text.slice(0, maxTextLength)));
}

function wordsOf(text: string): Words {
  return text.split(/\s+/).filter(Boolean);
}

function joined(...texts: readonly (string | undefined)[]): string {
  return texts.filter(Boolean).join(" ");
}

/** At most `max` characters of a text, if possible without cutting a word. */
function cutAtWord(text: string, max: number): string {
  if (text.length <= max) return text;
  const start = text.slice(0, max + 1);
  const end = start.lastIndexOf(" ");
  return end > max / 2 ? start.slice(0, end) : text.slice(0, max).replace(/[\ud800-\udbff]$/, "");
}
