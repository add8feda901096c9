import type { IncomingMessage } from "node:http";
import { roleOf } from "../domain/access/access.ts";
import type { Hole } from "../html/html.ts";
import type { Frame, Message } from "../html/layout.ts";
import { assets } from "./assets.ts";
import { senderOf } from "./sender.ts";

/** What a page for the sender of a request is given. */
export function frameOf(request: IncomingMessage, message?: Message): Frame {
  const { identity, signedIn, canSignIn, isOpenToAll } = senderOf(request);
  const name = identity.kind === "person" ? identity.name : undefined;
  const isSignedInHere = signedIn !== undefined;
  const visitor = { name, role: roleOf(identity), isSignedInHere, canSignIn, isOpenToAll };
  return { assets, visitor, message };
}

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
