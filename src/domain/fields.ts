import { createHash } from "node:crypto";
import { type FieldMessages, UserError } from "./errors.ts";

/** What a form sent: field name → value; a checkbox that is not ticked is absent. */
export type FormInput = Readonly<Record<string, string | undefined>>;

export interface TextRule {
  /** The field's name on the page, as a message says it. */
  readonly label: string;
  readonly required?: boolean;
  /** In UTF-16 code units, as Windows counts. */
  readonly maxLength?: number;
  /** Characters that must not occur. */
  readonly forbidden?: string;
  readonly multiline?: boolean;
}

/** More combining marks in a row than any language writes (Unicode Standard Annex 15, stream-safe text). */
const maxMarks = 30;

/** Leaves out the rest of a run of marks: putting n of them into their canonical order takes n² steps. */
export function withoutMarkRuns(text: string): string {
  return text.replace(/\p{M}+/gu, (marks) =>
    marks.length > maxMarks ? [...marks].slice(0, maxMarks).join("") : marks,
  );
}

/** Whatever is not printable ASCII. */
const special = /[^ -~]/;

/**
 * Trimmed, NFC, well-formed, without control characters (line feeds stay where `multiline` is set). Marks of direction
 * at the ends, which come along when text is copied from other windows, go as spaces do.
 */
export function cleanText(value: string, multiline = false): string {
  // Most texts are plain, and looking is far quicker than replacing nothing.
  if (!special.test(value)) return value.trim();
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

/** Embeddings, overrides and isolates: what follows them reads in another order than it is. */
const turnsDirection = /[\u202a-\u202e\u2066-\u2069]/;

/** Whether a checkbox's value, as a form sends it, means that it is ticked. */
export function isTicked(value: string | undefined): boolean {
  return !["", "0", "false", "off", "no"].includes((value ?? "").trim().toLowerCase());
}

/** So many wrong lines of a text are named. */
const namedLines = 3;

/**
 * Reads one form field after the other and remembers every problem, so that a person sees all of
 * them at once. `check` throws when there were any.
 */
export class FieldReader {
  readonly #input: FormInput;
  readonly #problems: Record<string, string> = {};
  /** In the order in which they were read. */
  readonly #names = new Set<string>();

  constructor(input: FormInput) {
    this.#input = input;
  }

  text(name: string, rule: TextRule): string {
    const value = this.#read(name, rule.multiline);
    if (rule.required && value === "") return this.#refuse(name, `${rule.label} is needed.`, "");
    if (rule.maxLength !== undefined && value.length > rule.maxLength) {
      const message = `${rule.label} has ${value.length} characters; at most ${rule.maxLength} are possible.`;
      return this.#refuse(name, message, "");
    }
    const turn = turnsDirection.exec(value)?.[0];
    if (turn !== undefined) {
      const code = turn.charCodeAt(0).toString(16).toUpperCase();
      const message = `${rule.label} holds an invisible character that turns the direction of text (U+${code}): delete all of it and type it anew.`;
      return this.#refuse(name, message, "");
    }
    const bad = [...(rule.forbidden ?? "")].find((character) => value.includes(character));
    if (bad === undefined) return value;
    return this.#refuse(name, `${rule.label} cannot contain “${bad}”.`, "");
  }

  /** A text as it was sent. */
  typed(name: string): string {
    this.#names.add(name);
    return this.#input[name] ?? "";
  }

  /** One of `choices`; an absent or empty field is the first of them. */
  choice<const T extends string>(name: string, label: string, choices: readonly [T, ...T[]]): T {
    const value = this.#read(name);
    const found = choices.find((choice) => choice === value);
    if (found !== undefined || value === "") return found ?? choices[0];
    const known = choices.map((choice) => choice || "(empty)").join(", ");
    return this.#refuse(name, `${label} is “${value}”; it can be ${known}.`, choices[0]);
  }

  /** A whole number; an absent or empty field is `fallback`. */
  integer(name: string, label: string, range: { min: number; max: number; fallback: number }): number {
    const value = this.#read(name);
    if (value === "") return range.fallback;
    const number = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= range.min && number <= range.max) return number;
    const message = `${label} is “${value}”; it is a whole number from ${range.min} to ${range.max}.`;
    return this.#refuse(name, message, range.fallback);
  }

  /** Whether a checkbox is ticked. */
  checkbox(name: string): boolean {
    this.#names.add(name);
    return isTicked(this.#input[name]);
  }

  /** A reference to another record; empty is none. */
  reference(name: string, label: string): number | null {
    const value = this.#read(name);
    if (value === "") return null;
    if (/^[1-9]\d{0,14}$/.test(value)) return Number(value);
    return this.#refuse(name, `${label} “${value}” does not exist.`, null);
  }

  /** Notes a problem that no single rule above knows. */
  refuse(name: string, message: string): void {
    this.#problems[name] ??= message;
  }

  /** Notes what is wrong with lines of a text, a sentence each: the first of them, and how many there are besides. */
  refuseLines(name: string, problems: readonly string[]): void {
    if (problems.length === 0) return;
    const rest = problems.length - namedLines;
    this.refuse(name, problems.slice(0, namedLines).join(" ") + (rest > 0 ? ` And ${rest} more.` : ""));
  }

  /** In the order in which the fields were read, whenever a problem was found. */
  get problems(): FieldMessages {
    const found: Record<string, string> = {};
    for (const name of [...this.#names, ...Object.keys(this.#problems)]) {
      const message = this.#problems[name];
      if (message !== undefined) found[name] = message;
    }
    return found;
  }

  /** @throws UserError "invalid" when any field had a problem; its message repeats them all. */
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

/** @throws UserError "invalid" naming every field in `problems`, if there are any. */
export function throwIfAny(problems: FieldMessages): void {
  const messages = Object.values(problems);
  if (messages.length > 0) throw new UserError("invalid", messages.join(" "), problems);
}

/** Names the values that a form is opened with; a form sends it back as `opened`. */
export function openedName(values: FormInput): string {
  const entries = Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(entries)).digest("hex").slice(0, 16);
}

/**
 * @param opened what a form sent back; nothing is checked for a form that does not say
 * @throws UserError "stale" where the record has other values by now
 */
export function checkOpened(opened: string | undefined, now: FormInput): void {
  if (opened === undefined || opened === openedName(now)) return;
  throw new UserError(
    "stale",
    "Somebody else has saved this since you opened it. Nothing of yours is saved.",
  );
}

/** The fields of a record whose values are not those that were sent, each with its value now. */
export function differencesFrom(sent: FormInput, now: FormInput): FormInput {
  const others = Object.entries(now).filter(
    ([name, value]) => cleanText(sent[name] ?? "", true) !== cleanText(value ?? "", true),
  );
  return Object.fromEntries(others);
}
