import { cleanText } from "./fields.ts";
import { byCodeUnit } from "./text.ts";

const plain = /^[\n\x20-\x7e]*$/;

/** Makes texts comparable without regard to case, accents and other marks. */
export function foldText(text: string): string {
  if (plain.test(text)) return text.toLowerCase();
  const letters = cleanText(text, true)
    .normalize("NFD")
    .replace(/\p{M}+/gu, "");
  // Upper case first, so that ß becomes ss.
  return letters.toUpperCase().toLowerCase();
}

/** Texts compared by these keys sort without regard to case and accents, and their numbers by value. */
export function naturalKey(text: string): string {
  return foldText(text).replace(/\d+/g, (digits) => digits.padStart(20, "0"));
}

/** The records in the natural order of their names. */
export function sortByName<T extends { readonly name: string }>(records: readonly T[]): T[] {
  const keyed = records.map((record) => ({ record, key: naturalKey(record.name) }));
  return keyed.sort((a, b) => byCodeUnit(a.key, b.key)).map(({ record }) => record);
}
