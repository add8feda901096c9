import { addTo } from "../domain/collections.ts";
import { UserError } from "../domain/errors.ts";
import { fieldLimit, type InfLine, readLines } from "./lines.ts";
import { Work } from "./work-budget.ts";

/** Larger INFs are refused. The largest one in 149 vendor packages has 3 MB. */
export const infLimitBytes = 16 * 1024 * 1024;

/** Maximum number of `[Strings.xxxx]` sections. No known vendor package has more than 38. */
export const languageLimit = 200;

/** A section whose name ends with a platform decoration (`.nt[architecture][.os version]`); both in lower case. */
interface SectionVariant {
  readonly section: string;
  readonly decoration: string;
}

type Strings = ReadonlyMap<string, string>;

/**
 * The sections of an INF and its strings, after Microsoft's "General Syntax Rules for INF Files":
 * names are compared without regard to case, sections of the same name are joined, `;` outside quotes starts a comment,
 * `""` inside quotes is a quote, a `\` at its end continues a line, and a string replaces `%token%`.
 */
export class InfDocument {
  readonly #work: Work;
  readonly #sections = new Map<string, InfLine[]>();
  readonly #variants = new Map<string, SectionVariant[]>();
  #strings: Strings = new Map();
  readonly #localized = new Map<string, Strings>();

  /**
   * @param work the budget for replacing tokens
   * @throws UserError "invalid" when the text has too many lines, values or languages
   */
  constructor(text: string, work = new Work()) {
    this.#work = work;
    let current: InfLine[] | undefined;
    for (const part of readLines(text)) {
      if ("header" in part) current = this.#startSection(part.header);
      else current?.push(part);
    }
    this.#readStrings();
  }

  /** The lines of a section; undefined when there is no such section. */
  section(name: string): readonly InfLine[] | undefined {
    return this.#sections.get(name.toLowerCase());
  }

  /** The sections named `name` with a platform decoration: `name.ntamd64`, `name.nt.6.1`, … */
  variants(name: string): readonly SectionVariant[] {
    return this.#variants.get(name.toLowerCase()) ?? [];
  }

  /** Names of all sections, in lower case, in the order of the file. */
  get sectionNames(): string[] {
    return [...this.#sections.keys()];
  }

  /** The values of the first line with this key; empty if there is no such line. */
  values(section: string, key: string): readonly string[] {
    const wanted = key.toLowerCase();
    return (this.section(section) ?? []).find((line) => line.key?.toLowerCase() === wanted)?.values ?? [];
  }

  /** The first value of a key with its tokens replaced; undefined if it is missing or empty. */
  value(section: string, key: string): string | undefined {
    const value = this.values(section, key)[0];
    return value === undefined || value === "" ? undefined : this.resolve(value);
  }

  /**
   * Replaces %tokens%. Undefined tokens stay; `%%` becomes a per cent sign. As in Windows, tokens inside strings are not
   * replaced, so there are no circular references. The result is cut after `fieldLimit` characters.
   * @param language of Windows, as `languagesChanging` names it; undefined for the default language
   * @throws UserError "invalid" when the work for the archive is used up
   */
  resolve(text: string, language?: string): string {
    const localized = language === undefined ? undefined : this.#localized.get(language);
    const resolved = replaceTokens(text, (token) => localized?.get(token) ?? this.#strings.get(token));
    this.#work.spendText(resolved);
    return resolved;
  }

  /**
   * Resolves these texts in each language, the default language first: the texts of one result, such as a folder and its
   * sub-folder, have the same language. Equal results appear once.
   */
  resolveTogether(...texts: readonly string[]): string[][] {
    const byDefault = texts.map((text) => this.resolve(text));
    if (!texts.some((text) => text.includes("%"))) return [byDefault];
    const found = new Map([[byDefault.join("\0"), byDefault]]);
    for (const language of this.#localized.keys()) {
      const forms = texts.map((text) => this.resolve(text, language));
      const key = forms.join("\0");
      if (!found.has(key)) found.set(key, forms);
    }
    return [...found.values()];
  }

  /** The ids of the languages, in lower case, in which one of these tokens has another value. @param tokens in lower case */
  languagesChanging(tokens: ReadonlySet<string>): string[] {
    const isChange = ([token, value]: readonly [string, string]) =>
      tokens.has(token) && value !== this.#strings.get(token);
    return [...this.#localized].flatMap(([language, strings]) =>
      [...strings].some(isChange) ? [language] : [],
    );
  }

  #startSection(name: string): InfLine[] {
    const key = name.toLowerCase();
    const known = this.#sections.get(key);
    if (known !== undefined) return known;
    const lines: InfLine[] = [];
    this.#sections.set(key, lines);
    // A decoration contains ".nt" only at its start, so the last ".nt" starts the decoration, if there is one.
    const dot = key.lastIndexOf(".nt");
    const decoration = key.slice(dot + 1);
    if (dot < 1 || !/^nt(?:x86|amd64|arm64|arm|ia64)?(?:\.\d*)*$/.test(decoration)) return lines;
    const base = key.slice(0, dot);
    addTo(this.#variants, base, { section: key, decoration });
    return lines;
  }

  #readStrings(): void {
    for (const [name, lines] of this.#sections) {
      if (name.startsWith("strings.")) this.#localized.set(name.slice("strings.".length), readStrings(lines));
    }
    if (this.#localized.size > languageLimit) {
      throw new UserError(
        "invalid",
        `An INF of this ZIP has over ${languageLimit} languages. Platen refuses it.`,
      );
    }
    this.#strings = readStrings(this.#sections.get("strings") ?? []);
    if (this.#strings.size > 0) return;
    const [first = this.#strings] = this.#localized.values();
    this.#strings = this.#localized.get("0409") ?? first;
  }
}

function readStrings(lines: readonly InfLine[]): Strings {
  const strings = new Map<string, string>();
  for (const line of lines) {
    const token = line.key?.toLowerCase();
    if (token === undefined || strings.has(token)) continue;
    const [value = ""] = line.values;
    strings.set(token, line.values.length > 1 ? line.values.join(",").slice(0, fieldLimit) : value);
  }
  return strings;
}

function replaceTokens(text: string, find: (token: string) => string | undefined): string {
  let open = text.indexOf("%");
  if (open < 0) return text;
  let out = "";
  let done = 0;
  while (open >= 0 && out.length < fieldLimit) {
    const close = text.indexOf("%", open + 1);
    if (close < 0) break;
    const token = text.slice(open + 1, close);
    const value = token === "" ? "%" : find(token.trim().toLowerCase());
    out += text.slice(done, open) + (value ?? text.slice(open, close + 1));
    done = close + 1;
    open = text.indexOf("%", done);
  }
  return (out + text.slice(done)).slice(0, fieldLimit);
}
