import { withoutMarkRuns } from "./fields.ts";

// What a text from outside looks like to a person, beside what it is.

/** Characters that nobody sees, or that move the others: of control, of format, ends of lines. Tabs are blanks, joiners part of words. */
const unseen = /(?![\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const ignorable = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

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

/** Two texts with the same key can hardly be told apart on a page, and where they come back in a form not at all. */
export function lookOf(text: string): string {
  const seen = /^[ -~]*$/.test(text) ? text : withoutMarkRuns(text.normalize("NFKC")).replace(ignorable, "");
  const parts = seen.replace(/\s+/g, " ").split("/");
  return parts.map((part) => part.trim().toUpperCase()).join("/");
}

/** Letters of these alphabets, of which many look like Latin ones. */
const otherLetter = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u;
/** Words of nothing else read as Latin ones: Cyrillic letters, then Greek ones. */
const latinLooking = /^[АВЕЅІЈКМНОРСТУХаеѕіјорсухһԁΑΒΕΖΗΙΚΜΝΟΡΤΥΧο]{2,}$/u;
/** Small letters that are taken for plain Latin ones, and these: Cyrillic, Greek, Armenian, and other Latin ones. */
const small = { like: "аеѕіјорсухһԁӏѵԝԛαεικνορτυχωոօսհıɑɡ", latin: "aesijopcyxhdlvwqaeiknoptuxwnouhiag" };
const latinOf = new Map([...small.like].map((letter, i) => [letter, small.latin.charAt(i)]));

/** In small letters, with Latin ones in the place of those that look like them. */
export function inLatin(text: string): string {
  return [...text.toLowerCase()].map((letter) => latinOf.get(letter) ?? letter).join("");
}

/** The first letter of a word that is taken for another, such as the Cyrillic one of `НP`, as `U+041D`. */
export function lookAlikeIn(text: string): string | undefined {
  if (!otherLetter.test(text)) return undefined;
  for (const word of text.split(/[^\p{L}\p{M}]+/u)) {
    const isMistaken = /\p{Script=Latin}/u.test(word) || latinLooking.test(word);
    const [letter] = isMistaken ? (otherLetter.exec(word) ?? []) : [];
    if (letter !== undefined) return codeOf(letter);
  }
  return undefined;
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
