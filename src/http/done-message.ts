import type { Hole } from "../html/html.ts";
import type { Message } from "../html/layout.ts";

/** After all links to a record came to their end. */
export function linksMessage(url: URL): Message | undefined {
  return doneMessage(url, {
    links:
      "All links to this have ended. Scripts that were downloaded by themselves have to be fetched anew; packages go on working.",
  });
}

/**
 * What an address says became of a change; undefined where it says nothing that is known.
 * @param texts by the word that stands in the address
 */
export function doneMessage(url: URL, texts: Readonly<Record<string, Hole>>): Message | undefined {
  const word = url.searchParams.get("done") ?? "";
  return Object.hasOwn(texts, word) ? { tone: "good", text: texts[word] } : undefined;
}
