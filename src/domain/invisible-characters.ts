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
