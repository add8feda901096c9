import { XmlProblem } from "./xml-text.ts";

/** An attribute of a tag. */
export interface XmlAttribute {
  readonly name: string;
  /** As it is written, without quotes. */
  readonly value: string;
  readonly offset: number;
}

/** A name with the namespace that its prefix means; without a namespace that is empty. */
export interface XmlName {
  readonly namespace: string;
  readonly local: string;
}

/** A namespace by a number: it may be long, and is named again and again. */
interface Numbered {
  readonly namespace: string;
  readonly number: number;
}

const none: Numbered = { namespace: "", number: 0 };
const xml: Numbered = { namespace: "http://www.w3.org/XML/1998/namespace", number: 1 };

/** What prefixes mean in the element that is read, by what the elements around it declare. */
export class Namespaces {
  /** The innermost last; the default namespace has the prefix "". */
  readonly #known = new Map<string, Numbered[]>([["xml", [xml]]]);
  readonly #numbered = new Map<string, Numbered>([none, xml].map((each) => [each.namespace, each]));

  /** @returns the prefixes that a tag's attributes declare @throws XmlProblem */
  enter(attributes: readonly XmlAttribute[]): string[] {
    const declared = attributes.filter(({ name }) => name === "xmlns" || name.startsWith("xmlns:"));
    return declared.map(({ name, value, offset }) => {
      const prefix = name.slice("xmlns:".length);
      if (prefix === "xml" || prefix === "xmlns")
        throw new XmlProblem(`The prefix ${prefix} cannot be declared.`, offset);
      if (prefix !== "" && value === "")
        throw new XmlProblem(`The prefix ${prefix} is declared for nothing.`, offset);
      const known = this.#known.get(prefix);
      const meant = this.#numberedOf(value);
      if (known === undefined) this.#known.set(prefix, [meant]);
      else known.push(meant);
      return prefix;
    });
  }

  leave(prefixes: readonly string[]): void {
    for (const prefix of prefixes) this.#known.get(prefix)?.pop();
  }

  /** @throws XmlProblem where nothing declares its prefix */
  resolve(name: string, offset: number): XmlName & Numbered {
    const colon = name.indexOf(":");
    const prefix = name.slice(0, Math.max(colon, 0));
    const meant = this.#known.get(prefix)?.at(-1);
    if (meant === undefined && prefix !== "")
      throw new XmlProblem(`The prefix ${prefix} is not declared.`, offset);
    const { namespace, number } = meant ?? none;
    return { namespace, number, local: name.slice(colon + 1) };
  }

  /** @throws XmlProblem where two prefixes mean the same, and with them two attributes */
  checkAttributes(attributes: readonly XmlAttribute[]): void {
    const seen = new Set<string>();
    for (const { name, offset } of attributes) {
      if (!name.includes(":") || name.startsWith("xmlns:")) continue;
      const { number, local } = this.resolve(name, offset);
      const key = `${local} ${number}`;
      if (seen.has(key))
        throw new XmlProblem(`The attribute ${name} is there under another prefix, too.`, offset);
      seen.add(key);
    }
  }

  #numberedOf(namespace: string): Numbered {
    const known = this.#numbered.get(namespace) ?? { namespace, number: this.#numbered.size };
    this.#numbered.set(namespace, known);
    return known;
  }
}
