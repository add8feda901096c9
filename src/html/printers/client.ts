import {
  type DeploymentChoice,
  failureOf,
  type LeftOut,
  refusalOf,
} from "../../domain/deploy/deployment-choice.ts";
import type { Client } from "../../domain/printers/client.ts";
import type { PrinterWithState } from "../../domain/printers/listings.ts";
import { type DeployOffer, deployCards, foldedDownloads, logoOf } from "../deploy/deploy.ts";
import type { FormState } from "../form.ts";
import { type Html, html } from "../html.ts";
import { canChange, type PageContext, page, recordActions } from "../layout.ts";
import { paths } from "../paths.ts";
import { remedyOf } from "../remedies.ts";
import { count, counted, isolated, time } from "../text.ts";
import { clientSettings } from "./clients.ts";
import { clientIcon, iconSection, readOnlyIconSection } from "./icon.ts";
import { printerTable } from "./printer-table.ts";

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
  return logoOf(icon && paths.clientIconDownload(id), hint);
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
