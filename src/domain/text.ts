// Numbers and names as they stand in sentences.

const thin = "\u202f";
/** Made once: a formatter takes longer to make than a page of numbers to write. */
const grouped = new Intl.NumberFormat("en-US");

/** `2 554`. */
export function count(number: number): string {
  return grouped.format(number).replaceAll(",", thin);
}

/** `1 printer`, `2 printers`. */
export function counted(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** The first names of a list, and how many there are besides. */
export function firstOf(names: readonly string[], limit: number, total = names.length): string {
  const rest = total - Math.min(limit, names.length);
  return names.slice(0, limit).join(", ") + (rest > 0 ? ` and ${count(rest)} more` : "");
}

export const dayMs = 24 * 60 * 60_000;

/** `2026-11-22`. @param time UTC, milliseconds since 1970 */
export function utcDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** `2026-11-22T140559Z`, as it stands in names of files. @param time UTC, milliseconds since 1970 */
export function timeStamp(time: number): string {
  return `${new Date(time).toISOString().replaceAll(":", "").slice(0, 17)}Z`;
}

/** More than any field holds; normalising takes time that grows with the square of a run of marks. */
const consideredLength = 300;

/** Lower-case ASCII letters, digits and hyphens: safe as a part of a file name anywhere. May be empty. */
export function slug(text: string): string {
  const words = text
    .slice(0, consideredLength)
    .replaceAll("ß", "ss")
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
  return words.join("-").slice(0, 80);
}

// What a text from outside looks like to a person, beside what it is.

/** Characters that nobody sees, or that move the others: of control, of format, ends of lines. Tabs are blanks, joiners part of words. */
const unseen = /(?![\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/** The first character of a text that nobody sees, as `U+202E`; undefined without one. */
export function unseenIn(text: string): string | undefined {
  const [character] = unseen.exec(text) ?? [];
  return character && codeOf(character);
}

/** The text with every character that nobody sees as `[U+202E]`. */
export function withUnseenShown(text: string): string {
  if (!unseen.test(text)) return text;
  return text
    .split(/((?![\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}])/u)
    .map((piece, i) => (i % 2 === 0 ? piece : `[${codeOf(piece)}]`))
    .join("");
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
