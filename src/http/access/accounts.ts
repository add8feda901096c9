import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import { acceptsPasswords } from "../../config.ts";
import { adminName, parseAccount, parseAccountRole } from "../../domain/access/account.ts";
import { UserError } from "../../domain/errors.ts";
import { accountDetailsPage, accountsPage, type OneTimePassword } from "../../html/access/accounts.ts";
import { emptyForm, type FormState } from "../../html/form.ts";
import { type Html, html } from "../../html/html.ts";
import type { Message } from "../../html/layout.ts";
import { paths } from "../../html/paths.ts";
import { sentForm, trySave } from "../answer-form.ts";
import { refusedPage } from "../answers/errors.ts";
import { htmlReply, type Reply, redirect } from "../answers/reply.ts";
import { doneMessage, pageContextOf } from "../page-context.ts";
import { readForm } from "../requests/forms.ts";
import type { Context, RequestContext } from "../router.ts";
import { senderOf } from "../sender.ts";
import { withQuery } from "../undo-message.ts";

/** `GET /accounts` */
export function index({ app, request, url }: Context): Reply {
  return htmlReply(listPage(app, request, { form: emptyForm, message: deletedMessage(app, url) }));
}

function deletedMessage({ results }: App, url: URL): Message | undefined {
  const gone = results.find("account", url.searchParams.get("deleted"));
  return gone && { tone: "good", text: html`Deleted: account “<bdi>${gone.name}</bdi>”.` };
}

function listPage(
  app: App,
  request: IncomingMessage,
  {
    message,
    ...rest
  }: { readonly form: FormState; readonly made?: OneTimePassword; readonly message?: Message | undefined },
): Html {
  const hasPasswords = acceptsPasswords(app.config);
  // The administrator's account signs in with a password only: without passwords, it is of no use.
  const accounts = app.store.accounts.list().filter(({ name }) => hasPasswords || name !== adminName);
  return accountsPage(pageContextOf(request, message), {
    accounts,
    sessionsOf: (id) => app.store.sessions.ofAccount(id).length,
    hasPasswords,
    hasProxy: app.config.proxies.userHeader !== undefined,
    now: app.clock(),
    ...rest,
  });
}

/** `POST /accounts`. Only this response shows the one-time password. */
export async function create({ app, request }: Context): Promise<Reply> {
  const form = await readForm(request);
  const { error, value: made } = await trySave(async () => {
    const { name, role } = parseAccount(form);
    if (!acceptsPasswords(app.config)) return { id: await app.store.accounts.add(name, role) };
    const { password, hash } = await app.passwords.makeOneTime();
    await app.store.accounts.add(name, role, hash);
    return { name, password };
  });
  if (error !== undefined) return refusedPage(listPage(app, request, { form: sentForm(form, error) }), error);
  // Without passwords, there is no one-time password to show.
  if ("id" in made) return redirect(`${paths.accountOf(made.id)}?done=made`);
  return htmlReply(listPage(app, request, { form: emptyForm, made }));
}

/** `GET /accounts/{id}` */
export function show(context: Context<"id">): Reply {
  return htmlReply(pageOf(context));
}

function pageOf(
  { app, request, url, id }: RequestContext & { readonly id: number },
  password?: string,
): Html {
  const account = app.store.accounts.get(id);
  const name = html`“<bdi>${account.name}</bdi>”`;
  const message = doneMessage(url, {
    made: html`Account ${name} was added. It applies from the user’s next request.`,
    ended: html`Ended: all sessions and links of ${name}.`,
    role: html`${name} is now ${account.role === "viewer" ? "a" : "an"} ${account.role}.`,
    // Anyone can type `?done=disabled` into the address bar. The message appears only if it is true.
    ...(account.isDisabled
      ? { disabled: html`Disabled: account ${name}.` }
      : { enabled: html`Enabled: account ${name}.` }),
  });
  return accountDetailsPage(pageContextOf(request, message), {
    account,
    sessionCount: app.store.sessions.ofAccount(id).length,
    hasPasswords: acceptsPasswords(app.config),
    now: app.clock(),
    made: password === undefined ? undefined : { name: account.name, password },
  });
}

/** `POST /accounts/{id}` */
export async function setRole({ app, request, id }: Context<"id">): Promise<Reply> {
  await app.store.accounts.setRole(id, parseAccountRole(await readForm(request)));
  return redirect(`${paths.accountOf(id)}?done=role`);
}

/** `POST /accounts/{id}/password`. Only this response shows the one-time password. */
export async function resetPassword(context: Context<"id">): Promise<Reply> {
  const { app, id } = context;
  const { password, hash } = await app.passwords.makeOneTime();
  await app.store.accounts.setOneTimePassword(id, hash);
  return htmlReply(pageOf(context, password));
}

/** `POST /accounts/{id}/disable` */
export async function disable({ app, request, id }: Context<"id">): Promise<Reply> {
  const { identity } = senderOf(request);
  if (identity.kind === "person" && identity.account === id)
    throw new UserError("forbidden", "You cannot disable your own account. Ask another administrator.");
  await app.store.accounts.setDisabled(id, true);
  return redirect(`${paths.accountOf(id)}?done=disabled`);
}

/** `POST /accounts/{id}/sessions/end` */
export async function endAccess({ app, id }: Context<"id">): Promise<Reply> {
  await app.store.accounts.endAccess(id);
  return redirect(`${paths.accountOf(id)}?done=ended`);
}

/** `POST /accounts/{id}/enable` */
export async function enable({ app, id }: Context<"id">): Promise<Reply> {
  await app.store.accounts.setDisabled(id, false);
  return redirect(`${paths.accountOf(id)}?done=enabled`);
}

/** `DELETE /accounts/{id}`, and `POST /accounts/{id}/delete` */
export async function remove({ app, id }: Context<"id">): Promise<Reply> {
  const { name } = app.store.accounts.get(id);
  await app.store.accounts.remove(id);
  return redirect(withQuery(paths.accounts, "deleted", app.results.remember({ kind: "account", name })));
}
