import type { Client } from "../domain/client.ts";
import type { ListedClient } from "../domain/listings.ts";
import { type FormState, openedField, problemSummary, textArea, textField } from "./form.ts";
import { type Html, html } from "./html.ts";
import { emptyState, type Frame, page } from "./layout.ts";
import { paths } from "./paths.ts";
import { time } from "./text.ts";

export function clientsPage(frame: Frame, clients: readonly ListedClient[], form: FormState): Html {
  const body = html`<div class="beside">${clientForm(form)}${clientList(clients)}</div>`;
  return page({ ...frame, title: "Clients", place: "Clients" }, body);
}

/** The list, as the page shows it and as a fragment brings it anew. */
export function clientList(clients: readonly ListedClient[]): Html {
  const rows = clients.map(
    (client) => html`<tr>
      <td data-label="Client"><a href="${paths.client(client.id)}">${client.name}</a></td>
      <td data-label="Printers" class="number">${client.printer_count}</td>
      <td data-label="Notes" class="soft">${client.notes.split("\n")[0]}</td>
      <td data-label="Since">${time(client.created_at)}</td>
    </tr>`,
  );
  const table = html`<table><thead><tr><th scope="col">Client</th><th scope="col" class="number">Printers</th>
    <th scope="col">Notes</th><th scope="col">Since</th></tr></thead><tbody>${rows}</tbody></table>`;
  const first = html`<a class="button" href="#f-name">Name the first client</a>`;
  return html`<section id="client-list" aria-label="Clients">
    ${rows.length > 0 ? table : emptyState("Clients group the printers that you deploy for them.", first)}
  </section>`;
}

/** The form for a new client; `oob` where a fragment brings it along. */
export function clientForm(form: FormState, oob = false): Html {
  return html`<form id="client-form" class="panel" method="post" action="${paths.clients}" novalidate data-guard
    hx-post="${paths.clients}" hx-target="#client-list" hx-swap="outerHTML" hx-disabled-elt="find button"
    ${oob && html`hx-swap-oob="true"`}>
    <h2>New client</h2>${problemSummary(form)}${clientFields(form)}
    <button class="primary">Save client</button>
  </form>`;
}

/** A client's form on its own page, and the fragment that a save answers. */
export function clientSettings(client: Client, form: FormState): Html {
  const opened = { labels: { name: "Name", notes: "Notes" }, path: paths.client(client.id) };
  return html`<form id="client-settings" class="panel" method="post" action="${paths.client(client.id)}" novalidate data-guard>
    ${problemSummary(form, opened)}${clientFields(form)}${openedField(form)}<button class="primary">Save client</button></form>`;
}

function clientFields(form: FormState): Html {
  return html`${textField(form, { label: "Name", name: "name", required: true })}
    ${textArea(form, { label: "Notes", name: "notes", hint: "For yourselves: contacts, sites, quirks." })}`;
}
