import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import { nameOf, nobody } from "../../domain/access.ts";
import { type ErrorCode, UserError } from "../../domain/errors.ts";
import type { Actor } from "../../store/audit/actor.ts";
import type { Asked, Found } from "../router.ts";
import { askerOf } from "./asker.ts";

const shownCharacters = 200;

/** Writes down that somebody was refused what they asked for. */
export function noteRefused(
  { store }: App,
  { method }: IncomingMessage,
  { url: { pathname }, found }: Asked,
  { actor, why }: { readonly actor: Actor; readonly why?: UserError },
): void {
  const shown = pathname.length > shownCharacters ? `${pathname.slice(0, shownCharacters)}…` : pathname;
  const said = (address: string, reason?: string) => `${method} ${address}${reason ? `: ${reason}` : ""}`;
  store.audit.note("refused", {
    what: said(shown, why?.message),
    countedAs: said(patternOf(found), why && inWords[why.code]),
    actor,
  });
}

/** What is said of who they are does not hold. */
const inWords: Partial<Record<ErrorCode, string>> = {
  unauthorized: "a token that does not hold",
  "too-often": "too many tokens that do not hold",
  forbidden: "a link that does not hold, or somebody who may not use this service",
  malformed: "a name that did not come from a trusted proxy, or cannot be one",
};

/** Likewise where what they say of themselves does not hold. */
export function noteUnrecognised(app: App, request: IncomingMessage, asked: Asked, error: unknown): void {
  if (!(error instanceof UserError) || inWords[error.code] === undefined) return;
  const actor = { who: nameOf(nobody), from: askerOf(request).address };
  noteRefused(app, request, asked, { actor, why: error });
}

/** Words for the address that the client cannot choose. */
function patternOf(found: Found): string {
  return found.kind === "route" ? found.route.path : "an address where nothing is";
}
