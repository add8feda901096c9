import type { IncomingMessage } from "node:http";
import type { Config } from "../config.ts";
import { type Identity, mayUse } from "../domain/access.ts";
import { paths } from "../html/paths.ts";
import { isPasswordTaken } from "./asker.ts";
import { statusReply, takesPages } from "./errors.ts";
import { type Reply, redirect } from "./reply.ts";
import type { Found } from "./router.ts";

/** Why somebody may not have what they ask for; undefined where they may. */
export function refusalOf(
  config: Config,
  request: IncomingMessage,
  identity: Identity,
  found: Found,
): Reply | undefined {
  // Where there is nothing, whoever is not known is told to sign in as well: they learn no address of ours.
  const rule = found.kind === "route" ? found.route.rule : "viewer";
  if (mayUse(identity, rule)) return undefined;
  if (identity.kind === "nobody") return signInReply(config, request);
  return statusReply(request, 403, "This is not yours to see or to change: ask who runs this service.");
}

/** Leads a person to where they can sign in, and tells a program what it lacks. */
function signInReply(config: Config, request: IncomingMessage): Reply {
  const isPage = request.method === "GET" && takesPages(request);
  if (isPage && !isPasswordTaken(config))
    return statusReply(
      request,
      401,
      "People sign in at the proxy in front of Platen: open its address instead.",
    );
  const path = `${paths.signIn}?${new URLSearchParams({ next: nextOf(request) })}`;
  if (isPage && request.headers["hx-request"] === undefined) return redirect(path);
  return statusReply(request, 401, "Sign in first.", {
    // Not for scripts of ours: a browser would ask for name and password in a window of its own.
    ...(request.headers["hx-request"] === undefined
      ? { "WWW-Authenticate": 'Basic realm="Platen", charset="UTF-8"' }
      : { "HX-Redirect": path }),
  });
}

/** The page to go on with: what was asked for, or what the form that was sent stands on. */
function nextOf({ method, url = "/", headers }: IncomingMessage): string {
  if (method === "GET" && headers["hx-request"] === undefined) return url;
  const from = headers.referer ?? "";
  if (!URL.canParse(from)) return "/";
  const { pathname, search } = new URL(from);
  return pathname + search;
}
