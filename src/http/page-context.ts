import type { IncomingMessage } from "node:http";
import { hasSessions, isOpenToAll } from "../config.ts";
import { roleOf } from "../domain/access/access.ts";
import { uploadDialog } from "../html/drivers/driver-upload.ts";
import type { Hole } from "../html/html.ts";
import { canChange, type Message, type PageContext } from "../html/layout.ts";
import { assets } from "./assets.ts";
import { senderOf } from "./sender.ts";

export function pageContextOf(request: IncomingMessage, message?: Message): PageContext {
  const { identity, signedIn, config } = senderOf(request);
  const name = identity.kind === "person" ? identity.name : undefined;
  const isSignedInHere = signedIn !== undefined;
  const settings = { canSignIn: hasSessions(config), isOpenToAll: isOpenToAll(config) };
  const visitor = { name, role: roleOf(identity), isSignedInHere, ...settings };
  const dialog = canChange(visitor) ? uploadDialog(config.uploadLimitBytes) : undefined;
  return { assets, visitor, message, uploadDialog: dialog };
}

/** The message after links were ended. */
export function linksMessage(url: URL): Message | undefined {
  return doneMessage(url, {
    link: "The link has ended. Where it is needed, create a new one or download the script again.",
    links: "All its links have ended. Download single scripts again. Packages still work.",
  });
}

/** The message for the query parameter `done`; undefined if it is missing or unknown. @param texts by its value */
export function doneMessage(url: URL, texts: Readonly<Record<string, Hole>>): Message | undefined {
  const word = url.searchParams.get("done") ?? "";
  return Object.hasOwn(texts, word) ? { tone: "good", text: texts[word] } : undefined;
}
