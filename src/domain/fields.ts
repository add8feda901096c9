import { type FieldMessages, UserError } from "./errors.ts";

/** A form's values by field name. Checkboxes that are not ticked are absent. */
export type FormInput = Readonly<Record<string, string | undefined>>;

export interface TextRule {
  /** The field's name in messages. */
  readonly label: string;
  readonly required?: boolean;
  /** In UTF-16 code units, as Windows counts. */
  readonly maxLength?: number;
  /** Characters that must not occur. */
  readonly forbidden?: string;
  readonly multiline?: boolean;
}

/** The maximum number of combining marks in a row. No language has more (Unicode Annex 15, stream-safe text). */
const maxMarks = 30;

/** Shortens runs of combining marks to 30, because normalising n marks takes n² steps. */
export function withoutMarkRuns(text: string): string {
  return text.replace(/\p{M}+/gu, (marks) =>
    marks.length > maxMarks ? [...marks].slice(0, maxMarks).join("") : marks,
  );
}

/** Any character but printable ASCII. */
const nonAscii = /[^ -~]/;

/**
 * Trims and normalises a text: NFC, well-formed, no control characters except line feeds if `multiline` is set.
 * Direction marks at the ends are trimmed like spaces: text copied from other windows often has them.
 */
export function cleanText(value: string, multiline = false): string {
  // A fast path: most texts are plain ASCII.
  if (!nonAscii.test(value)) return value.trim();
  const text = withoutMarkRuns(value.toWellFormed()).normalize("NFC");
  if (!multiline) return trimmed(text.replace(/\p{Cc}/gu, ""));
  return trimmed(text.replace(/\r\n?/g, "\n").replace(/[^\P{Cc}\n]/gu, ""));
}

function trimmed(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isMargin(text.charAt(start))) start++;
  while (end > start && isMargin(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

/** Left-to-right mark, right-to-left mark, Arabic letter mark. */
const directionMarks = "\u200e\u200f\u061c";

function isMargin(character: string): boolean {
  return directionMarks.includes(character) || character.trim() === "";
}

/** Embeddings, overrides and isolates: they change the order in which the following text reads. */
const directionOverrides = /[\u202a-\u202e\u2066-\u2069]/;

/** Whether a checkbox's value in a form means that it is ticked. */
export function isTicked(value: string | undefined): boolean {
  return !["", "0", "false", "off", "no"].includes((value ?? "").trim().toLowerCase());
}

/** The maximum number of wrong lines that a message names. */
const maxNamedLines = 3;

/** Reads form fields and collects every problem, so that a person sees all of them at once. `check` throws if there are any. */
export class FieldReader {
  readonly #input: FormInput;
  readonly #problems: Record<string, string> = {};
  /** The names of the fields in the order in which they were read. */
  readonly #names = new Set<string>();

  constructor(input: FormInput) {
    this.#input = input;
  }

  text(name: string, rule: TextRule): string {
    const value = this.#read(name, rule.multiline);
    if (rule.required && value === "") return this.#refuse(name, `${rule.label} is required.`, "");
    if (rule.maxLength !== undefined && value.length > rule.maxLength) {
      const message = `${rule.label} has ${value.length} characters. The limit is ${rule.maxLength}.`;
      return this.#refuse(name, message, "");
    }
    const override = directionOverrides.exec(value)?.[0];
    if (override !== undefined) {
      const code = override.charCodeAt(0).toString(16).toUpperCase();
      const message = `${rule.label} contains an invisible character (U+${code}). Delete the text and type it again.`;
      return this.#refuse(name, message, "");
    }
    const bad = [...(rule.forbidden ?? "")].find((character) => value.includes(character));
    if (bad === undefined) return value;
    return this.#refuse(name, `${rule.label} cannot contain “${bad}”.`, "");
  }

  /** A text exactly as it was sent. */
  typed(name: string): string {
    this.#names.add(name);
    return this.#input[name] ?? "";
  }

  /** One of `choices`; an absent or empty field is the first of them. */
  choice<const T extends string>(name: string, label: string, choices: readonly [T, ...T[]]): T {
    const value = this.#read(name);
    const found = choices.find((choice) => choice === value);
    if (found !== undefined || value === "") return found ?? choices[0];
    const known = choices.filter((choice) => choice !== "").join(", ");
    const remedy = choices.some((choice) => choice === "") ? "leave it empty or use" : "use";
    return this.#refuse(name, `${label} is “${value}”; ${remedy} ${known}.`, choices[0]);
  }

  /** A whole number; an absent or empty field is `fallback`. */
  integer(name: string, label: string, range: { min: number; max: number; fallback: number }): number {
    const value = this.#read(name);
    if (value === "") return range.fallback;
    const number = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= range.min && number <= range.max) return number;
    const message = `${label} must be a whole number from ${range.min} to ${range.max}, not “${value}”.`;
    return this.#refuse(name, message, range.fallback);
  }

  checkbox(name: string): boolean {
    this.#names.add(name);
    return isTicked(this.#input[name]);
  }

  /** The id of another record; null for an empty field. */
  reference(name: string, label: string): number | null {
    const value = this.#read(name);
    if (value === "") return null;
    if (/^[1-9]\d{0,14}$/.test(value)) return Number(value);
    return this.#refuse(name, `${label} “${value}” does not exist. Choose another one.`, null);
  }

  /** Records a problem that the rules above do not cover. The first problem of a field wins. */
  refuse(name: string, message: string): void {
    this.#problems[name] ??= message;
  }

  /** Records problems with lines of a text, a sentence each: the first three, and how many more there are. */
  refuseLines(name: string, problems: readonly string[]): void {
    if (problems.length === 0) return;
    const rest = problems.length - maxNamedLines;
    this.refuse(name, problems.slice(0, maxNamedLines).join(" ") + (rest > 0 ? ` And ${rest} more.` : ""));
  }

  /** In the order in which the fields were read. */
  get problems(): FieldMessages {
    const found: Record<string, string> = {};
    for (const name of [...this.#names, ...Object.keys(this.#problems)]) {
      const message = this.#problems[name];
      if (message !== undefined) found[name] = message;
    }
    return found;
  }

  /** @throws UserError "invalid" if any field has a problem; its message lists them all */
  check(): void {
    throwIfAny(this.problems);
  }

  #read(name: string, multiline = false): string {
    this.#names.add(name);
    return cleanText(this.#input[name] ?? "", multiline);
  }

  #refuse<T>(name: string, message: string, instead: T): T {
    this.refuse(name, message);
    return instead;
  }
}

/** @throws UserError "invalid" with all messages, if there are any */
export function throwIfAny(problems: FieldMessages): void {
  const messages = Object.values(problems);
  if (messages.length > 0) throw new UserError("invalid", messages.join(" "), problems);
}
