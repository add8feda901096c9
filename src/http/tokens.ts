import type { App } from "../app.ts";
import { nameOf, type Scope } from "../domain/access.ts";
import type { FormInput } from "../domain/fields.ts";
import { scopeIn, scopeText, usualTokenDays } from "../domain/token.ts";
import type { FormState } from "../html/form.ts";
import { html } from "../html/html.ts";
import type { Message } from "../html/layout.ts";
import { paths } from "../html/paths.ts";
import { type MadeToken, type TokenList, tokensPage } from "../html/tokens.ts";
import { senderOf } from "./access/sender.ts";
import { saving, sentForm } from "./answer-form.ts";
import { statusOf } from "./answers/errors.ts";
import { htmlReply, type Reply, redirect } from "./answers/reply.ts";
import { doneMessage } from "./done-message.ts";
import { frameOf } from "./frame.ts";
import { readForm } from "./requests/forms.ts";
import type { Context, RequestContext } from "./router.ts";
import { withQuery } from "./undo.ts";

/** `GET /tokens`, with `?scope=printer:7` for a token of that printer. Without sign-in nothing needs one: it is not there. */
export function index(context: Context): Reply {
  const { url } = context;
  const scope = url.searchParams.get("scope") ?? "read";
  const message =
    revokedMessage(context) ??
    doneMessage(url, {
      again:
        "This form was sent before: no second token was made. The text of the first is shown no more; where it is lost, revoke it and make another.",
    });
  return pageReply(context, {
    form: { values: { scope, days: String(usualTokenDays) }, problems: {} },
    message,
  });
}

function revokedMessage({ app, url }: Context): Message | undefined {
  const gone = app.outcomes.find("revoked", url.searchParams.get("revoked"));
  if (gone === undefined) return undefined;
  return {
    tone: "good",
    text: html`The token “<bdi>${gone.name}</bdi>” is revoked, with the links that it fetched.`,
  };
}

/** `POST /tokens`: the answer shows the new token, which no address does. */
export async function create(context: Context): Promise<Reply> {
  const { app, request } = context;
  const form = await readForm(request);
  const by = nameOf(senderOf(request).identity);
  const made = await saving(() => app.once.make(form.once, () => app.tokens.add(form, by)));
  if (made.error !== undefined)
    return pageReply(context, { form: sentForm(form, made.error) }, statusOf(made.error));
  if (made.value === undefined) return redirect(`${paths.tokens}?done=again`);
  const { name } = app.store.tokens.get(made.value.id);
  const empty: FormInput = { days: String(usualTokenDays) };
  return pageReply(context, {
    form: { values: empty, problems: {} },
    made: { name, text: made.value.text },
  });
}

/** `DELETE /tokens/{id}`, and `POST /tokens/{id}/delete` */
export async function revoke({ app, id }: Context<"id">): Promise<Reply> {
  const { name } = app.store.tokens.get(id);
  await app.store.tokens.remove(id);
  return redirect(withQuery(paths.tokens, "revoked", app.outcomes.remember({ kind: "revoked", name })));
}

interface Shown {
  readonly form: FormState;
  readonly made?: MadeToken;
  readonly message?: Message | undefined;
}

function pageReply(
  { app, request, url }: RequestContext,
  { form, made, message }: Shown,
  status = 200,
): Reply {
  const list: TokenList = {
    tokens: app.tokens.list().map((token) => ({ token, reaches: reachOf(app, token.scope) })),
    now: app.tokens.now(),
    once: app.once.name(),
    clients: app.store.clients.names(),
    printers: printersOffered(app, url),
  };
  return htmlReply(tokensPage(frameOf(request, message), list, form, made), status);
}

/** So many printers are offered by name; any other one from its page. */
const mostOffered = 500;

function printersOffered({ store }: App, { searchParams }: URL): TokenList["printers"] {
  const offered = store.printers.names(mostOffered);
  const scope = scopeIn(searchParams.get("scope") ?? "");
  const asked = scope?.kind === "printer" ? store.printers.find(scope.id) : undefined;
  if (asked === undefined || offered.some(({ id }) => id === asked.printer.id)) return offered;
  const { printer, client } = asked;
  return [{ id: printer.id, name: printer.name, client: client?.name }, ...offered];
}

function reachOf({ store }: App, scope: Scope): string {
  if (scope.kind === "read") return scopeText(scope);
  const found = scope.kind === "printer" ? store.printers.find(scope.id) : undefined;
  const name =
    found?.printer.name ?? (scope.kind === "client" ? store.clients.find(scope.id)?.name : undefined);
  const of = found?.client && ` of “${found.client.name}”`;
  return scopeText(scope, `“${name ?? `${scope.id}, which is gone`}”${of ?? ""}`);
}
