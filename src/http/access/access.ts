import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import { type Config, takesPasswords } from "../../config.ts";
import { type Identity, mayUse } from "../../domain/access.ts";
import { paths } from "../../html/paths.ts";
import { isNavigation } from "../answer-form.ts";
import { statusReply, takesPages } from "../answers/errors.ts";
import { type Reply, redirect } from "../answers/reply.ts";
import type { Found } from "../router.ts";
import { isReached } from "./reach.ts";

/** Why somebody may not have what they ask for; undefined where they may. */
export function refusalOf(
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
    return elsewhereReply(request, paths.firstPassword, "Choose a password of your own first.");
  if (identity.kind === "token")
    return statusReply(request, 403, `The token “${identity.name}” does not reach this.`);
  return statusReply(request, 403, "This is not yours to see or to change: ask who runs this service.");
}

/** Leads a person to where they can sign in, and tells a program what it lacks. */
function signInReply(config: Config, request: IncomingMessage): Reply {
  if (!takesPasswords(config) && takesPages(request)) {
    return statusReply(
      request,
      401,
      "People sign in at the proxy in front of Platen: open its address instead.",
    );
  }
  const path = `${paths.signIn}?${new URLSearchParams({ next: nextOf(request) })}`;
  return elsewhereReply(request, path, "Sign in first.");
}

/** A person goes on to another page first; a program is told why. */
function elsewhereReply(request: IncomingMessage, path: string, why: string): Reply {
  const isScript = request.headers["hx-request"] !== undefined;
  const isPage = isReading(request) ? takesPages(request) : isNavigation(request);
  if (isPage && !isScript) return redirect(path);
  if (isScript) return statusReply(request, 401, why, { "HX-Redirect": path });
  // Not for what a page of ours loads: the browser would ask for name and password in a window of its own.
  const { "sec-fetch-site": site, "sec-fetch-mode": mode } = request.headers;
  const isPart = site !== undefined && mode !== "navigate";
  const challenge = { "WWW-Authenticate": 'Basic realm="Platen", charset="UTF-8"' };
  return statusReply(request, 401, why, isPart ? {} : challenge);
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

function isReading({ method }: IncomingMessage): boolean {
  return method === "GET" || method === "HEAD";
}
