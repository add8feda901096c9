import { byCodeUnit } from "./text.ts";

/** A section of a help page as markup. */
interface HelpMarkup {
  /** The anchor of the section; empty for the text before the first heading. */
  readonly id: string;
  readonly heading: { toString(): string };
  readonly body: { toString(): string };
}

/** A section as text, with its words. */
interface Section {
  readonly page: string;
  readonly title: string;
  readonly id: string;
  readonly lines: readonly Line[];
  readonly headingWords: readonly string[];
  readonly words: readonly string[];
}

/** A paragraph, list item or table row. */
interface Line {
  readonly text: string;
  readonly words: readonly string[];
  /** The words of the message that the row of a table explains. */
  readonly message: readonly string[];
}

/** A section that was found, and the line of it that fits best. */
export interface HelpHit {
  readonly page: string;
  /** The titles of the page and of the section. */
  readonly title: string;
  readonly id: string;
  readonly line: string;
}

/** In characters. The rest of a query is ignored. */
export const maxHelpQuery = 2000;

/** The rest of the words is ignored. */
const maxWords = 60;

const maxHits = 20;

/** Sections with less than this share of the best score are left out. */
const leastShare = 0.6;

/**
 * Searches sections for some words or for a pasted message. Rare words count more. Words that no section has, such as the
 * names in a message, do not count.
 */
export class HelpSearch {
  readonly #sections: Section[] = [];

  add(page: string, title: string, sections: readonly HelpMarkup[]): void {
    this.#sections.push(...sections.map((section) => readSection(page, title, section)));
  }

  /** Best first. A section that explains the message in the query precedes all others. */
  find(query: string): readonly HelpHit[] {
    const asked = wordsOf(query.slice(0, maxHelpQuery)).slice(0, maxWords);
    const weigh = this.#weigherOf([...new Set(asked.map(stemOf))]);
    const scored = this.#sections.map((section) => scoreOf(section, new Set(asked), weigh));
    const least = Math.max(...scored.map(({ score }) => score)) * leastShare;
    return scored
      .filter(({ score, known }) => score > 0 && (score >= least || known > 0))
      .sort((a, b) => b.known - a.known || b.score - a.score)
      .slice(0, maxHits)
      .map(({ hit }) => hit);
  }

  /** The returned function adds the weights of those words that a text has. */
  #weigherOf(words: readonly string[]): (found: readonly string[], except?: readonly string[]) => number {
    const weights = words.flatMap((word) => {
      const count = this.#sections.filter((section) => hasWord(section.words, word)).length;
      if (count === 0) return [];
      return [[word, Math.log(1 + this.#sections.length / count)] as const];
    });
    return (found, except = []) =>
      weights.reduce(
        (sum, [word, weight]) => sum + (hasWord(found, word) && !hasWord(except, word) ? weight : 0),
        0,
      );
  }
}

/** `known` is the number of words of the longest message that is completely in the query. */
function scoreOf(
  { page, title, id, lines, headingWords, words }: Section,
  asked: ReadonlySet<string>,
  weigh: (found: readonly string[], except?: readonly string[]) => number,
) {
  let [best, known, line] = [0, 0, lines[0]?.text ?? ""];
  for (const { text, words, message } of lines) {
    const score = weigh(words, headingWords);
    const length = message.every((word) => asked.has(word)) ? message.length : 0;
    if (length > known || (length === known && score > best)) [best, known, line] = [score, length, text];
  }
  return { hit: { page, title, id, line }, known, score: weigh(words) + 2 * best + 3 * weigh(headingWords) };
}

function readSection(page: string, pageTitle: string, { id, heading, body }: HelpMarkup): Section {
  const lines = body
    .toString()
    .split("</thead>")
    .map((part) => part.split("<thead>")[0] ?? "")
    .join("")
    .split(/<\/(?:p|li|tr|pre)>/)
    .map(readLine)
    .filter(({ text }) => text !== "");
  const title = [pageTitle, textOf(heading.toString())].filter(Boolean).join(": ");
  const headingWords = sortedWords(title);
  const words = [...headingWords, ...lines.flatMap((line) => line.words)].sort(byCodeUnit);
  return { page, title, id, lines, headingWords, words };
}

function readLine(markup: string): Line {
  const text = textOf(markup);
  const cell = markup.split("<td ").find((part) => part.startsWith('data-label="message')) ?? "";
  const message = cell.slice(cell.indexOf(">") + 1).split("</td>")[0] ?? "";
  return { text, words: sortedWords(text), message: wordsOf(textOf(message)) };
}

const characters: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', "#39": "'", amp: "&" };

function textOf(markup: string): string {
  return markup
    .replace(/<\/t[hd]>(?=<t[hd])/g, " · ")
    .split("<")
    .map((part, i) => (i === 0 ? part : part.slice(part.indexOf(">") + 1)))
    .join("")
    .replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => characters[name] ?? "")
    .replace(/\s+/g, " ")
    .trim();
}

function sortedWords(text: string): readonly string[] {
  return [...new Set(wordsOf(text))].sort(byCodeUnit);
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** A plural finds its singular as well. */
function stemOf(word: string): string {
  return word.length > 4 ? word.replace(/s$/, "") : word;
}

/** Whether one of the sorted words begins with `start`, or is it if it is shorter than three letters. */
function hasWord(sorted: readonly string[], start: string): boolean {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? "") < start) low = middle + 1;
    else high = middle;
  }
  const next = sorted[low];
  return start.length < 3 ? next === start : (next?.startsWith(start) ?? false);
}
