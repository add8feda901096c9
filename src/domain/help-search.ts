import { byCodeUnit } from "./text.ts";

/** A section of a help page as plain text. */
interface HelpText {
  readonly page: string;
  readonly pageTitle: string;
  /** The anchor of the section; empty for the text before the first heading. */
  readonly id: string;
  readonly heading: string;
  /** Paragraphs, list items, table rows. */
  readonly lines: readonly string[];
}

/** A section that was found, and the line of it that fits best. */
export interface HelpHit {
  readonly text: HelpText;
  readonly line: string;
}

/** A section of a help page as markup. */
interface HelpMarkup {
  readonly id: string;
  readonly heading: { toString(): string };
  readonly body: { toString(): string };
}

/** Reads the texts of a page's sections. */
export function helpTexts(page: string, pageTitle: string, sections: readonly HelpMarkup[]): HelpText[] {
  return sections.map(({ id, heading, body }) => {
    const lines = body
      .toString()
      .replace(/<thead>.*?<\/thead>/gs, "")
      .split(/<\/(?:p|li|tr|pre)>/);
    return {
      page,
      pageTitle,
      id,
      heading: textOf(heading.toString()),
      lines: lines.map(textOf).filter(Boolean),
    };
  });
}

const characters: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', "#39": "'", amp: "&" };

function textOf(markup: string): string {
  return markup
    .replace(/<\/t[hd]>(?=<t[hd])/g, " · ")
    .replace(/<[^>]*>/g, "")
    .replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => characters[name] ?? "")
    .replace(/\s+/g, " ")
    .trim();
}

/** In characters. The rest of a query is ignored. */
export const maxHelpQuery = 2000;

const maxHits = 20;

/** Sections with less than this share of the best score are left out. */
const leastShare = 0.6;

/**
 * Finds the sections for some words or for a pasted message, best first. Rare words count more. Words that no section
 * has, such as the names in a message, do not count.
 */
export function searchHelp(texts: readonly HelpText[], query: string): readonly HelpHit[] {
  const words = [...new Set(wordsOf(query.slice(0, maxHelpQuery)).map(stemOf))];
  const sections = texts.map((text) => sectionOf(text));
  const weights = new Map(
    words.map((word) => {
      const count = sections.filter(({ all }) => hasWord(all, word)).length;
      return [word, count === 0 ? 0 : Math.log(1 + sections.length / count)] as const;
    }),
  );
  const weigh = (found: readonly string[], except: readonly string[] = []) =>
    words
      .filter((word) => hasWord(found, word) && !hasWord(except, word))
      .reduce((sum, word) => sum + (weights.get(word) ?? 0), 0);
  const hits = sections.map(({ text, all, heading, lines }) => {
    const scores = lines.map((line) => weigh(line, heading));
    const best = Math.max(0, ...scores);
    const line = text.lines[best === 0 ? 0 : scores.indexOf(best)] ?? "";
    return { text, line, score: weigh(all) + 2 * best + 2 * weigh(heading) };
  });
  const least = Math.max(...hits.map(({ score }) => score)) * leastShare;
  return hits
    .filter(({ score }) => score > 0 && score >= least)
    .sort((a, b) => b.score - a.score)
    .slice(0, maxHits);
}

/** A section's words, sorted for `hasWord`. */
function sectionOf(text: HelpText) {
  const heading = sortedWords(`${text.pageTitle} ${text.heading}`);
  const lines = text.lines.map(sortedWords);
  return { text, heading, lines, all: [...heading, ...lines.flat()].sort(byCodeUnit) };
}

function sortedWords(text: string): readonly string[] {
  return wordsOf(text).sort(byCodeUnit);
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
