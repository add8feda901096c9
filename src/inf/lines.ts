import { UserError } from "../domain/errors.ts";

/** Lines of one INF: thirty times the maximum in 44 vendor packages. */
export const lineLimit = 200_000;
const valueLimit = 500_000;

/** In characters, before and after tokens are replaced. Windows reads no longer fields. */
export const fieldLimit = 4096;

const quotationMark = 0x22;
const comma = 0x2c;
const semicolon = 0x3b;
const equalsSign = 0x3d;

/** A line `key = value, value`, or only values. Its %tokens% are not replaced. */
export interface InfLine {
  /** The text before the `=`; undefined if there is no `=`. */
  readonly key: string | undefined;
  readonly values: readonly string[];
}

type InfPart = { readonly header: string } | InfLine;

/**
 * The section headers and lines of an INF in their order, without comments and blank lines. Continued lines are joined.
 * Fields are cut after `fieldLimit` characters.
 * @throws UserError "invalid" when there are too many lines or values
 */
export function* readLines(text: string): Generator<InfPart> {
  let values = 0;
  for (const line of logicalLines(text)) {
    const header = sectionHeader(line);
    if (header !== undefined) {
      yield { header };
      continue;
    }
    const parsed = parseLine(line, valueLimit - values);
    if (parsed === undefined) continue;
    values += parsed.values.length;
    yield parsed;
  }
}

/** The lines without comments; continued lines are joined. Some may be blank. */
function* logicalLines(text: string): Generator<string> {
  const pending: string[] = [];
  let count = 0;
  for (let start = 0; start <= text.length; ) {
    let end = text.indexOf("\n", start);
    if (end < 0) end = text.length;
    const line = withoutComment(text.slice(start, end)).trimEnd();
    start = end + 1;
    if (line === "" && pending.length === 0) continue;
    if (++count > lineLimit) throw tooMany(lineLimit, "lines");
    if (line.endsWith("\\")) {
      pending.push(line.slice(0, -1));
      continue;
    }
    yield joined(pending, line);
  }
  yield joined(pending, "");
}

function joined(pending: string[], last: string): string {
  return pending.length === 0 ? last : [...pending.splice(0), last].join("");
}

function withoutComment(line: string): string {
  if (!line.includes(";")) return line;
  let quoted = false;
  for (let i = 0; i < line.length; i++) {
    const character = line.charCodeAt(i);
    if (character === quotationMark) quoted = !quoted;
    else if (character === semicolon && !quoted) return line.slice(0, i);
  }
  return line;
}

/** The name in a line like `[name]`. */
function sectionHeader(line: string): string | undefined {
  const text = line.trimStart();
  const end = text.startsWith("[") ? text.indexOf("]") : -1;
  return end < 0 ? undefined : unquote(text.slice(1, end));
}

function parseLine(line: string, maxValues: number): InfLine | undefined {
  const first = separatorFrom(line, 0);
  const hasKey = line.charCodeAt(first) === equalsSign;
  const values = valuesOf(line, hasKey ? first + 1 : 0, maxValues);
  if (!hasKey && values.length === 0) return undefined;
  return { key: hasKey ? unquote(line.slice(0, first)) : undefined, values };
}

/** The values between the commas; none if there is only white space. */
function valuesOf(line: string, from: number, maxValues: number): string[] {
  const values: string[] = [];
  let start = from;
  for (let at = separatorFrom(line, from); at >= 0; at = separatorFrom(line, at + 1)) {
    if (line.charCodeAt(at) === equalsSign) continue;
    if (values.length >= maxValues) throw tooMany(valueLimit, "values");
    values.push(unquote(line.slice(start, at)));
    start = at + 1;
  }
  const last = unquote(line.slice(start));
  if (last !== "" || values.length > 0) values.push(last);
  // A copy, because an array that grew has room for at least 17 values.
  return values.slice();
}

/** The index of the next `=` or `,` outside quotes; -1 if there is none. */
function separatorFrom(line: string, start: number): number {
  let quoted = false;
  for (let i = start; i < line.length; i++) {
    const character = line.charCodeAt(i);
    if (character === quotationMark) quoted = !quoted;
    else if (!quoted && (character === equalsSign || character === comma)) return i;
  }
  return -1;
}

/** Removes the quotes and keeps text beside them, as Windows does. */
function unquote(text: string): string {
  const trimmed = text.trim();
  const first = trimmed.indexOf('"');
  if (first < 0) return trimmed.slice(0, fieldLimit);
  if (first === 0 && trimmed.indexOf('"', 1) === trimmed.length - 1)
    return trimmed.slice(1, -1).slice(0, fieldLimit);
  // The parts are joined at the end, because V8 keeps an object for each step of a string that grows.
  const parts: string[] = [];
  let quoted = false;
  let start = 0;
  let length = 0;
  for (let at = first; at >= 0 && length < fieldLimit; at = trimmed.indexOf('"', start)) {
    const isQuote: boolean = quoted && trimmed.charAt(at + 1) === '"';
    const end = isQuote ? at + 1 : at;
    parts.push(trimmed.slice(start, end));
    length += end - start;
    start = end + 1;
    quoted = isQuote || !quoted;
  }
  parts.push(trimmed.slice(start));
  return parts.join("").slice(0, fieldLimit);
}

function tooMany(limit: number, what: string): UserError {
  const count = limit.toLocaleString("en");
  return new UserError("invalid", `An INF of this ZIP has over ${count} ${what}. Platen refuses it.`);
}
