import type { Client } from "../domain/client.ts";
import type { DeploymentChoice } from "../domain/deployment-choice.ts";
import type { StatedPrinter } from "../domain/listings.ts";
import { historyLink } from "./audit.ts";
import { clientDeploySection } from "./client-deploy.ts";
import { clientSettings } from "./clients.ts";
import { type DeployOffer, logoOf } from "./deploy.ts";
import { deleteFold, type FormState } from "./form.ts";
import { type Html, html } from "./html.ts";
import { type Frame, mayChange, page } from "./layout.ts";
import { paths } from "./paths.ts";
import { printerTable } from "./printers.ts";
import { counted, time } from "./text.ts";

interface ClientPageData {
  readonly client: Client;
  readonly printers: readonly StatedPrinter[];
  readonly form: FormState;
  readonly choice: DeploymentChoice;
  readonly offer: Omit<DeployOffer, "logo">;
  /** What was downloaded before, and whether that is still what would be downloaded now. */
  readonly downloaded?: Html | undefined;
}

export function clientPage(frame: Frame, data: ClientPageData): Html {
  const { client, printers, form, choice, downloaded } = data;
  const offer = {
    ...data.offer,
    logo: logoOf(undefined, html`your choice: a PNG of the client’s or your own`),
  };
  const isChangeable = mayChange(frame.visitor);
  const action = isChangeable
    ? html`<a class="button primary" href="${paths.printerForClient(client.id)}">New printer</a>`
    : undefined;
  return page(
    { ...frame, title: client.name, heading: html`<bdi>${client.name}</bdi>`, place: "Clients", action },
    html`<p class="soft standing-line"><span>${counted(printers.length, "printer")}, client since ${time(client.created_at)}</span></p>
    ${client.notes !== "" && html`<p class="on-paper" dir="auto">${client.notes}</p>`}
    ${client.subnets.length > 0 && html`<p class="on-paper">Only in ${client.subnets.join(", ")}.</p>`}
    <div class="deploy-page off-paper">
      ${printers.length > 0 && clientDeploySection({ ...choice, offer, downloaded }, isChangeable)}
      ${isChangeable && html`<div class="deploy-side"><section><h2>Settings</h2>${clientSettings(client, form)}</section></div>`}
    </div>
    <section><h2>Printers</h2>
      ${printers.length > 0 ? printerTable(printers, isChangeable) : html`<p>No printers yet.</p>`}</section>
    ${historyLink(frame, "client", client.id)}
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
