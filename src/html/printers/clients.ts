import { sortByName } from "../../domain/folding.ts";
import type { Client } from "../../domain/printers/client.ts";
import type { ListedClient } from "../../domain/printers/listings.ts";
import type { Narrowing } from "../../domain/printers/search.ts";
import { clientLabels } from "../field-labels.ts";
import { type FormState, formVersionField, problemSummary, textArea, textField } from "../form.ts";
import { type Html, html } from "../html.ts";
import { canChange, creationFold, emptyState, helpLinks, type PageContext, page } from "../layout.ts";
import { narrowingForm, nothingMatches } from "../list-filter.ts";
import { paths } from "../paths.ts";
import { count, time } from "../text.ts";

export interface ClientList {
  readonly rows: readonly ListedClient[];
  readonly narrowing: Narrowing;
  readonly total: number;
}

export function clientsPage(context: PageContext, list: ClientList, form: FormState): Html {
  const isChangeable = canChange(context.visitor);
  const isOpen = list.total === 0 || Object.keys(form.problems).length > 0;
  const action = isChangeable && creationFold("new-client", "New client", isOpen, clientForm(form));
  return page(
    { ...context, title: "Clients", section: "Clients", action },
    html`<div class="tools">${narrowingForm("clients", list)}</div>${clientList(list)}`,
  );
}

/** The list, for the page and for fragments. */
export function clientList(list: ClientList): Html {
  const { rows, total } = list;
  const none =
    total === 0
      ? emptyState("A client is a customer or site whose printers you deploy.")
      : nothingMatches("clients", list);
  return html`<section id="client-list" ${total === 0 && html`class="none"`} aria-label="Clients">
    ${rows.length > 0 ? clientTable(rows) : none}
  </section>`;
}

function clientTable(clients: readonly ListedClient[]): Html {
  const rows = sortByName(clients).map(
    (client) => html`<tr>
      <td><bdi><a href="${paths.client(client.id)}">${client.name}</a></bdi></td>
      <td data-label="Printers" class="number">${count(client.printer_count)}</td>
      <td class="soft"><bdi>${client.notes.split("\n")[0]}</bdi></td>
      <td class="whole aside">${time(client.created_at)}</td>
    </tr>`,
  );
  return html`<table><thead><tr><th scope="col">Client</th><th scope="col" class="number">Printers</th>
    <th scope="col">Notes</th><th scope="col">Created</th></tr></thead><tbody>${rows}</tbody></table>`;
}

/** The form for a new client. @param oob true: an out-of-band part of a fragment */
export function clientForm(form: FormState, oob = false): Html {
  return html`<form id="client-form" class="panel" method="post" action="${paths.clients}" novalidate data-guard
    hx-post="${paths.clients}" hx-target="#client-list" hx-swap="outerHTML" hx-disabled-elt="find button"
    ${oob && html`hx-swap-oob="true"`}>
    ${problemSummary(form)}${clientFields(form)}
    <button class="primary">Save client</button>
  </form>`;
}

/** The form on a client's page, also the response to a save. */
export function clientSettings(client: Client, form: FormState): Html {
  const record = { labels: clientLabels, path: paths.client(client.id) };
  return html`<form id="client-settings" class="panel" method="post" action="${paths.client(client.id)}" novalidate data-guard>
    ${problemSummary(form, record)}${clientFields(form)}${formVersionField(form)}<button class="primary">Save client</button></form>`;
}

function clientFields(form: FormState): Html {
  return html`${textField(form, { label: clientLabels.name, name: "name", required: true })}
    ${textArea(form, { label: clientLabels.notes, name: "notes", hint: "For example contacts, sites, opening hours." })}
    ${textArea(form, {
      label: clientLabels.subnets,
      name: "subnets",
      hint: "One per line, such as 10.1.2.0/24. Leave empty for all PCs.",
      attributes: html`spellcheck="false"`,
    })}${helpLinks(["Only in its subnets", "intune#only-in-its-subnets"])}
    ${appFields(form)}`;
}

const appFieldNames = ["tenant_id", "app_name", "app_owner", "app_notes"] as const;

/** What the client's apps in Intune have. Folded while nothing is set. */
function appFields(form: FormState): Html {
  const isOpen = appFieldNames.some((name) => form.values[name] || form.problems[name]);
  return html`<details class="more" ${isOpen && html`open`}><summary>Intune</summary>
    ${textField(form, { label: clientLabels.tenant_id, name: "tenant_id", hint: "Its id or a domain. publish.ps1 publishes there.", attributes: html`autocomplete="off" spellcheck="false"` })}
    ${textField(form, { label: clientLabels.app_name, name: "app_name", hint: "A template with {printer} and {client}, such as {printer} ({client}). Leave empty for Platen’s names." })}
    ${textField(form, { label: clientLabels.app_owner, name: "app_owner", hint: "For example your company. Intune and Company Portal show it." })}
    ${textArea(form, { label: clientLabels.app_notes, name: "app_notes", hint: "Administrators see them in Intune." })}${helpLinks(["Apps of a client", "publish#what-a-run-changes"])}</details>`;
}
