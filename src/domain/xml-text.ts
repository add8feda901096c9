const longName = /[\w.:-]{61,}/g;

/** Why a text is no XML that is taken, and where. Of long names a message has the beginning. */
export class XmlProblem extends Error {
  /** In the text, in UTF-16 code units. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message.replace(longName, (name) => `${name.slice(0, 60)}…`));
    this.offset = offset;
  }
}

/** What characters stand in: between tags, in a CDATA section, or in the value of an attribute. */
type Place = "text" | "section" | "attribute";

/** What is not written as it stands. */
const special = /&(#x[0-9A-Fa-f]+|#[0-9]+|[A-Za-z]+);|[&<>"]|[^ -~]/gu;

/**
 * Characters and references of XML, checked and written anew: in ASCII and in one line.
 * @param start where they stand in the whole text
 * @throws XmlProblem
 */
export function rewritten(raw: string, start: number, place: Place): string {
  return raw.replace(special, (found: string, reference: string | undefined, at: number) => {
    if (place === "section") return [...found].map((each) => literal(each, start + at, place)).join("");
    if (reference !== undefined) return written(referredTo(reference, start + at), place);
    if (found !== "&") return literal(found, start + at, place);
    throw new XmlProblem("“&” stands alone: as a character it is written &amp;.", start + at);
  });
}

/** A character that stands as it is; in the value of an attribute line breaks and tabs mean blanks. */
function literal(character: string, offset: number, place: Place): string {
  if (place === "attribute" && /[\t\n]/.test(character)) return " ";
  const code = character.codePointAt(0) ?? 0;
  if (isCharacter(code)) return written(character, place);
  throw new XmlProblem(`There is a character that XML has not (U+${hex(code).padStart(4, "0")}).`, offset);
}

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

/** The character that a reference stands for. */
function referredTo(reference: string, offset: number): string {
  const shown = `&${reference.slice(0, 40)};`;
  if (!reference.startsWith("#")) {
    const entity = Object.hasOwn(entities, reference) ? entities[reference] : undefined;
    if (entity !== undefined) return entity;
    const known = "&lt; &gt; &amp; &quot; and &apos;";
    throw new XmlProblem(`The entity ${shown} is not known: there are ${known} alone.`, offset);
  }
  const isHex = reference.startsWith("#x");
  const digits = reference.slice(isHex ? 2 : 1).replace(/^0+/, "");
  const code = digits.length > 7 ? Number.NaN : Number.parseInt(digits, isHex ? 16 : 10);
  if (isCharacter(code)) return String.fromCodePoint(code);
  throw new XmlProblem(`${shown} is no character of XML.`, offset);
}

const references: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

function written(character: string, place: Place): string {
  if (character === '"') return place === "attribute" ? "&quot;" : character;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20 || code > 0x7e) return `&#x${hex(code)};`;
  return references[character] ?? character;
}

function hex(code: number): string {
  return code.toString(16).toUpperCase();
}

/** XML 1.0, production 2. */
function isCharacter(code: number): boolean {
  if (code < 0x20) return code === 0x9 || code === 0xa || code === 0xd;
  return code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || (code >= 0x10000 && code <= 0x10ffff);
}
