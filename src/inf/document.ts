import { UserError } from "../domain/errors.ts";

/** Refused above this; the largest INF seen in 149 vendor packages has 3 MB. */
export const infLimitBytes = 16 * 1024 * 1024;
const lineLimit = 2_000_000;

/** `key = value, value`, or only values. %tokens% are not replaced yet. */
export interface InfLine {
  /** What stands before the `=`; undefined where there is none. */
  readonly key: string | undefined;
  readonly values: readonly string[];
}

/** A section whose name carries a platform decoration (`nt[architecture][.os version]`), in lower case. */
export interface SectionVariant {
  readonly section: string;
  readonly decoration: string;
}

/**
 * The sections of an INF and its strings, after Microsoft's "General Syntax Rules for INF Files":
 * names without regard to case, sections of the same name joined, `;` outside quotes starts a comment,
 * `""` inside quotes is a quote, a `\` at the end continues the line, `%token%` stands for a string.
 */
export class InfDocument {
  readonly #sections = new Map<string, InfLine[]>();
  readonly #variants = new Map<string, SectionVariant[]>();
  readonly #strings = new Map<string, string>();
  readonly #localized = new Map<string, Map<string, string>>();

  /** @throws UserError "invalid" when the text has more than two million lines. */
  constructor(text: string) {
    let current: InfLine[] | undefined;
    for (const line of logicalLines(text)) {
      const header = /^\s*\[\s*([^\]]*?)\s*\]/.exec(line.startsWith("[") || /^\s*\[/.test(line) ? line : "");
      if (header !== null) current = this.#open(unquote(header[1] ?? ""));
      else {
        const parsed = parseLine(line);
        if (parsed !== undefined) current?.push(parsed);
      }
    }
    this.#readStrings();
  }

  /** The lines of a section; undefined when there is no such section. */
  section(name: string): readonly InfLine[] | undefined {
    return this.#sections.get(name.toLowerCase());
  }

  /** The sections called `name` with a platform decoration behind it: `name.ntamd64`, `name.nt.6.1`, … */
  variants(name: string): readonly SectionVariant[] {
    return this.#variants.get(name.toLowerCase()) ?? [];
  }

  /** Names of all sections, in lower case, in the order of the file. */
  get sectionNames(): string[] {
    return [...this.#sections.keys()];
  }

  /** The values of every line of a section that has this key; empty without them. */
  values(section: string, key: string): readonly string[] {
    const wanted = key.toLowerCase();
    return (this.section(section) ?? []).find((line) => line.key?.toLowerCase() === wanted)?.values ?? [];
  }

  /** The first value of a key, its tokens replaced; undefined where it is missing or empty. */
  value(section: string, key: string): string | undefined {
    const value = this.values(section, key)[0];
    return value === undefined || value === "" ? undefined : this.resolve(value);
  }

  /**
   * Replaces %tokens%; one that is not defined stays as it stands, `%%` is a per cent sign. What a
   * string holds is not looked at again, as in Windows, so strings cannot refer to each other in circles.
   */
  resolve(text: string): string {
    return replaceTokens(text, (token) => this.#strings.get(token));
  }

  /** Every value that `text` can have, one for each language whose strings differ. */
  resolveAll(text: string): string[] {
    if (!text.includes("%")) return [text];
    const values = new Set([this.resolve(text)]);
    for (const strings of this.#localized.values()) {
      values.add(replaceTokens(text, (token) => strings.get(token) ?? this.#strings.get(token)));
    }
    return [...values];
  }

  /** The language codes of `[Strings.xxxx]`, as written, in lower case. */
  get languages(): string[] {
    return [...this.#localized.keys()];
  }

  #open(name: string): InfLine[] {
    const key = name.toLowerCase();
    const known = this.#sections.get(key);
    if (known !== undefined) return known;
    const lines: InfLine[] = [];
    this.#sections.set(key, lines);
    const [, base, decoration] = /^(.+?)\.(nt(?:x86|amd64|arm64|arm|ia64)?(?:\.\d*)*)$/.exec(key) ?? [];
    if (base !== undefined && decoration !== undefined) {
      const variants = this.#variants.get(base) ?? [];
      variants.push({ section: key, decoration });
      this.#variants.set(base, variants);
    }
    return lines;
  }

  #readStrings(): void {
    for (const [name, lines] of this.#sections) {
      if (name === "strings") fillStrings(this.#strings, lines);
      else if (name.startsWith("strings.")) {
        const strings = new Map<string, string>();
        fillStrings(strings, lines);
        this.#localized.set(name.slice("strings.".length), strings);
      }
    }
    if (this.#strings.size > 0) return;
    const first = this.#localized.get("0409") ?? [...this.#localized.values()][0];
    for (const [token, value] of first ?? []) this.#strings.set(token, value);
  }
}

function fillStrings(strings: Map<string, string>, lines: readonly InfLine[]): void {
  for (const line of lines) {
    const token = line.key?.toLowerCase();
    if (token !== undefined && !strings.has(token)) strings.set(token, line.values.join(","));
  }
}

function replaceTokens(text: string, find: (token: string) => string | undefined): string {
  if (!text.includes("%")) return text;
  return text.replace(/%([^%]*)%/g, (whole, token: string) => {
    if (token === "") return "%";
    return find(token.trim().toLowerCase()) ?? whole;
  });
}

/** Lines without comments, continued ones joined, blank ones left out. */
function* logicalLines(text: string): Generator<string> {
  let pending = "";
  let count = 0;
  for (let start = 0; start <= text.length; ) {
    let end = text.indexOf("\n", start);
    if (end < 0) end = text.length;
    if (++count > lineLimit) throw new UserError("invalid", "An INF with over two million lines is refused.");
    const line = stripComment(text.slice(start, end)).trimEnd();
    start = end + 1;
    if (line.endsWith("\\")) {
      pending += line.slice(0, -1);
      continue;
    }
    const whole = pending + line;
    pending = "";
    if (whole.trim() !== "") yield whole;
  }
  if (pending.trim() !== "") yield pending;
}

function stripComment(line: string): string {
  if (!line.includes(";")) return line;
  let quoted = false;
  for (let i = 0; i < line.length; i++) {
    const character = line.charCodeAt(i);
    if (character === 0x22) quoted = !quoted;
    else if (character === 0x3b && !quoted) return line.slice(0, i);
  }
  return line;
}

function parseLine(line: string): InfLine | undefined {
  const parts: string[] = [];
  let key: string | undefined;
  let start = 0;
  let quoted = false;
  for (let i = 0; i < line.length; i++) {
    const character = line.charCodeAt(i);
    if (character === 0x22) quoted = !quoted;
    else if (quoted) continue;
    else if (character === 0x3d && key === undefined && parts.length === 0) {
      key = unquote(line.slice(start, i));
      start = i + 1;
    } else if (character === 0x2c) {
      parts.push(unquote(line.slice(start, i)));
      start = i + 1;
    }
  }
  const last = unquote(line.slice(start));
  if (last !== "" || parts.length > 0) parts.push(last);
  if (key === undefined && parts.length === 0) return undefined;
  return { key, values: parts };
}

/** Takes the quotes off; text beside them stays, as Windows does it. */
function unquote(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.includes('"')) return trimmed;
  let out = "";
  let quoted = false;
  for (let i = 0; i < trimmed.length; i++) {
    const character = trimmed.charAt(i);
    if (character !== '"') out += character;
    else if (quoted && trimmed.charAt(i + 1) === '"') {
      out += '"';
      i++;
    } else quoted = !quoted;
  }
  return out;
}
