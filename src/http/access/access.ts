import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import {
  acceptsPasswords,
  adminRemedy,
  type Config,
  hasSessions,
  lacksAdmin,
  needsSignIn,
} from "../../config.ts";
import { type Identity, mayUse, nameOf, roleOf, unauthenticated } from "../../domain/access/access.ts";
import { type Help, UserError } from "../../domain/errors.ts";
import { paths } from "../../html/paths.ts";
import { type Actor, currentActor } from "../../store/actor.ts";
import { isNavigation } from "../answer-form.ts";
import { acceptsHtml, basicChallenge, isReading, requestLine, statusReply } from "../answers/errors.ts";
import { type Reply, redirect } from "../answers/reply.ts";
import type { RequestTarget, Route, RouteMatch } from "../router.ts";
import { recordIdentity, senderOf } from "../sender.ts";
import { identifySender } from "./identify.ts";
import { isInScope } from "./scopes.ts";

/**
 * Identifies the sender of a request and checks their rights. Records refusals in the audit log, except of senders
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
    recordIdentity(request, identifySender(app, request, target));
  } catch (error) {
    const actor = { who: nameOf(unauthenticated), from: senderOf(request).address };
    if (error instanceof UserError) recordRefusal(app, request, actor, error.message);
    throw error;
  }
  const { identity, address: from } = senderOf(request);
  const refusal = refusalOf(app, request, identity, target.match);
  const known = who ?? (identity.kind === "nobody" ? undefined : nameOf(identity));
  if (refusal !== undefined && known !== undefined) recordRefusal(app, request, { who: known, from });
  return refusal;
}

/**
 * Checks the sender's rights again, because they may end during a slow request.
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
    "Your access ended during the request. Nothing was changed. Sign in again.",
  );
}

/** Whether what a route needs is switched on, and the message if it is not. */
const needed: Readonly<
  Record<NonNullable<Route["needs"]>, readonly [isOn: (config: Config) => boolean, message: string]>
> = {
  "sign-in": [needsSignIn, "Sign-in is turned off. Set ADMIN_PASSWORD_FILE to turn it on."],
  sessions: [hasSessions, "Sign in at your organization’s proxy. Platen has no passwords."],
  passwords: [acceptsPasswords, "Platen has no passwords. Sign in at your organization’s proxy or provider."],
  oidc: [
    ({ oidc }) => oidc !== undefined,
    "Sign-in with OpenID Connect is turned off. Set OIDC_ISSUER to turn it on.",
  ],
  metrics: [({ hasMetrics }) => hasMetrics, "Metrics are turned off. Set METRICS=on to turn them on."],
};

/** @throws UserError "not-found" for a route that needs what is switched off */
export function checkNeeds({ config }: App, { needs }: Route): void {
  if (needs === undefined || needed[needs][0](config)) return;
  // Where nobody signs in, the message about one way to sign in would mislead.
  const missing = needs === "metrics" || needsSignIn(config) ? needs : "sign-in";
  throw new UserError("not-found", needed[missing][1]);
}

/** The message where people sign in at a proxy only. */
export const proxySignInMessage = "Sign in at your organization’s proxy: open Platen at its address.";

const maxPathLength = 2000;
const base = "http://platen";

/** The path and query of the page after sign-in: the dashboard instead of another site's page or a sign-in page. */
export function localPath(text: string | null | undefined): string {
  if (!text?.startsWith("/") || text.length > maxPathLength || /[\\\p{Cc}\p{Cs}]/u.test(text))
    return paths.dashboard;
  if (!URL.canParse(text, base)) return paths.dashboard;
  const { origin, pathname, search } = new URL(text, base);
  // Browsers normalize paths: `/.//host` becomes `//host`, which is another host.
  if (origin !== base || pathname.startsWith("//")) return paths.dashboard;
  const isSignIn = [paths.signIn, paths.signOut].some(
    (path) => pathname === path || pathname.startsWith(`${path}/`),
  );
  return isSignIn ? paths.dashboard : pathname + search;
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
  // Unauthenticated senders must sign in even for unknown addresses, so that they do not learn which addresses exist.
  const rule = match.kind === "route" ? match.route.rule : "viewer";
  if (mayUse(identity, rule) || isInScope(store, identity, match)) return undefined;
  if (identity.kind === "nobody") return signInReply(config, request);
  if (identity.kind === "person" && identity.mustChoosePassword)
    return redirectOrRefuse(
      request,
      firstPasswordPath(localPath(returnPathOf(request))),
      "Change your one-time password first.",
    );
  if (identity.kind === "token")
    return statusReply(request, 403, `The token “${identity.name}” does not allow this. Check its access.`);
  const hasNoAdmin = rule === "admin" && lacksAdmin(config);
  return statusReply(
    request,
    403,
    hasNoAdmin
      ? `Only administrators have access, and none is set up. Set ${adminRemedy}.`
      : noAccessMessage(identity),
  );
}

/** Links have no role. */
function noAccessMessage(identity: Identity): string {
  const role = roleOf(identity);
  const reason =
    role === undefined ? "You have no access to this." : `Your role (${role}) does not allow this.`;
  return `${reason} Ask your administrator.`;
}

/** Redirects a person to the sign-in page, and tells a program to send a token. */
function signInReply(config: Config, request: IncomingMessage): Reply {
  const hasPage = hasSessions(config);
  if (!isReading(request) && isFromPage(request)) return signedOutReply(request, hasPage);
  if (!hasPage && acceptsHtml(request)) return statusReply(request, 401, proxySignInMessage);
  const path = `${paths.signIn}?${new URLSearchParams({ next: returnPathOf(request) })}`;
  return redirectOrRefuse(request, path, "Sign in first.");
}

/** Whether a plain form or a page script sent a request. */
function isFromPage(request: IncomingMessage): boolean {
  return request.headers["hx-request"] !== undefined || isNavigation(request);
}

/** Answers a form or page script whose sender is no longer signed in. The page keeps what they typed. */
function signedOutReply(request: IncomingMessage, hasPage: boolean): Reply {
  const isScript = request.headers["hx-request"] !== undefined;
  const howToResend = isScript
    ? "Your input is still here. Sign in and send it again."
    : "Sign in, go back in the browser, and send your input again.";
  const how = hasPage ? howToResend : `${proxySignInMessage} ${howToResend}`;
  const help: Help = hasPage ? { remedies: [{ kind: "sign-in" }] } : {};
  return statusReply(request, 401, `Your session ended. Nothing was saved. ${how}`, {}, help);
}

const tokenHint =
  "Scripts send a token: “Authorization: Bearer TOKEN”, or curl -u x:TOKEN. Administrators create tokens under Tokens.";

/** Redirects a person to another page, and tells a program why its request was refused. */
function redirectOrRefuse(request: IncomingMessage, path: string, why: string): Reply {
  const isScript = request.headers["hx-request"] !== undefined;
  const isPage = isReading(request) ? acceptsHtml(request) : isNavigation(request);
  if (isPage && !isScript) return redirect(path);
  // Before a download, a page script sends a request to check it, and shows this message with a link to the sign-in.
  const help: Help = path.startsWith(`${paths.signIn}?`) ? { remedies: [{ kind: "sign-in" }] } : {};
  if (isScript) return statusReply(request, 401, why, { "HX-Redirect": path }, help);
  // No `WWW-Authenticate` for a page's images and files, because the browser would show its own password dialog.
  const { "sec-fetch-site": site, "sec-fetch-mode": mode } = request.headers;
  if (site !== undefined && mode !== "navigate") return statusReply(request, 401, why);
  return statusReply(request, 401, `${why} ${tokenHint}`, { "WWW-Authenticate": basicChallenge });
}

/** The page to return to after sign-in: the requested page, or the page with the form that was sent. */
function returnPathOf(request: IncomingMessage): string {
  const { url = "/", headers } = request;
  if (isReading(request) && headers["hx-request"] === undefined) return url;
  const from = headers.referer ?? "";
  if (!URL.canParse(from)) return "/";
  const { pathname, search } = new URL(from);
  return pathname + search;
}

/** Records a refusal in the audit log. */
function recordRefusal({ store }: App, request: IncomingMessage, actor: Actor, why?: string): void {
  const line = requestLine(request);
  store.audit.record("refused", { what: why === undefined ? line : `${line}: ${why}`, actor });
}
