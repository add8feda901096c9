import {
  type DeploymentChoice,
  failureOf,
  type LeftOut,
  refusalOf,
} from "../../domain/deploy/deployment-choice.ts";
import { sortByName } from "../../domain/folding.ts";
import type { Client } from "../../domain/printers/client.ts";
import type { ListedClient, PrinterWithState } from "../../domain/printers/listings.ts";
import type { Narrowing } from "../../domain/printers/search.ts";
import { type DeployOffer, deployCards, foldedDownloads, logoOf } from "../deploy/deploy.ts";
import { clientLabels } from "../field-labels.ts";
import { type FormState, formVersionField, problemSummary, textArea, textField } from "../form.ts";
import { type Html, html } from "../html.ts";
import {
  canChange,
  creationFold,
  emptyState,
  helpLinks,
  type PageContext,
  page,
  recordActions,
} from "../layout.ts";
import { narrowingForm, nothingMatches } from "../list-filter.ts";
import { paths } from "../paths.ts";
import { remedyOf } from "../remedies.ts";
import { count, counted, isolated, time } from "../text.ts";
import { clientIcon, iconSection, readOnlyIconSection } from "./icon.ts";
import { printerTable } from "./printer-table.ts";

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

interface ClientPageData {
  readonly client: Client;
  readonly printers: readonly PrinterWithState[];
  readonly form: FormState;
  readonly choice: DeploymentChoice;
  readonly offer: DeployOffer;
  /** The state of its printers in words, with their last deployment. */
  readonly stateLine: Html;
  /** Why an uploaded icon was refused. */
  readonly iconProblem: string | undefined;
}

export function clientPage(context: PageContext, data: ClientPageData): Html {
  const { client, printers, form } = data;
  const { id, name, notes, subnets } = client;
  const isChangeable = canChange(context.visitor);
  const isRefused = Object.keys(form.problems).length > 0 || form.newerValues !== undefined;
  const edit = html`<details id="edit" ${isRefused && html`open`}><summary class="button">Edit</summary>${clientSettings(client, form)}</details>`;
  const action = html`${isChangeable && html`<a class="button primary" href="${paths.printerForClient(id)}">New printer</a>${edit}`}
    ${recordActions(context, { kind: "client", id, isChangeable, deletion: { consequence: "You cannot delete a client that has printers." } })}`;
  return page(
    { ...context, title: name, heading: html`<bdi>${name}</bdi>`, section: "Clients", action },
    html`<p class="soft">Created ${time(client.created_at)}</p>
    ${notes !== "" && html`<p class="lines" dir="auto">${notes}</p>`}
    ${subnets.length > 0 && html`<p>Subnets: ${subnets.join(", ")}</p>`}
    ${client.tenant_id !== "" && html`<p>Tenant: <bdi>${client.tenant_id}</bdi></p>`}
    ${data.iconProblem !== undefined && html`<p class="notice bad"><a href="#icon">Icon</a>: ${data.iconProblem}</p>`}
    ${printers.length > 0 && clientDeploySection(data, isChangeable)}
    <section><h2>Printers</h2>
      ${printers.length > 0 ? printerTable(printers, isChangeable) : html`<p>No printers yet.</p>`}</section>
    ${isChangeable ? iconSection(clientIcon(id), client.icon, data.iconProblem) : readOnlyIconSection(clientIcon(id), client.icon)}`,
  );
}

/** Further printers that are left out are folded. */
const visibleReasons = 6;

/** The package with all printers of a client: those left out with reasons, the downloads, the printers in it. */
function clientDeploySection(
  { client, choice, offer, stateLine }: ClientPageData,
  isChangeable: boolean,
): Html {
  const { included, leftOut } = choice;
  const failing = failingCount(leftOut);
  return html`${stateLine}<section class="deploy off-paper" id="deploy"><h2 class="visually-hidden">Deploy all printers</h2>
    ${leftOut.length > 0 && leftOutNotice(included.length, leftOut, isChangeable)}
    ${included.length > 0 && deployCards(offer, clientLogo(client))}
    ${failing > 0 && failingDownloads(failing, offer)}</section>`;
}

function clientLogo({ id, icon }: Client): Html {
  const hint = html`your choice: a PNG of the client’s or your own`;
  return logoOf(icon && paths.iconDownload("client", id), hint);
}

function failingCount(leftOut: readonly LeftOut[]): number {
  return leftOut.filter(({ row }) => refusalOf(row) === undefined && failureOf(row) !== undefined).length;
}

function leftOutNotice(inCount: number, leftOut: readonly LeftOut[], isChangeable: boolean): Html {
  const items = leftOut.map((row) => leftOutItem(row, isChangeable));
  const rest = items.slice(visibleReasons);
  return html`<div class="notice ${inCount === 0 ? "bad" : "warn"}">
    <ul class="findings">${items.slice(0, visibleReasons)}</ul>
    ${
      rest.length > 0 &&
      html`<details class="more"><summary>${count(rest.length)} more</summary><ul class="findings">${rest}</ul></details>`
    }</div>`;
}

function leftOutItem({ row, reason }: LeftOut, isChangeable: boolean): Html {
  const remedy = isChangeable && remedyOf(reason, row);
  const tone = reason.kind === "same-name" ? "warn" : "bad";
  return html`<li class="${tone}"><a href="${paths.printer(row.printer.id)}"><bdi>${row.printer.name}</bdi></a>:
    ${isolated(reason.text)} ${remedy && html`<a href="${remedy.path}">${remedy.label}</a>`}</li>`;
}

/** Downloads that include printers known to fail. One such printer makes the whole package report a failure. */
function failingDownloads(count: number, { formats, scripts }: DeployOffer): Html {
  const downloads = [
    ...formats.map(({ path, label }) => ({ path, label })),
    ...scripts.map(({ path, kind }) => ({ path, label: `${kind}.ps1` })),
  ];
  const links = downloads.map(
    ({ path, label }) => html`<li><a class="button" href="${path}?all=1">${label}</a></li>`,
  );
  return foldedDownloads(html`
    <p>${counted(count, "printer")} will fail. The package then reports a failure on every PC.</p>
    <ul class="actions">${links}</ul>`);
}
