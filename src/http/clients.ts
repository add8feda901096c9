import type { IncomingMessage } from "node:http";
import type { App } from "../app.ts";
import { clientFormValues, parseClient } from "../domain/client.ts";
import { chooseDeployment } from "../domain/deployment-choice.ts";
import type { UserError } from "../domain/errors.ts";
import { clientPage } from "../html/client.ts";
import { clientForm, clientList, clientSettings, clientsPage } from "../html/clients.ts";
import { downloadedTogether } from "../html/downloaded.ts";
import { refusalMessage } from "../html/error.ts";
import { emptyForm, type FormState } from "../html/form.ts";
import { type Html, html } from "../html/html.ts";
import { type Message, notify } from "../html/layout.ts";
import { clientMessage, deletedMessage, doneIn } from "../html/messages.ts";
import { paths } from "../html/paths.ts";
import { answerForm, recordForm, removing, saving, sentForm } from "./answer-form.ts";
import { assets } from "./assets.ts";
import { clientOffer } from "./deploy-offer.ts";
import { readForm } from "./forms.ts";
import { htmlReply, type Reply } from "./reply.ts";
import type { Context } from "./router.ts";
import { deletedPath, undoMessage } from "./undo.ts";

/** `GET /clients` */
export function index({ app, url }: Context): Reply {
  const saved = app.store.clients.find(Number(url.searchParams.get("saved")));
  const message = (saved && clientMessage("saved", saved)) ?? undoMessage(app, url);
  return htmlReply(clientsPage({ assets, message }, app.store.clients.list(), emptyForm));
}

/** `POST /clients` */
export async function create({ app, request }: Context): Promise<Reply> {
  const { clients } = app.store;
  const form = await readForm(request);
  const saved = await saving(async () => clients.add(parseClient(form)));
  return answerForm(request, saved, {
    redirect: (id) => `${paths.clients}?saved=${id}`,
    page: (error) => clientsPage({ assets }, clients.list(), sentForm(form, error)),
    fragment: ({ error, value: id }) =>
      html`${clientList(clients.list())}${clientForm(error ? sentForm(form, error) : emptyForm, true)}${notify(
        id === undefined ? undefined : clientMessage("saved", clients.get(id)),
      )}`,
  });
}

/** `GET /clients/{id}` */
export async function show({ app, id, request, url }: Context<"id">): Promise<Reply> {
  const message = clientMessage(doneIn(url.searchParams), app.store.clients.get(id)) ?? undoMessage(app, url);
  return htmlReply(await clientPageOf(app, request, id, undefined, message));
}

async function clientPageOf(
  app: App,
  request: IncomingMessage,
  id: number,
  form?: FormState,
  message?: Message,
): Promise<Html> {
  const client = app.store.clients.get(id);
  const { printers } = await app.overview.read();
  const rows = printers.filter((row) => row.client?.id === id);
  const choice = chooseDeployment(rows);
  const data = {
    client,
    printers: rows,
    form: form ?? recordForm(clientFormValues(client)),
    choice,
    downloaded: downloadedTogether(
      choice.goesIn,
      choice.goesIn.flatMap(({ printer }) => app.deployments.latest(printer.id) ?? []),
    ),
    offer: clientOffer(app, request, client, choice.goesIn),
  };
  return clientPage({ assets, message }, data);
}

/** `POST /clients/{id}` */
export async function update({ app, request, id }: Context<"id">): Promise<Reply> {
  const { clients } = app.store;
  const form = await readForm(request);
  clients.get(id);
  const saved = await saving(async () => clients.update(id, parseClient(form), form.opened));
  const now = clients.get(id);
  const formOf = (error?: UserError) =>
    error ? sentForm(form, error, clientFormValues(now)) : recordForm(clientFormValues(now));
  return answerForm(request, saved, {
    redirect: () => `${paths.client(id)}?done=saved`,
    page: (error) => clientPageOf(app, request, id, formOf(error)),
    fragment: ({ error }) =>
      html`${clientSettings(now, formOf(error))}${notify(error ? undefined : clientMessage("saved", now))}`,
  });
}

/** `DELETE /clients/{id}`, and `POST /clients/{id}/delete` */
export async function remove({ app, request, id }: Context<"id">): Promise<Reply> {
  const { clients } = app.store;
  const { name } = clients.get(id);
  const removed = await removing(request, () => app.undo.removeClient(id));
  return answerForm(request, removed, {
    redirect: (deletion) => deletedPath(paths.clients, deletion),
    page: (error) => clientPageOf(app, request, id, undefined, refusalMessage(error)),
    fragment: ({ value }) => html`${clientList(clients.list())}${notify(deletedMessage(name, value))}`,
  });
}
