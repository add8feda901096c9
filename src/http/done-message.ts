import type { Hole } from "../html/html.ts";
import type { Message } from "../html/layout.ts";

/**
 * What an address says became of a change; undefined where it says nothing that is known.
 * @param texts by the word that stands in the address
 */
export function doneMessage(url: URL, texts: Readonly<Record<string, Hole>>): Message | undefined {
  const word = url.searchParams.get("done") ?? "";
  return Object.hasOwn(texts, word) ? { tone: "good", text: texts[word] } : undefined;
}
