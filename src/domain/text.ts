const thin = "\u202f";
/** Created once: creating a formatter takes longer than writing a page of numbers. */
const grouped = new Intl.NumberFormat("en-US");

/** `2 554`. */
export function count(number: number): string {
  return grouped.format(number).replaceAll(",", thin);
}

/** `1 printer`, `2 printers`. */
export function counted(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** `a, b and 3 more`: the first `limit` names, and how many more there are. */
export function firstOf(names: readonly string[], limit: number, total = names.length): string {
  const rest = total - Math.min(limit, names.length);
  return names.slice(0, limit).join(", ") + (rest > 0 ? ` and ${count(rest)} more` : "");
}

export const dayMs = 24 * 60 * 60_000;

/** `2026-11-22`. @param time UTC, milliseconds since 1970 */
export function utcDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** `2026-11-22T140559Z`, for file names. @param time UTC, milliseconds since 1970 */
export function timeStamp(time: number): string {
  return `${new Date(time).toISOString().replaceAll(":", "").slice(0, 17)}Z`;
}

/** In UTF-16 code units, more than any name has. Normalising a run of n combining marks takes n² steps. */
const maxSlugInput = 300;

/** A text as at most 80 lower-case ASCII letters, digits and hyphens: safe in any file name. May be empty. */
export function slug(text: string): string {
  const words = text
    .slice(0, maxSlugInput)
    .replaceAll("ß", "ss")
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
  return words.join("-").slice(0, 80);
}

/** Characters that are invisible or reorder text: controls, format characters, line ends; not tabs and joiners. */
const invisible = /(?![\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

const everyInvisible = /(?![\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** The first invisible character of a text, as `U+202E`; undefined if there is none. */
export function firstInvisible(text: string): string | undefined {
  const [character] = invisible.exec(text) ?? [];
  return character && codeOf(character);
}

/** The text without invisible characters, also those that `escapeInvisible` has written as `[U+202E]`. */
export function withoutInvisible(text: string): string {
  return escapeInvisible(text).replace(/\[U\+[0-9A-F]{4,6}\]/g, "");
}

/** Two names with the same key are the same name. */
export function nameKey(name: string): string {
  return name.normalize("NFKC").toLowerCase();
}

/** Compares by UTF-16 code units, independent of any language. */
export function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The text with every invisible character written as `[U+202E]`. */
export function escapeInvisible(text: string): string {
  return text.replace(everyInvisible, (character) => `[${codeOf(character)}]`);
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
