import type { Client } from "../domain/client.ts";
import type { StatedPrinter } from "../domain/listings.ts";
import { clientSettings } from "./clients.ts";
import { deleteFold, type FormState } from "./form.ts";
import { type Html, html } from "./html.ts";
import { type Frame, page } from "./layout.ts";
import { paths } from "./paths.ts";
import { printerTable } from "./printers.ts";
import { counted, time } from "./text.ts";

interface ClientPageData {
  readonly client: Client;
  readonly printers: readonly StatedPrinter[];
  readonly form: FormState;
  readonly packages: readonly { readonly label: string; readonly path: string }[];
}

export function clientPage(frame: Frame, data: ClientPageData): Html {
  const { client, printers, form, packages } = data;
  const deployable = printers.some(({ driver }) => driver !== undefined);
  const links = packages.map(
    ({ label, path }) => html`<li><a class="button" href="${path}" download>${label}</a></li>`,
  );
  const action = html`<a class="button primary" href="${paths.printers}?client_id=${client.id}">New printer</a>`;
  return page(
    { ...frame, title: client.name, place: "Clients", action },
    html`<p class="soft">${counted(printers.length, "printer")}, client since ${time(client.created_at)}</p>
    <section><h2>Printers</h2>
      ${printers.length > 0 ? printerTable(printers) : html`<p>No printers yet.</p>`}</section>
    ${
      deployable &&
      html`<section><h2>All printers in one package</h2>
      <p>One install script adds every queue of this client and reports each one’s result.</p>
      <ul class="actions">${links}</ul></section>`
    }
    <section><h2>Settings</h2>${clientSettings(client, form)}</section>
    ${deleteFold({
      what: "client",
      consequence: "A client that still has printers is not deleted.",
      action: paths.clientDelete(client.id),
    })}`,
  );
}
