import {
  type DeploymentChoice,
  failureOf,
  type LeftOut,
  refusalOf,
} from "../../domain/deploy/deployment-choice.ts";
import type { Client } from "../../domain/printers/client.ts";
import type { PrinterWithState } from "../../domain/printers/listings.ts";
import { historyLink } from "../audit/audit.ts";
import { type DeployOffer, deployTabs, foldedDownloads, logoOf } from "../deploy/deploy.ts";
import { deleteFold, type FormState } from "../form.ts";
import { type Html, html } from "../html.ts";
import { canChange, type PageContext, page } from "../layout.ts";
import { paths } from "../paths.ts";
import { remedyOf } from "../remedies.ts";
import { count, counted, isolated, time } from "../text.ts";
import { clientSettings } from "./clients.ts";
import { printerTable } from "./printer-table.ts";

interface ClientPageData {
  readonly client: Client;
  readonly printers: readonly PrinterWithState[];
  readonly form: FormState;
  readonly choice: DeploymentChoice;
  readonly offer: DeployOffer;
  /** The last downloads, and whether the printers changed since. */
  readonly downloaded?: Html | undefined;
}

export function clientPage(context: PageContext, data: ClientPageData): Html {
  const { client, printers, form } = data;
  const isChangeable = canChange(context.visitor);
  const heading = html`<bdi>${client.name}</bdi>`;
  const action =
    isChangeable &&
    html`<a class="button primary" href="${paths.printerForClient(client.id)}">New printer</a>`;
  return page(
    { ...context, title: client.name, heading, section: "Clients", action },
    html`<p class="soft standing-line"><span>${counted(printers.length, "printer")}, client since ${time(client.created_at)}</span></p>
    ${client.notes !== "" && html`<p class="on-paper" dir="auto">${client.notes}</p>`}
    ${client.subnets.length > 0 && html`<p class="on-paper">Only in ${client.subnets.join(", ")}.</p>`}
    <div class="deploy-page off-paper">
      ${printers.length > 0 && clientDeploySection(data, isChangeable)}
      ${isChangeable && html`<div class="deploy-side"><section><h2>Settings</h2>${clientSettings(client, form)}</section></div>`}
    </div>
    <section><h2>Printers</h2>
      ${printers.length > 0 ? printerTable(printers, isChangeable) : html`<p>No printers yet.</p>`}</section>
    ${historyLink(context, "client", client.id)}
    ${
      isChangeable &&
      deleteFold({
        what: "client",
        consequence: "A client that still has printers is not deleted.",
        action: paths.clientDelete(client.id),
      })
    }`,
  );
}

/** Further printers that are left out are folded. */
const visibleReasons = 6;
/** Further printers in the package are only counted. */
const visiblePrinters = 100;

/** The package with all printers of a client: the printers in it, those left out with reasons, and the downloads. */
function clientDeploySection({ choice, offer, downloaded }: ClientPageData, isChangeable: boolean): Html {
  const { included, leftOut } = choice;
  const failing = failingCount(leftOut);
  return html`<section class="deploy" id="deploy"><h2>Deploy all printers</h2>
    ${leftOut.length > 0 && leftOutNotice(included.length, leftOut, isChangeable)}
    ${downloaded}
    <p>${summary(included.length, leftOut.length)}</p>
    ${included.length > 0 && html`<details class="more"><summary>What goes in</summary>${goesInList(included)}</details>`}
    ${included.length > 0 && deployTabs(offer, logo)}
    ${failing > 0 && failingDownloads(failing, offer)}</section>`;
}

const logo = logoOf(undefined, html`your choice: a PNG of the client’s or your own`);

function summary(inCount: number, outCount: number): string {
  if (inCount === 0) return "None of the printers can be deployed yet.";
  const which =
    outCount === 0
      ? counted(inCount, "printer")
      : `${count(inCount)} of ${counted(inCount + outCount, "printer")}`;
  return `${which} in one package, each driver once. One install script adds every queue and reports each one’s result.`;
}

function failingCount(leftOut: readonly LeftOut[]): number {
  return leftOut.filter(({ row }) => refusalOf(row) === undefined && failureOf(row) !== undefined).length;
}

function goesInList(rows: readonly PrinterWithState[]): Html {
  const items = rows.map(
    ({ printer }) => html`<li><a href="${paths.printer(printer.id)}"><bdi>${printer.name}</bdi></a></li>`,
  );
  const rest = rows.length - visiblePrinters;
  return html`<ul class="names">${items.slice(0, visiblePrinters)}</ul>
    ${rest > 0 && html`<p class="hint">And ${count(rest)} more, in the list below.</p>`}`;
}

function leftOutNotice(inCount: number, leftOut: readonly LeftOut[], isChangeable: boolean): Html {
  const items = leftOut.map((row) => leftOutItem(row, isChangeable));
  const rest = items.slice(visibleReasons);
  return html`<div class="notice ${inCount === 0 ? "bad" : "warn"}">
    <p><strong>${counted(leftOut.length, "printer")} ${leftOut.length === 1 ? "stays" : "stay"} out:</strong></p>
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
    <p>With ${counted(count, "printer")} known to fail: the package then reports a failure on every machine.</p>
    <ul class="actions">${links}</ul>`);
}
