import type { App } from "../app.ts";
import { parseClient } from "../domain/client.ts";
import { clientForm, clientList, clientPage, clientSettings, clientsPage } from "../html/clients.ts";
import { emptyForm, type FormState } from "../html/form.ts";
import { html } from "../html/html.ts";
import { notify } from "../html/layout.ts";
import { paths } from "../html/paths.ts";
import { packageFormats } from "../pkg/formats/formats.ts";
import { assets } from "./assets.ts";
import { isNavigation, readForm, saving } from "./forms.ts";
import { htmlReply, type Reply, redirect } from "./reply.ts";
import type { Context } from "./router.ts";

/** `GET /clients` */
export function index({ app }: Context): Reply {
  return htmlReply(clientsPage({ assets }, app.store.clients.list(), emptyForm));
}

/** `POST /clients` */
export async function create({ app, request }: Context): Promise<Reply> {
  const form = await readForm(request);
  const saved = await saving(form, async () => app.store.clients.add(parseClient(form)));
  if (saved.ok && isNavigation(request)) return redirect(paths.clients);
  const clients = app.store.clients.list();
  if (saved.ok)
    return htmlReply(
      html`${clientList(clients)}${clientForm(emptyForm, true)}${notify("The client is saved.")}`,
    );
  if (isNavigation(request)) return htmlReply(clientsPage({ assets }, clients, saved.form), saved.status);
  return htmlReply(html`${clientList(clients)}${clientForm(saved.form, true)}`, saved.status);
}

/** `GET /clients/{id}` */
export function show({ app, id }: Context<"id">): Reply {
  return htmlReply(clientPageOf(app, id));
}

function clientPageOf(app: App, id: number, form?: FormState) {
  const client = app.store.clients.get(id);
  return clientPage(
    { assets },
    {
      client,
      printers: app.store.printers.ofClient(id),
      form: form ?? { values: { name: client.name, notes: client.notes }, problems: {} },
      packages: packageFormats.map((format) => ({
        label: format.label,
        path: paths.clientPackage(id, format.id),
      })),
    },
  );
}

/** `POST /clients/{id}` */
export async function update({ app, request, id }: Context<"id">): Promise<Reply> {
  const form = await readForm(request);
  app.store.clients.get(id);
  const saved = await saving(form, async () => app.store.clients.update(id, parseClient(form)));
  if (isNavigation(request)) {
    return saved.ok ? redirect(paths.client(id)) : htmlReply(clientPageOf(app, id, saved.form), saved.status);
  }
  const state = saved.ok ? { values: form, problems: {} } : saved.form;
  return htmlReply(clientSettings(app.store.clients.get(id), state), saved.ok ? 200 : saved.status);
}

/** `DELETE /clients/{id}`, and `POST /clients/{id}/delete` */
export async function remove({ app, request, id }: Context<"id">): Promise<Reply> {
  await app.store.clients.remove(id);
  if (isNavigation(request)) return redirect(paths.clients);
  return htmlReply(html`${clientList(app.store.clients.list())}${notify("The client is deleted.")}`);
}
