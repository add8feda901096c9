import type { IncomingMessage } from "node:http";
import type { App } from "../app.ts";
import { type Account, parseAccount, parseAccountRole } from "../domain/account.ts";
import { accountOfPage, accountsPage, type OneTimePassword } from "../html/accounts.ts";
import { emptyForm, type FormState } from "../html/form.ts";
import type { Html } from "../html/html.ts";
import type { Message } from "../html/layout.ts";
import { paths } from "../html/paths.ts";
import { saving, sentForm } from "./answer-form.ts";
import { statusOf } from "./answers/errors.ts";
import { htmlReply, type Reply, redirect } from "./answers/reply.ts";
import { frameOf } from "./frame.ts";
import { readForm } from "./requests/forms.ts";
import type { Context } from "./router.ts";
import { requireSignIn } from "./sign-in.ts";

const messages: Readonly<Record<string, string>> = {
  role: "The role is saved, and counts from the next click.",
  disabled: "The account is disabled and signed out.",
  enabled: "The account can sign in again.",
  deleted: "The account is deleted.",
};

function messageIn(url: URL): Message | undefined {
  const text = messages[url.searchParams.get("done") ?? ""];
  return text === undefined ? undefined : { tone: "good", text };
}

/** `GET /accounts` */
export function index({ app, request, url }: Context): Reply {
  requireSignIn(app);
  return htmlReply(listPage(app, request, { form: emptyForm, message: messageIn(url) }));
}

function listPage(
  app: App,
  request: IncomingMessage,
  {
    message,
    ...rest
  }: { readonly form: FormState; readonly made?: OneTimePassword; readonly message?: Message | undefined },
): Html {
  const accounts = app.store.accounts.list().map((account) => listed(app, account));
  return accountsPage(frameOf(request, message), { accounts, now: app.sessions.now(), ...rest });
}

function listed({ sessions }: App, account: Account) {
  return { account, seenAt: sessions.lastSeen(account) };
}

/** `POST /accounts`: the answer itself shows the one-time password, which no other address ever does. */
export async function create({ app, request }: Context): Promise<Reply> {
  requireSignIn(app);
  const form = await readForm(request);
  const saved = await saving(async () => {
    const { name, role } = parseAccount(form);
    return { name, ...(await app.accounts.add(name, role)) };
  });
  const { error, value: made } = saved;
  if (error === undefined) return htmlReply(listPage(app, request, { form: emptyForm, made }));
  return htmlReply(listPage(app, request, { form: sentForm(form, error) }), statusOf(error));
}

/** `GET /accounts/{id}` */
export function show({ app, request, id, url }: Context<"id">): Reply {
  requireSignIn(app);
  return htmlReply(pageOf(app, request, id, { message: messageIn(url) }));
}

function pageOf(
  app: App,
  request: IncomingMessage,
  id: number,
  { message, made }: { readonly message?: Message | undefined; readonly made?: OneTimePassword },
): Html {
  const account = listed(app, app.store.accounts.get(id));
  return accountOfPage(frameOf(request, message), { ...account, now: app.sessions.now(), made });
}

/** `POST /accounts/{id}` */
export async function setRole({ app, request, id }: Context<"id">): Promise<Reply> {
  requireSignIn(app);
  await app.store.accounts.setRole(id, parseAccountRole(await readForm(request)));
  return redirect(`${paths.accountOf(id)}?done=role`);
}

/** `POST /accounts/{id}/password`: as for a new account, the answer itself shows it. */
export async function resetPassword({ app, request, id }: Context<"id">): Promise<Reply> {
  requireSignIn(app);
  const password = await app.accounts.resetPassword(id);
  const { name } = app.store.accounts.get(id);
  return htmlReply(pageOf(app, request, id, { made: { name, password } }));
}

/** `POST /accounts/{id}/disable` */
export async function disable({ app, id }: Context<"id">): Promise<Reply> {
  requireSignIn(app);
  await app.store.accounts.setDisabled(id, true);
  return redirect(`${paths.accountOf(id)}?done=disabled`);
}

/** `POST /accounts/{id}/enable` */
export async function enable({ app, id }: Context<"id">): Promise<Reply> {
  requireSignIn(app);
  await app.store.accounts.setDisabled(id, false);
  return redirect(`${paths.accountOf(id)}?done=enabled`);
}

/** `DELETE /accounts/{id}`, and `POST /accounts/{id}/delete` */
export async function remove({ app, id }: Context<"id">): Promise<Reply> {
  requireSignIn(app);
  await app.store.accounts.remove(id);
  return redirect(`${paths.accounts}?done=deleted`);
}
