import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import { acceptsPasswords, adminRemedy, type Config, lacksAdmin, needsSignIn } from "../../config.ts";
import { type Identity, mayUse, nameOf, unauthenticated } from "../../domain/access/access.ts";
import { type ErrorCode, errorMessage, type Help, UserError } from "../../domain/errors.ts";
import { paths } from "../../html/paths.ts";
import { type Actor, currentActor } from "../../store/actor.ts";
import { isNavigation } from "../answer-form.ts";
import { acceptsHtml, basicChallenge, isReading, statusReply } from "../answers/errors.ts";
import { type Reply, redirect } from "../answers/reply.ts";
import type { RequestTarget, Route, RouteMatch } from "../router.ts";
import { senderOf } from "../sender.ts";
import { identifySender } from "./identify.ts";
import { isInScope } from "./scopes.ts";

/**
 * Identifies the sender of a request and checks their rights. Records refusals in the audit log, except those of senders
 * without any credentials.
 * @param who the sender's name in the audit log from an earlier check
 * @returns the refusal; undefined for an allowed request
 * @throws UserError for a link, token or proxy header that is not valid
 */
export function checkSender(
  app: App,
  request: IncomingMessage,
  target: RequestTarget,
  who?: string,
): Reply | undefined {
  try {
    identifySender(app, request, target);
  } catch (error) {
    const countedAs = error instanceof UserError ? refusalWords[error.code] : undefined;
    const actor = { who: nameOf(unauthenticated), from: senderOf(request).address };
    if (countedAs !== undefined)
      recordRefusal(app, request, target, { actor, why: errorMessage(error), countedAs });
    throw error;
  }
  const { identity, address: from } = senderOf(request);
  const refusal = refusalOf(app, request, identity, target.match);
  const known = who ?? (identity.kind === "nobody" ? undefined : nameOf(identity));
  if (refusal !== undefined && known !== undefined)
    recordRefusal(app, request, target, { actor: { who: known, from } });
  return refusal;
}

/**
 * Checks the sender's rights once more: a slow request must not outlast them.
 * @throws UserError "forbidden", or the error of a link or token that is no longer valid
 */
export async function checkStillAllowed(
  app: App,
  request: IncomingMessage,
  target: RequestTarget,
): Promise<void> {
  if (checkSender(app, request, target, currentActor().who) === undefined) return;
  throw new UserError(
    "forbidden",
    "Your rights ended while this was being sent: nothing was changed. Sign in again.",
  );
}

/** @throws UserError "not-found" for a route that needs sign-in or passwords where these are off */
export function checkNeeds({ config }: App, { needs }: Route): void {
  if (needs === undefined || acceptsPasswords(config)) return;
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

/** The message where people sign in at a proxy only. */
export const proxySignInMessage = "People sign in at the proxy in front of Platen: open its address instead.";

const maxLength = 2000;
const base = "http://platen";

/**
 * The path and query of a page to go on to after the sign-in. The dashboard for an address of another site, and for the
 * sign-in pages themselves.
 */
export function localPath(text: string | null | undefined): string {
  if (!text?.startsWith("/") || text.length > maxLength || /[\\\p{Cc}\p{Cs}]/u.test(text))
    return paths.dashboard;
  if (!URL.canParse(text, base)) return paths.dashboard;
  const { origin, pathname, search } = new URL(text, base);
  // Browsers normalize paths: `/.//host` becomes `//host`, which is another host.
  if (origin !== base || pathname.startsWith("//")) return paths.dashboard;
  const leadsBack = [paths.signIn, paths.signOut, paths.firstPassword].some((path) => path === pathname);
  return leadsBack ? paths.dashboard : pathname + search;
}

/** The page that changes a one-time password. @param next the page after it, as `localPath` returns it */
export function firstPasswordPath(next: string): string {
  const query = next === paths.dashboard ? "" : `?${new URLSearchParams({ next })}`;
  return paths.firstPassword + query;
}

/** Undefined for an allowed request. */
function refusalOf(
  { config, store }: App,
  request: IncomingMessage,
  identity: Identity,
  match: RouteMatch,
): Reply | undefined {
  // An unauthenticated sender is told to sign in for unknown addresses, too, and so learns nothing about them.
  const rule = match.kind === "route" ? match.route.rule : "viewer";
  if (mayUse(identity, rule) || isInScope(store, identity, match)) return undefined;
  if (identity.kind === "nobody") return signInReply(config, request);
  if (identity.kind === "person" && identity.mustChoosePassword)
    return redirectOrRefuse(
      request,
      firstPasswordPath(localPath(returnPathOf(request))),
      "Choose a password of your own first.",
    );
  if (identity.kind === "token")
    return statusReply(request, 403, `The token “${identity.name}” does not reach this.`);
  const hasNoAdmin = rule === "admin" && lacksAdmin(config);
  return statusReply(
    request,
    403,
    hasNoAdmin
      ? `This is the administrator’s, and nobody is: whoever runs this service sets ${adminRemedy}.`
      : "This is not yours to see or to change: ask who runs this service.",
  );
}

/** Redirects a person to the sign-in page, and tells a program to send a token. */
function signInReply(config: Config, request: IncomingMessage): Reply {
  const hasPasswords = acceptsPasswords(config);
  if (!isReading(request) && isFromPage(request)) return signedOutReply(request, hasPasswords);
  if (!hasPasswords && acceptsHtml(request)) return statusReply(request, 401, proxySignInMessage);
  const path = `${paths.signIn}?${new URLSearchParams({ next: returnPathOf(request) })}`;
  return redirectOrRefuse(request, path, "Sign in first.");
}

/** Whether a plain form or a page script sent a request. */
function isFromPage(request: IncomingMessage): boolean {
  return request.headers["hx-request"] !== undefined || isNavigation(request);
}

/** Answers a change whose sender was signed out meanwhile, so that the page keeps what they typed. */
function signedOutReply(request: IncomingMessage, hasPasswords: boolean): Reply {
  const isScript = request.headers["hx-request"] !== undefined;
  const howToResend = isScript
    ? "What you typed or chose is still here: sign in, then send it again."
    : "Sign in, then go back in the browser: it shows what you typed, and you can send it again.";
  const how = hasPasswords ? howToResend : `${proxySignInMessage} ${howToResend}`;
  const help: Help = hasPasswords ? { remedies: [{ kind: "sign-in" }] } : {};
  return statusReply(request, 401, `You are not signed in any more: nothing was saved. ${how}`, {}, help);
}

const tokenHint =
  "Programs send a token, which the administrator makes under Tokens: “Authorization: Bearer TOKEN”, or curl -u x:TOKEN.";

/** Redirects a person to another page, and tells a program why its request was refused. */
function redirectOrRefuse(request: IncomingMessage, path: string, why: string): Reply {
  const isScript = request.headers["hx-request"] !== undefined;
  const isPage = isReading(request) ? acceptsHtml(request) : isNavigation(request);
  if (isPage && !isScript) return redirect(path);
  // A page script checks a download before the browser starts it, and shows this message with the link to the sign-in.
  const help: Help = path.startsWith(`${paths.signIn}?`) ? { remedies: [{ kind: "sign-in" }] } : {};
  if (isScript) return statusReply(request, 401, why, { "HX-Redirect": path }, help);
  // Without `WWW-Authenticate` for the images and files of a page: the browser would show its own password dialog.
  const { "sec-fetch-site": site, "sec-fetch-mode": mode } = request.headers;
  const isPart = site !== undefined && mode !== "navigate";
  if (isPart) return statusReply(request, 401, why);
  return statusReply(request, 401, `${why} ${tokenHint}`, { "WWW-Authenticate": basicChallenge });
}

/** The page to return to after the sign-in: the requested one, or the one with the form that was sent. */
function returnPathOf(request: IncomingMessage): string {
  const { url = "/", headers } = request;
  if (isReading(request) && headers["hx-request"] === undefined) return url;
  const from = headers.referer ?? "";
  if (!URL.canParse(from)) return "/";
  const { pathname, search } = new URL(from);
  return pathname + search;
}

/** The audit log counts refusals of senders with wrong credentials together, under these words. */
const refusalWords: Partial<Record<ErrorCode, string>> = {
  unauthorized: "a token that does not hold",
  forbidden: "a link that does not hold, or somebody who may not use this service",
  malformed: "a name that did not come from a trusted proxy, or cannot be one",
};

const maxPathCharacters = 200;

/** Records a refusal in the audit log. @param countedAs the words under which similar refusals are counted together */
function recordRefusal(
  { store }: App,
  { method }: IncomingMessage,
  { url: { pathname }, match }: RequestTarget,
  { actor, why, countedAs }: { readonly actor: Actor; readonly why?: string; readonly countedAs?: string },
): void {
  const visible = pathname.length > maxPathCharacters ? `${pathname.slice(0, maxPathCharacters)}…` : pathname;
  // Counted by pattern, since a client can send any number of addresses.
  const pattern = match.kind === "route" ? match.route.path : "an address where nothing is";
  const line = (path: string, more?: string) => `${method} ${path}${more === undefined ? "" : `: ${more}`}`;
  store.audit.record("refused", { what: line(visible, why), countedAs: line(pattern, countedAs), actor });
}
