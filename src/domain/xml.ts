import { Namespaces, type XmlAttribute, type XmlName } from "./xml-namespaces.ts";
import { rewritten, XmlProblem } from "./xml-text.ts";

/** A document, written anew. */
interface CompactXml {
  readonly root: XmlName;
  /** The root element without comments, instructions and the blanks between elements, in ASCII and in one line. */
  readonly text: string;
}

/** Documents that people and programs make have a handful of levels. */
const mostLevels = 100;
const outside = "Text stands outside of the root element.";
const tagName = /[A-Za-z_][\w.-]*(?::[A-Za-z_][\w.-]*)?/y;
const blanks = /[ \t\r\n]*/y;

/**
 * Reads XML 1.0 with namespaces, in time that grows with its length alone. Names are ASCII; there is no document type
 * definition, and no entity but the five that XML knows by itself. What a declaration says of the encoding means
 * nothing, because the text is decoded. Line breaks are line feeds.
 * @throws XmlProblem
 */
export function compactXml(text: string): CompactXml {
  return new Reader(text).document();
}

interface Element {
  readonly name: string;
  readonly offset: number;
  /** The prefixes that it declares. */
  readonly prefixes: readonly string[];
}

class Reader {
  readonly #text: string;
  #at = 0;
  readonly #out: string[] = [];
  readonly #open: Element[] = [];
  readonly #namespaces = new Namespaces();
  #root: XmlName | undefined;
  /** Whether the last tag begins an element, and is written but for its end. */
  #isFresh = false;
  /** What stands since the last tag, and whether it is nothing but blanks. */
  #content = "";
  #isBlank = true;

  constructor(text: string) {
    this.#text = text;
  }

  document(): CompactXml {
    if (this.#startsWith("\ufeff")) this.#at++;
    this.#skipBlanks();
    this.#declaration();
    while (this.#at < this.#text.length) this.#next();
    const open = this.#open.at(-1);
    if (open !== undefined) throw new XmlProblem(`<${open.name}> is not closed.`, open.offset);
    if (this.#root === undefined) throw this.#problem("There is no element.");
    return { root: this.#root, text: this.#out.join("") };
  }

  #declaration(): void {
    if (!/^<\?xml[ \t\r\n]/.test(this.#text.slice(this.#at, this.#at + 6))) return;
    const end = this.#find("?>", "The XML declaration does not end.");
    const declared = this.#text.slice(this.#at, Math.min(end, this.#at + 300));
    if (!/^<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(?:"1\.0"|'1\.0')/.test(declared))
      throw this.#problem("The XML declaration does not say version 1.0.");
    this.#at = end + 2;
  }

  /** Reads what stands before the next mark, and what the mark begins. */
  #next(): void {
    const mark = this.#text.indexOf("<", this.#at);
    const end = mark < 0 ? this.#text.length : mark;
    this.#characters(this.#text.slice(this.#at, end));
    this.#at = end;
    if (mark < 0) return;
    if (this.#startsWith("</")) this.#endTag();
    else if (this.#startsWith("<!--")) this.#comment();
    else if (this.#startsWith("<![CDATA[")) this.#section();
    else if (this.#startsWith("<!")) throw this.#problem("A document type definition (<!…>) is not taken.");
    else if (this.#startsWith("<?")) this.#instruction();
    else this.#startTag();
  }

  #characters(raw: string): void {
    if (raw === "") return;
    const first = raw.search(/[^ \t\r\n]/);
    if (this.#open.length === 0) {
      if (first >= 0) throw new XmlProblem(outside, this.#at + first);
      return;
    }
    const wrong = raw.indexOf("]]>");
    if (wrong >= 0) throw new XmlProblem("“]]>” cannot stand in a text.", this.#at + wrong);
    if (first >= 0) this.#isBlank = false;
    this.#content += rewritten(raw, this.#at, "text");
  }

  #section(): void {
    const end = this.#find("]]>", "A CDATA section does not end.");
    if (this.#open.length === 0) throw this.#problem(outside);
    const start = this.#at + "<![CDATA[".length;
    this.#isBlank = false;
    this.#content += rewritten(this.#text.slice(start, end), start, "section");
    this.#at = end + 3;
  }

  #comment(): void {
    const end = this.#find("--", "A comment does not end.", 4);
    if (this.#text[end + 2] !== ">") throw new XmlProblem("“--” cannot stand in a comment.", end);
    this.#checkCharacters(end);
    this.#at = end + 3;
  }

  #instruction(): void {
    const start = this.#at;
    const end = this.#find("?>", "A processing instruction does not end.");
    this.#at += 2;
    if (this.#name("a processing instruction").toLowerCase() === "xml")
      throw new XmlProblem("The XML declaration does not stand at the beginning.", start);
    this.#checkCharacters(end);
    this.#at = end + 2;
  }

  /** Refuses characters that XML has not in what is left out. @param end where that ends */
  #checkCharacters(end: number): void {
    rewritten(this.#text.slice(this.#at, end), this.#at, "section");
  }

  #startTag(): void {
    const offset = this.#at++;
    const name = this.#name("a tag");
    if (this.#root !== undefined && this.#open.length === 0)
      throw new XmlProblem(`There is a second root element, <${name}>.`, offset);
    const attributes = this.#attributes(name, offset);
    const isEmpty = this.#text[this.#at] === "/";
    this.#at += isEmpty ? 2 : 1;
    const element = { name, offset, prefixes: this.#namespaces.enter(attributes) };
    const resolved = this.#namespaces.resolve(name, offset);
    this.#root ??= resolved;
    this.#namespaces.checkAttributes(attributes);
    this.#writeContent(false);
    const pairs = attributes.map((attribute) => ` ${attribute.name}="${attribute.value}"`);
    this.#out.push(`<${name}${pairs.join("")}`);
    this.#isFresh = true;
    if (isEmpty) this.#close(element);
    else if (this.#open.push(element) > mostLevels)
      throw new XmlProblem(`More than ${mostLevels} elements stand in each other.`, offset);
  }

  #endTag(): void {
    const start = this.#at;
    this.#at += 2;
    const name = this.#name("a closing tag");
    this.#skipBlanks();
    if (this.#text[this.#at] !== ">") throw new XmlProblem(`</${name}> does not end.`, start);
    this.#at++;
    const open = this.#open.pop();
    if (open === undefined) throw new XmlProblem(`</${name}> closes nothing.`, start);
    if (open.name !== name) throw new XmlProblem(`</${name}> stands where </${open.name}> should.`, start);
    this.#close(open);
  }

  #close({ name, prefixes }: Element): void {
    this.#namespaces.leave(prefixes);
    const isEmpty = this.#isFresh && this.#content === "";
    if (!isEmpty) this.#writeContent(this.#isFresh);
    this.#out.push(isEmpty ? "/>" : `</${name}>`);
    this.#isFresh = false;
  }

  /** @param isWhole whether it is all that its element holds: there alone blanks mean something */
  #writeContent(isWhole: boolean): void {
    if (this.#isFresh) this.#out.push(">");
    if (isWhole || !this.#isBlank) this.#out.push(this.#content);
    this.#isFresh = false;
    this.#content = "";
    this.#isBlank = true;
  }

  /** Up to the tag's end, which is next: `>` or `/>`. */
  #attributes(tag: string, offset: number): XmlAttribute[] {
    const attributes: XmlAttribute[] = [];
    const names = new Set<string>();
    for (;;) {
      const hasBlank = this.#skipBlanks();
      if (this.#startsWith(">") || this.#startsWith("/>")) return attributes;
      if (this.#at >= this.#text.length) throw new XmlProblem(`<${tag}> does not end.`, offset);
      if (!hasBlank) throw this.#problem(`In <${tag}> there is neither a blank nor its end.`);
      const attribute = this.#attribute(tag);
      if (names.has(attribute.name))
        throw new XmlProblem(`<${tag}> has the attribute ${attribute.name} twice.`, attribute.offset);
      names.add(attribute.name);
      attributes.push(attribute);
    }
  }

  #attribute(tag: string): XmlAttribute {
    const offset = this.#at;
    const name = this.#name(`an attribute of <${tag}>`);
    this.#skipBlanks();
    if (!this.#startsWith("=")) throw new XmlProblem(`The attribute ${name} has no value.`, offset);
    this.#at++;
    this.#skipBlanks();
    const quote = this.#text[this.#at] ?? "";
    if (quote !== '"' && quote !== "'")
      throw new XmlProblem(`The value of ${name} stands in no quotes.`, offset);
    const start = this.#at + 1;
    const end = this.#find(quote, `The value of ${name} does not end.`, 1);
    const raw = this.#text.slice(start, end);
    const wrong = raw.indexOf("<");
    if (wrong >= 0) throw new XmlProblem(`“<” cannot stand in the value of ${name}.`, start + wrong);
    this.#at = end + 1;
    return { name, value: rewritten(raw, start, "attribute"), offset };
  }

  #name(where: string): string {
    tagName.lastIndex = this.#at;
    const name = tagName.exec(this.#text)?.[0];
    if (name === undefined) throw this.#problem(`There is no name that can be read in ${where}.`);
    this.#at += name.length;
    if (/^:?[^\0-\x7f]/.test(this.#text.slice(this.#at, this.#at + 2)))
      throw this.#problem(
        `Behind “${name.slice(0, 60)}” stands a letter that is none of ASCII: names have no others.`,
      );
    return name;
  }

  /** Where something stands next. @param skipped characters from here that it cannot begin at */
  #find(what: string, message: string, skipped = 0): number {
    const found = this.#text.indexOf(what, this.#at + skipped);
    if (found < 0) throw this.#problem(message);
    return found;
  }

  #startsWith(mark: string): boolean {
    return this.#text.startsWith(mark, this.#at);
  }

  /** Whether there were any. */
  #skipBlanks(): boolean {
    blanks.lastIndex = this.#at;
    const length = blanks.exec(this.#text)?.[0].length ?? 0;
    this.#at += length;
    return length > 0;
  }

  #problem(message: string): XmlProblem {
    return new XmlProblem(message, this.#at);
  }
}
