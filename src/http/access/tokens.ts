import type { App } from "../../app.ts";
import { nameOf, type Scope } from "../../domain/access/access.ts";
import { defaultTokenDays, parseScope, scopeText } from "../../domain/access/token.ts";
import { type MadeToken, type TokenList, tokensPage } from "../../html/access/tokens.ts";
import type { FormState } from "../../html/form.ts";
import { html } from "../../html/html.ts";
import type { Message } from "../../html/layout.ts";
import { paths } from "../../html/paths.ts";
import { sentForm, trySave } from "../answer-form.ts";
import { statusOf } from "../answers/errors.ts";
import { htmlReply, type Reply, redirect } from "../answers/reply.ts";
import { linksMessage, pageContextOf } from "../page-context.ts";
import { readForm } from "../requests/forms.ts";
import type { Context, RequestContext } from "../router.ts";
import { senderOf } from "../sender.ts";
import { withQuery } from "../undo-message.ts";

/** `GET /tokens`, with `?scope=printer:7` for a token of that printer */
export function index(context: Context): Reply {
  const { app, url } = context;
  const scope = url.searchParams.get("scope") ?? "read";
  const gone = app.results.find("revoked", url.searchParams.get("revoked"));
  const text = gone && html`Revoked: token “<bdi>${gone.name}</bdi>” and its links.`;
  return pageReply(context, {
    form: newForm(scope),
    message: text ? { tone: "good", text } : linksMessage(url),
  });
}

function newForm(scope: string): FormState {
  return { values: { scope, days: String(defaultTokenDays) }, problems: {} };
}

/** `POST /tokens`: only this answer shows the token's text. */
export async function create(context: Context): Promise<Reply> {
  const { app, request } = context;
  const form = await readForm(request);
  const by = nameOf(senderOf(request).identity);
  const { error, value } = await trySave(() => app.tokens.add(form, by));
  if (error !== undefined) return pageReply(context, { form: sentForm(form, error) }, statusOf(error));
  const { name } = app.store.tokens.get(value.id);
  return pageReply(context, { form: newForm("read"), made: { name, text: value.text } });
}

/** `DELETE /tokens/{id}`, and `POST /tokens/{id}/delete` */
export async function revoke({ app, id }: Context<"id">): Promise<Reply> {
  const { name } = app.store.tokens.get(id);
  await app.store.tokens.remove(id);
  return redirect(withQuery(paths.tokens, "revoked", app.results.remember({ kind: "revoked", name })));
}

interface TokensPageState {
  readonly form: FormState;
  readonly made?: MadeToken;
  readonly message?: Message | undefined;
}

function pageReply(
  { app, request, url }: RequestContext,
  { form, made, message }: TokensPageState,
  status = 200,
): Reply {
  const list: TokenList = {
    tokens: app.store.tokens.list().map((token) => ({ token, scopeText: scopeTextOf(app, token.scope) })),
    links: app.links.list(undefined, maxListedLinks),
    now: app.clock(),
    clients: app.store.clients.names(),
    printers: printersOffered(app, url),
  };
  return htmlReply(tokensPage(pageContextOf(request, message), list, form, made), status);
}

/** The page of each record lists all of its links. */
const maxListedLinks = 500;

/** The form lists at most this many printers. The page of each printer links to the form with that printer added. */
const maxOffered = 500;

function printersOffered({ store }: App, { searchParams }: URL): TokenList["printers"] {
  const offered = store.printers.names(maxOffered);
  const scope = parseScope(searchParams.get("scope") ?? "");
  const requested = scope?.kind === "printer" ? store.printers.find(scope.id) : undefined;
  if (requested === undefined || offered.some(({ id }) => id === requested.printer.id)) return offered;
  const { printer, client } = requested;
  return [{ id: printer.id, name: printer.name, client: client?.name }, ...offered];
}

function scopeTextOf({ store }: App, scope: Scope): string {
  if (!("id" in scope)) return scopeText(scope);
  const found = scope.kind === "printer" ? store.printers.find(scope.id) : undefined;
  const name =
    found?.printer.name ?? (scope.kind === "client" ? store.clients.find(scope.id)?.name : undefined);
  const ofClient = found?.client && ` of “${found.client.name}”`;
  return scopeText(scope, `“${name ?? `${scope.id} (deleted)`}”${ofClient ?? ""}`);
}
