import { UserError } from "../../domain/errors.ts";
import { paths } from "../../html/paths.ts";
import type { Oidc } from "../../services/access/oidc.ts";
import { oidcFlowMs, oidcSessionMs } from "../../services/access/oidc.ts";
import { trySignIn } from "../answer-form.ts";
import { statusOf } from "../answers/errors.ts";
import { type Reply, redirect } from "../answers/reply.ts";
import type { Context } from "../router.ts";
import { senderOf } from "../sender.ts";
import { localPath } from "./access.ts";
import { cookieOf, setCookie } from "./cookies.ts";
import { signInPageReply } from "./sign-in.ts";

/** `GET /sign-in/oidc`, with `?next=` for the page after it: sends the browser to the provider. */
export async function begin({ app, request, url }: Context): Promise<Reply> {
  const next = localPath(url.searchParams.get("next"));
  const begun = await trySignIn(() => required(app.oidc).begin(next, senderOf(request).address));
  if (begun.error !== undefined) return refused({ app, request }, next, begun.error);
  const { cookie, location } = begun.value;
  const flow = { name: "platen-oidc", value: cookie, ms: oidcFlowMs } as const;
  return redirect(location, [setCookie(request, app.config, flow)]);
}

/** `GET /sign-in/oidc/callback`: the provider sends the browser back. */
export async function finish({ app, request, url }: Context): Promise<Reply> {
  const oidc = required(app.oidc);
  const cookie = cookieOf(request, app.config, "platen-oidc");
  const { address, signedIn, oidcCookie } = senderOf(request);
  const finished = await trySignIn(() => oidc.finish(url.searchParams, cookie, address));
  if (finished.error !== undefined) return refused({ app, request }, paths.dashboard, finished.error);
  // The new session replaces the one that this browser had.
  if (oidcCookie !== undefined) oidc.end(oidcCookie);
  if (signedIn !== undefined) await app.signIn.signOut(signedIn.session, signedIn.account.name, address);
  const session = { name: "platen", value: finished.value.cookie, ms: oidcSessionMs } as const;
  const flow = { name: "platen-oidc", value: "", ms: 0 } as const;
  return redirect(localPath(finished.value.next), [
    setCookie(request, app.config, session),
    setCookie(request, app.config, flow),
  ]);
}

function refused({ app, request }: Pick<Context, "app" | "request">, next: string, error: UserError): Reply {
  const page = signInPageReply(app, request, { next, problem: error.message }, statusOf(error));
  return { ...page, refusal: error.message };
}

/** For the types: without OIDC the routes do not exist. */
function required(oidc: Oidc | undefined): Oidc {
  if (oidc === undefined) throw new UserError("not-found", "OIDC is not set up.");
  return oidc;
}
