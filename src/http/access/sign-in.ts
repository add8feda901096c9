import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import { acceptsPasswords, type Config, hasSessions, needsSignIn } from "../../config.ts";
import { browserOf } from "../../domain/access/browser.ts";
import type { UserError } from "../../domain/errors.ts";
import { firstPasswordPage, type SignInForm, signInPage } from "../../html/access/sign-in.ts";
import { emptyForm } from "../../html/form.ts";
import { paths } from "../../html/paths.ts";
import { deviceCookieMs, type SignInOrigin, TooManyAttempts } from "../../services/access/sign-in.ts";
import { sentForm, trySave } from "../answer-form.ts";
import { refusedPage, statusOf, statusReply } from "../answers/errors.ts";
import { htmlReply, type Reply, redirect, type TextReply } from "../answers/reply.ts";
import { pageContextOf } from "../page-context.ts";
import { readForm } from "../requests/forms.ts";
import type { Context } from "../router.ts";
import { senderOf } from "../sender.ts";
import { firstPasswordPath, localPath, proxySignInMessage } from "./access.ts";
import { cookieOf, isSecure, sessionCookie, setCookie } from "./cookies.ts";

/** `GET /sign-in`, with `?next=` for the page after it, and `?signed-out=1` after `POST /sign-out` */
export function show({ app, request, url }: Context): Reply {
  const next = localPath(url.searchParams.get("next"));
  if (!needsSignIn(app.config) || senderOf(request).identity.kind === "person") return redirect(next);
  if (!hasSessions(app.config)) return statusReply(request, 401, proxySignInMessage);
  const isSignedOut = app.oidc !== undefined && url.searchParams.has("signed-out");
  const signedOut = isSignedOut ? { providerUrl: app.oidc?.signOutUrl() } : undefined;
  return signInPageReply(app, request, { next, signedOut }, 200);
}

/** `POST /sign-in` */
export async function signIn({ app, request }: Context): Promise<Reply> {
  const { name = "", password = "", next: sent } = await readForm(request);
  const next = localPath(sent);
  const from = originFor(request, app.config);
  const { value, error } = await trySave(() => app.signIn.signIn({ name, password }, from));
  if (error !== undefined) return refusedSignIn(app, request, { name, next }, error);
  const cookies = [
    sessionCookie(request, app.config, value.cookie),
    setCookie(request, app.config, { name: "platen-device", value: value.device, ms: deviceCookieMs }),
  ];
  return redirect(value.account.hasOneTimePassword ? firstPasswordPath(next) : next, cookies);
}

export function originFor(request: IncomingMessage, config: Config): SignInOrigin {
  return {
    address: senderOf(request).address,
    browser: browserOf(request.headers["user-agent"]),
    device: cookieOf(request, config, "platen-device"),
    session: cookieOf(request, config, "platen"),
  };
}

/** The sign-in page with the reason of a refusal. */
export function refusedSignIn(
  app: App,
  request: IncomingMessage,
  form: Pick<SignInForm, "name" | "next">,
  error: UserError,
): Reply {
  const reply = signInPageReply(app, request, { ...form, problem: error.message }, statusOf(error));
  if (!(error instanceof TooManyAttempts)) return { ...reply, refusal: error.message };
  const headers = { "Retry-After": String(error.seconds) };
  return { ...reply, refusal: "Too many attempts to sign in.", headers };
}

/** `POST /sign-out` */
export async function signOut({ app, request }: Context): Promise<Reply> {
  const { signedIn, address } = senderOf(request);
  if (signedIn !== undefined) await app.signIn.signOut(signedIn.session, signedIn.account.name, address);
  const isAtProvider = signedIn !== undefined && signedIn.account.issuer !== "";
  const path = isAtProvider ? `${paths.signIn}?signed-out=1` : paths.signIn;
  return redirect(path, [sessionCookie(request, app.config)]);
}

/** `GET /sign-in/password`, with `?next=` for the page after it */
export function showFirstPassword({ request, url }: Context): Reply {
  const signedIn = senderOf(request).signedIn;
  if (signedIn === undefined) return redirect(paths.signIn);
  if (!signedIn.account.hasOneTimePassword) return redirect(paths.account);
  return htmlReply(
    firstPasswordPage(pageContextOf(request), emptyForm, localPath(url.searchParams.get("next"))),
  );
}

/** `POST /sign-in/password` */
export async function changeFirstPassword({ app, request }: Context): Promise<Reply> {
  const signedIn = senderOf(request).signedIn;
  if (signedIn === undefined) return redirect(paths.signIn);
  if (!signedIn.account.hasOneTimePassword) return redirect(paths.account);
  const form = await readForm(request);
  const saved = await trySave(() => app.signIn.changePassword(signedIn, form));
  const next = localPath(form.next);
  if (saved.error === undefined) return redirect(next, [sessionCookie(request, app.config, saved.value)]);
  return refusedPage(firstPasswordPage(pageContextOf(request), sentForm({}, saved.error), next), saved.error);
}

function signInPageReply(
  { config, oidc }: App,
  request: IncomingMessage,
  form: Pick<SignInForm, "name" | "next" | "problem" | "signedOut">,
  status: number,
): TextReply {
  const { publicUrl } = config;
  // Browsers keep `Secure` cookies only over https, so sign-in works only there if PUBLIC_URL is https.
  const { scheme, host } = senderOf(request);
  const keepsCookies = scheme === "https" || !isSecure(request, config);
  const isWrongAddress = !keepsCookies && publicUrl !== undefined && new URL(publicUrl).host !== host;
  const rightAddress = isWrongAddress ? publicUrl : undefined;
  const ways = { hasPasswords: acceptsPasswords(config), provider: oidc?.provider };
  return htmlReply(signInPage(pageContextOf(request), { ...form, ...ways, rightAddress }), status);
}
