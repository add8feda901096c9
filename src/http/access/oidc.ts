import { UserError } from "../../domain/errors.ts";
import { paths } from "../../html/paths.ts";
import type { Oidc } from "../../services/access/oidc.ts";
import { oidcFlowMs } from "../../services/access/oidc.ts";
import { deviceCookieMs } from "../../services/access/sign-in.ts";
import { trySignIn } from "../answer-form.ts";
import { type Reply, redirect } from "../answers/reply.ts";
import type { Context } from "../router.ts";
import { senderOf } from "../sender.ts";
import { localPath } from "./access.ts";
import { cookieOf, sessionCookie, setCookie } from "./cookies.ts";
import { originFor, refusedSignIn } from "./sign-in.ts";

/** `GET /sign-in/oidc`, with `?next=` for the page after it: sends the browser to the provider. */
export async function begin({ app, request, url }: Context): Promise<Reply> {
  const next = localPath(url.searchParams.get("next"));
  const begun = await trySignIn(() => requireOidc(app.oidc).begin(next, senderOf(request).address));
  if (begun.error !== undefined) return refusedSignIn(app, request, { next }, begun.error);
  const { cookie, location } = begun.value;
  const flow = { name: "platen-oidc", value: cookie, ms: oidcFlowMs } as const;
  return redirect(location, [setCookie(request, app.config, flow)]);
}

/** `GET /sign-in/oidc/callback`: the provider sends the browser back. */
export async function finish({ app, request, url }: Context): Promise<Reply> {
  const { config } = app;
  const flow = cookieOf(request, config, "platen-oidc");
  const from = originFor(request, config);
  const { value, error } = await trySignIn(() => requireOidc(app.oidc).finish(url.searchParams, flow, from));
  if (error !== undefined) return refusedSignIn(app, request, { next: paths.dashboard }, error);
  return redirect(localPath(value.next), [
    sessionCookie(request, config, value.cookie, config.oidcSessionHours * 3_600_000),
    setCookie(request, config, { name: "platen-device", value: value.device, ms: deviceCookieMs }),
    setCookie(request, config, { name: "platen-oidc", value: "", ms: 0 }),
  ]);
}

/** For the types: without OIDC the routes do not exist. */
function requireOidc(oidc: Oidc | undefined): Oidc {
  if (oidc === undefined) throw new UserError("not-found", "OIDC is not set up.");
  return oidc;
}
