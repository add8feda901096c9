import type { App } from "../../app.ts";
import { nameOf, type Scope } from "../../domain/access/access.ts";
import { scopeIn, scopeText, usualTokenDays } from "../../domain/access/token.ts";
import { type MadeToken, type TokenList, tokensPage } from "../../html/access/tokens.ts";
import type { FormState } from "../../html/form.ts";
import { html } from "../../html/html.ts";
import type { Message } from "../../html/layout.ts";
import { paths } from "../../html/paths.ts";
import { saving, sentForm } from "../answer-form.ts";
import { statusOf } from "../answers/errors.ts";
import { htmlReply, type Reply, redirect } from "../answers/reply.ts";
import { frameOf } from "../page-context.ts";
import { readForm } from "../requests/forms.ts";
import type { Context, RequestContext } from "../router.ts";
import { senderOf } from "../sender.ts";
import { withQuery } from "../undo-message.ts";

/** `GET /tokens`, with `?scope=printer:7` for a token of that printer. Without sign-in nothing needs one: it is not there. */
export function index(context: Context): Reply {
  const { app, url } = context;
  const scope = url.searchParams.get("scope") ?? "read";
  const gone = app.outcomes.find("revoked", url.searchParams.get("revoked"));
  const text = gone && html`The token “<bdi>${gone.name}</bdi>” is revoked, with the links that it fetched.`;
  return pageReply(context, { form: newForm(scope), message: text && { tone: "good", text } });
}

/** A form that nobody has filled in. */
function newForm(scope: string): FormState {
  return { values: { scope, days: String(usualTokenDays) }, problems: {} };
}

/** `POST /tokens`: the answer shows the new token, which no address does. */
export async function create(context: Context): Promise<Reply> {
  const { app, request } = context;
  const form = await readForm(request);
  const by = nameOf(senderOf(request).identity);
  const { error, value } = await saving(() => app.tokens.add(form, by));
  if (error !== undefined) return pageReply(context, { form: sentForm(form, error) }, statusOf(error));
  const { name } = app.store.tokens.get(value.id);
  return pageReply(context, { form: newForm("read"), made: { name, text: value.text } });
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
    tokens: app.store.tokens.list().map((token) => ({ token, reaches: reachOf(app, token.scope) })),
    now: app.clock(),
    clients: app.store.clients.names(),
    printers: printersOffered(app, url),
  };
  return htmlReply(tokensPage(frameOf(request, message), list, form, made), status);
}

/** So many printers are offered by name; any other one from its page. */
const maxOffered = 500;

function printersOffered({ store }: App, { searchParams }: URL): TokenList["printers"] {
  const offered = store.printers.names(maxOffered);
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
