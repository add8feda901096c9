import type { App } from "../app.ts";
import { parseClient } from "../domain/client.ts";
import { clientForm, clientList, clientPage, clientSettings, clientsPage } from "../html/clients.ts";
import { emptyForm, type FormState } from "../html/form.ts";
import { type Html, html } from "../html/html.ts";
import { notify } from "../html/layout.ts";
import { paths } from "../html/paths.ts";
import { packageFormats } from "../pkg/formats/formats.ts";
import { answerForm, done, saving, sentForm } from "./answer-form.ts";
import { assets } from "./assets.ts";
import { readForm } from "./forms.ts";
import { htmlReply, type Reply } from "./reply.ts";
import type { Context } from "./router.ts";

/** `GET /clients` */
export function index({ app }: Context): Reply {
  return htmlReply(clientsPage({ assets }, app.store.clients.list(), emptyForm));
}

/** `POST /clients` */
export async function create({ app, request }: Context): Promise<Reply> {
  const { clients } = app.store;
  const form = await readForm(request);
  const saved = await saving(async () => clients.add(parseClient(form)));
  return answerForm(request, saved, {
    redirect: () => paths.clients,
    page: (error) => clientsPage({ assets }, clients.list(), sentForm(form, error)),
    fragment: ({ error }) =>
      html`${clientList(clients.list())}${clientForm(error ? sentForm(form, error) : emptyForm, true)}${
        !error && notify("The client is saved.")
      }`,
  });
}

/** `GET /clients/{id}` */
export function show({ app, id }: Context<"id">): Reply {
  return htmlReply(clientPageOf(app, id));
}

function clientPageOf(app: App, id: number, form?: FormState): Html {
  const client = app.store.clients.get(id);
  return clientPage(
    { assets },
    {
      client,
      printers: app.store.printers.ofClient(id),
      form: form ?? sentForm({ name: client.name, notes: client.notes }),
      packages: packageFormats.map((format) => ({
        label: format.label,
        path: paths.clientPackage(id, format.id),
      })),
    },
  );
}

/** `POST /clients/{id}` */
export async function update({ app, request, id }: Context<"id">): Promise<Reply> {
  const { clients } = app.store;
  const form = await readForm(request);
  clients.get(id);
  const saved = await saving(async () => clients.update(id, parseClient(form)));
  return answerForm(request, saved, {
    redirect: () => paths.client(id),
    page: (error) => clientPageOf(app, id, sentForm(form, error)),
    fragment: ({ error }) => clientSettings(clients.get(id), sentForm(form, error)),
  });
}

/** `DELETE /clients/{id}`, and `POST /clients/{id}/delete` */
export async function remove({ app, request, id }: Context<"id">): Promise<Reply> {
  const { clients } = app.store;
  await clients.remove(id);
  return answerForm(request, done, {
    redirect: () => paths.clients,
    fragment: () => html`${clientList(clients.list())}${notify("The client is deleted.")}`,
  });
}
