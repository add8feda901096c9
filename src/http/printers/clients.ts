import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import { chooseDeployment } from "../../domain/deploy/deployment-choice.ts";
import type { UserError } from "../../domain/errors.ts";
import type { FormInput } from "../../domain/fields.ts";
import { checkedMerge, mergeForm } from "../../domain/form-versions.ts";
import { clientFormValues, parseClient } from "../../domain/printers/client.ts";
import { type Narrowing, narrowClients } from "../../domain/printers/search.ts";
import { groupStateLine } from "../../html/deploy/downloaded.ts";
import { refusalMessage } from "../../html/error.ts";
import { emptyForm, type FormState } from "../../html/form.ts";
import { type Html, html } from "../../html/html.ts";
import { type Message, notify } from "../../html/layout.ts";
import { narrowedCount, narrowedPath } from "../../html/list-filter.ts";
import { clientMessage, completedChangeIn, deletedMessage } from "../../html/messages.ts";
import { paths } from "../../html/paths.ts";
import {
  type ClientList,
  clientForm,
  clientList,
  clientPage,
  clientSettings,
  clientsPage,
} from "../../html/printers/clients.ts";
import { answerForm, recordForm, refusedForm, sentForm, tryRemove, trySave } from "../answer-form.ts";
import { htmlReply, type Reply } from "../answers/reply.ts";
import { clientOffer } from "../deploy/deploy-offer.ts";
import { requestedDigests, type ScriptDigests } from "../deploy/script-digests.ts";
import { signedLineOf } from "../deploy/signed-line.ts";
import { narrowingIn, narrowingOfPage, withListUrl } from "../list-filter.ts";
import { linksMessage, pageContextOf } from "../page-context.ts";
import { readForm } from "../requests/forms.ts";
import type { Context } from "../router.ts";
import {
  changeDetailsIn,
  changedPath,
  keptFields,
  removedPath,
  undoMessage,
  withDetails,
} from "../undo-message.ts";

/** `GET /clients`, filtered */
export function index({ app, request, url }: Context): Reply {
  const saved = app.store.clients.find(Number(url.searchParams.get("saved")));
  const message = (saved && clientMessage("saved", saved)) ?? undoMessage(app, url);
  const list = readClientList(app, narrowingIn(url.searchParams, "clients"));
  const reply = htmlReply(clientsPage(pageContextOf(request, message), list, emptyForm));
  return withListUrl(request, reply, narrowedPath(paths.clients, list.narrowing));
}

function readClientList({ store }: App, narrowing: Narrowing): ClientList {
  const clients = store.clients.list();
  return { rows: narrowClients(clients, narrowing), narrowing, total: clients.length };
}

/** The fragment after a change: the list, its count and the message. */
function clientListUpdate(app: App, narrowing: Narrowing, message: Message | undefined): Html {
  const list = readClientList(app, narrowing);
  return html`${clientList(list)}${narrowedCount("clients", list, true)}${notify(message)}`;
}

/** `POST /clients` */
export async function create({ app, request }: Context): Promise<Reply> {
  const { clients } = app.store;
  const form = await readForm(request);
  const narrowing = narrowingOfPage(request, "clients", form);
  const saved = await trySave(async () => clients.add(parseClient(form)));
  return answerForm(request, saved, {
    redirect: (id) => `${paths.clients}?saved=${id}`,
    page: (error) =>
      clientsPage(pageContextOf(request), readClientList(app, narrowing), sentForm(form, error)),
    fragment: ({ error, value: id }) => {
      const message = id === undefined ? undefined : clientMessage("saved", clients.get(id));
      const next = error ? sentForm(form, error) : emptyForm;
      return html`${clientListUpdate(app, narrowing, message)}${clientForm(next, true)}`;
    },
  });
}

/** `GET /clients/{id}` */
export async function show(context: Context<"id">): Promise<Reply> {
  const { app, id, request, url } = context;
  const changed = clientMessage(completedChangeIn(url.searchParams), app.store.clients.get(id));
  const done = withDetails(app, changed, changeDetailsIn(app, url));
  const message = done ?? linksMessage(url) ?? undoMessage(app, url);
  const digests = await requestedDigests(context, "client");
  return htmlReply(await clientPageOf(app, request, id, { message, digests }));
}

interface PageParts {
  readonly form?: FormState;
  readonly message?: Message | undefined;
  readonly digests?: ScriptDigests | undefined;
  /** Why an uploaded icon was refused. */
  readonly iconProblem?: string;
}

export async function clientPageOf(
  app: App,
  request: IncomingMessage,
  id: number,
  { form, message, digests, iconProblem }: PageParts,
): Promise<Html> {
  const client = app.store.clients.get(id);
  const context = pageContextOf(request, message);
  const printers = await app.overview.ofClient(id);
  const choice = chooseDeployment(printers);
  const data = {
    client,
    printers,
    form: form ?? recordForm(clientFormValues(client)),
    choice,
    stateLine: html`${groupStateLine(
      choice.included,
      choice.leftOut.length,
      choice.included.flatMap(({ printer }) => app.deployments.lastDeployed(printer.id) ?? []),
    )}${await signedLineOf(app, { kind: "client", id }, context)}`,
    iconProblem,
    offer: clientOffer(app, request, client, choice.included, digests),
  };
  return clientPage(context, data);
}

/** `POST /clients/{id}` */
export async function update({ app, request, id }: Context<"id">): Promise<Reply> {
  const { clients } = app.store;
  const form = await readForm(request);
  clients.get(id);
  let kept: FormInput = {};
  const saved = await trySave(() => {
    const change = clients.update(id, (client) => {
      const merged = checkedMerge(form, clientFormValues(client));
      kept = merged.kept;
      return parseClient(merged.values);
    });
    return app.undo.keep(change);
  });
  const now = clients.get(id);
  const values = clientFormValues(now);
  const formOf = (error?: UserError) =>
    error ? refusedForm(mergeForm(form, values), values, error) : recordForm(values);
  const details = { undo: saved.value, kept: keptFields(app, kept) };
  return answerForm(request, saved, {
    redirect: () => changedPath(app, `${paths.client(id)}?done=saved`, details),
    page: (error) => clientPageOf(app, request, id, { form: formOf(error) }),
    fragment: ({ error }) => {
      const message = error ? undefined : withDetails(app, clientMessage("saved", now), details);
      return html`${clientSettings(now, formOf(error))}${notify(message)}`;
    },
  });
}

/** `DELETE /clients/{id}`, and `POST /clients/{id}/delete` */
export async function remove({ app, request, id }: Context<"id">): Promise<Reply> {
  const { clients } = app.store;
  const { name } = clients.get(id);
  const removed = await tryRemove(request, () => app.undo.removeClient(id));
  return answerForm(request, removed, {
    redirect: (deletion) => removedPath(app, paths.clients, name, deletion),
    page: (error) => clientPageOf(app, request, id, { message: refusalMessage(error) }),
    fragment: ({ value }) =>
      clientListUpdate(app, narrowingOfPage(request, "clients"), deletedMessage(name, value)),
  });
}
