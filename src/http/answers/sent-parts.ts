import { Latest } from "../../services/latest.ts";

interface Part {
  readonly start: number;
  /** Not included. */
  readonly end: number;
}

/** Of how many downloads parts are remembered, and so many of each, for who fetches several at a time. */
const mostDownloads = 1000;
const mostParts = 32;

/** Which parts of downloads clients were sent, so that one in several parts is whole with the last of them. */
export class SentParts {
  readonly #sent = new Latest<string, readonly Part[]>(mostDownloads);

  /**
   * Remembers a part.
   * @param key of the download and its client
   * @param size of the whole, in bytes
   * @returns whether the client was sent all of it now; what follows counts anew
   */
  add(key: string, part: Part, size: number): boolean {
    const parts = joined([...(this.#sent.get(key) ?? []), part]);
    const isWhole = parts.some(({ start, end }) => start === 0 && end === size);
    if (isWhole) this.#sent.delete(key);
    else this.#sent.set(key, parts.slice(0, mostParts));
    return isWhole;
  }
}

/** Parts that meet or overlap as one, in order. */
function joined(parts: readonly Part[]): Part[] {
  const all: Part[] = [];
  for (const part of [...parts].sort((a, b) => a.start - b.start)) {
    const last = all.at(-1);
    if (last === undefined || last.end < part.start) all.push(part);
    else all[all.length - 1] = { start: last.start, end: Math.max(last.end, part.end) };
  }
  return all;
}
