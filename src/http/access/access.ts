import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import { type Config, lacksAdmin, needsSignIn, takesPasswords, waysToAdmin } from "../../config.ts";
import { type Identity, mayUse, nameOf, nobody } from "../../domain/access/access.ts";
import { type ErrorCode, type Help, messageOf, UserError } from "../../domain/errors.ts";
import { paths } from "../../html/paths.ts";
import { type Actor, currentActor } from "../../store/actor.ts";
import { isNavigation } from "../answer-form.ts";
import { basicChallenge, isReading, statusReply, takesPages } from "../answers/errors.ts";
import { type Reply, redirect } from "../answers/reply.ts";
import type { Asked, Found, Route } from "../router.ts";
import { senderOf } from "../sender.ts";
import { recognise } from "./identify.ts";
import { isReached } from "./scopes.ts";

/**
 * Finds out who sent a request, and whether they may have what they ask for. The audit log has who may not.
 * @param who as the audit log knows them already; whoever nobody knows stands there under no name
 * @returns the refusal; undefined where they may
 * @throws UserError where what they say of themselves does not hold
 */
export function checkSender(
  app: App,
  request: IncomingMessage,
  asked: Asked,
  who?: string,
): Reply | undefined {
  try {
    recognise(app, request, asked);
  } catch (error) {
    const countedAs = error instanceof UserError ? inWords[error.code] : undefined;
    const actor = { who: nameOf(nobody), from: senderOf(request).address };
    if (countedAs !== undefined)
      noteRefused(app, request, asked, { actor, why: messageOf(error), countedAs });
    throw error;
  }
  const { identity, address: from } = senderOf(request);
  const refused = refusalOf(app, request, identity, asked.found);
  const known = who ?? (identity.kind === "nobody" ? undefined : nameOf(identity));
  if (refused !== undefined && known !== undefined)
    noteRefused(app, request, asked, { actor: { who: known, from } });
  return refused;
}

/**
 * Asks again whether somebody may do what they began: a request that is sent slowly must not outlive its sender's rights.
 * @throws UserError "forbidden", or why they are not recognised any more
 */
export async function checkStillAllowed(app: App, request: IncomingMessage, asked: Asked): Promise<void> {
  if (checkSender(app, request, asked, currentActor().who) === undefined) return;
  throw new UserError(
    "forbidden",
    "Your rights ended while this was being sent: nothing was changed. Sign in again.",
  );
}

/** Why somebody may not have what they ask for; undefined where they may. */
function refusalOf(
  { config, store }: App,
  request: IncomingMessage,
  identity: Identity,
  found: Found,
): Reply | undefined {
  // Where there is nothing, whoever is not known is told to sign in as well: they learn no address of ours.
  const rule = found.kind === "route" ? found.route.rule : "viewer";
  if (mayUse(identity, rule) || isReached(store, identity, found)) return undefined;
  if (identity.kind === "nobody") return signInReply(config, request);
  if (identity.kind === "person" && identity.mustChoosePassword)
    return elsewhereReply(
      request,
      firstPasswordPath(ownPath(nextOf(request))),
      "Choose a password of your own first.",
    );
  if (identity.kind === "token")
    return statusReply(request, 403, `The token “${identity.name}” does not reach this.`);
  const isNobodys = rule === "admin" && lacksAdmin(config);
  return statusReply(
    request,
    403,
    isNobodys
      ? `This is the administrator’s, and nobody is: whoever runs this service sets ${waysToAdmin}.`
      : "This is not yours to see or to change: ask who runs this service.",
  );
}

/** @throws UserError "not-found" for a route that is of use only where sign-in or passwords are on, and they are off */
export function checkNeeds({ config }: App, { needs }: Route): void {
  if (needs === undefined || takesPasswords(config)) return;
  if (!needsSignIn(config)) {
    throw new UserError(
      "not-found",
      "Sign-in is off here: whoever runs Platen switches it on with the setting ADMIN_PASSWORD.",
    );
  }
  if (needs === "passwords")
    throw new UserError(
      "not-found",
      "People sign in at the proxy in front of Platen: there are no passwords here.",
    );
}

/** Leads a person to where they can sign in, and tells a program what it lacks. */
function signInReply(config: Config, request: IncomingMessage): Reply {
  const hasPasswords = takesPasswords(config);
  if (!isReading(request) && isFromPage(request)) return signedOutReply(request, hasPasswords);
  if (!hasPasswords && takesPages(request)) return statusReply(request, 401, atProxy);
  const path = `${paths.signIn}?${new URLSearchParams({ next: nextOf(request) })}`;
  return elsewhereReply(request, path, "Sign in first.");
}

/** What is said where there are no passwords. */
export const atProxy = "People sign in at the proxy in front of Platen: open its address instead.";

/** Whether a browser's page, or a script of ours on it, sent a request. */
function isFromPage(request: IncomingMessage): boolean {
  return request.headers["hx-request"] !== undefined || isNavigation(request);
}

/** A change whose sender was signed out meanwhile: what they typed must not be lost. */
function signedOutReply(request: IncomingMessage, hasPasswords: boolean): Reply {
  const isScript = request.headers["hx-request"] !== undefined;
  const kept = isScript
    ? "What you typed or chose is still here: sign in, then send it again."
    : "Sign in, then go back in the browser: it shows what you typed, and you can send it again.";
  const how = hasPasswords ? kept : `${atProxy} ${kept}`;
  const help: Help = hasPasswords ? { remedies: [{ kind: "sign-in" }] } : {};
  return statusReply(request, 401, `You are not signed in any more: nothing was saved. ${how}`, {}, help);
}

const forPrograms =
  "Programs send a token, which the administrator makes under Tokens: “Authorization: Bearer TOKEN”, or curl -u x:TOKEN.";

/** A person goes on to another page first; a program is told why. */
function elsewhereReply(request: IncomingMessage, path: string, why: string): Reply {
  const isScript = request.headers["hx-request"] !== undefined;
  const isPage = isReading(request) ? takesPages(request) : isNavigation(request);
  if (isPage && !isScript) return redirect(path);
  // A download is asked about before the browser goes anywhere: its message leads on by a link.
  const help: Help = path.startsWith(`${paths.signIn}?`) ? { remedies: [{ kind: "sign-in" }] } : {};
  if (isScript) return statusReply(request, 401, why, { "HX-Redirect": path }, help);
  // Not for what a page of ours loads: the browser would ask for name and password in a window of its own.
  const { "sec-fetch-site": site, "sec-fetch-mode": mode } = request.headers;
  const isPart = site !== undefined && mode !== "navigate";
  if (isPart) return statusReply(request, 401, why);
  return statusReply(request, 401, `${why} ${forPrograms}`, { "WWW-Authenticate": basicChallenge });
}

/** The page to go on with: what was asked for, or what the form that was sent stands on. */
function nextOf(request: IncomingMessage): string {
  const { url = "/", headers } = request;
  if (isReading(request) && headers["hx-request"] === undefined) return url;
  const from = headers.referer ?? "";
  if (!URL.canParse(from)) return "/";
  const { pathname, search } = new URL(from);
  return pathname + search;
}

/** What the audit log counts together where somebody says of themselves what does not hold. */
const inWords: Partial<Record<ErrorCode, string>> = {
  unauthorized: "a token that does not hold",
  forbidden: "a link that does not hold, or somebody who may not use this service",
  malformed: "a name that did not come from a trusted proxy, or cannot be one",
};

/** In characters. */
const shownCharacters = 200;

/** Writes down that somebody was refused what they asked for. @param countedAs what is the same for many */
function noteRefused(
  { store }: App,
  { method }: IncomingMessage,
  { url: { pathname }, found }: Asked,
  { actor, why, countedAs }: { readonly actor: Actor; readonly why?: string; readonly countedAs?: string },
): void {
  const visible = pathname.length > shownCharacters ? `${pathname.slice(0, shownCharacters)}…` : pathname;
  // Whoever asks chooses addresses as they like, and none of these.
  const pattern = found.kind === "route" ? found.route.path : "an address where nothing is";
  const line = (path: string, more?: string) => `${method} ${path}${more === undefined ? "" : `: ${more}`}`;
  store.audit.note("refused", { what: line(visible, why), countedAs: line(pattern, countedAs), actor });
}

const maxLength = 2000;
const base = "http://platen";

/** An address of this service to go on to, as its path and query; the dashboard for whatever is none, or leads back. */
export function ownPath(text: string | null | undefined): string {
  if (!text?.startsWith("/") || text.length > maxLength || /[\\\p{Cc}\p{Cs}]/u.test(text))
    return paths.dashboard;
  if (!URL.canParse(text, base)) return paths.dashboard;
  const { origin, pathname, search } = new URL(text, base);
  // What a browser makes of the path counts: `/.//host` becomes `//host`, which is another host.
  if (origin !== base || pathname.startsWith("//")) return paths.dashboard;
  const leadsBack = [paths.signIn, paths.signOut, paths.firstPassword].some((path) => path === pathname);
  return leadsBack ? paths.dashboard : pathname + search;
}

/** Where a one-time password is changed before it goes on. @param next an address of this service */
export function firstPasswordPath(next: string): string {
  const query = next === paths.dashboard ? "" : `?${new URLSearchParams({ next })}`;
  return paths.firstPassword + query;
}
