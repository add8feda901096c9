import type { StatedPrinter } from "../domain/listings.ts";
import type { ListedFormat } from "../domain/package-format.ts";
import { type Html, html } from "./html.ts";
import { emptyState, type Frame, page } from "./layout.ts";
import { packageLinks } from "./packages.ts";
import { paths } from "./paths.ts";
import { modelLabel } from "./printers.ts";
import { stateBadge } from "./standing.ts";
import { time } from "./text.ts";

interface DashboardData {
  readonly recentPrinters: readonly StatedPrinter[];
  readonly recentPackages: readonly StatedPrinter[];
  readonly formats: readonly ListedFormat[];
  readonly counts: { readonly clients: number; readonly drivers: number; readonly printers: number };
}

export function dashboardPage(frame: Frame, data: DashboardData): Html {
  const { clients, drivers, printers } = data.counts;
  const action = html`<a class="button primary" href="${paths.printers}#new-printer">New printer</a>`;
  const isNew = printers === 0;
  return page(
    { ...frame, title: "Dashboard", place: "Dashboard", action },
    html`${isNew && firstSteps(clients > 0, drivers > 0)}
    <ul class="actions">
      <li><a class="button" href="${paths.drivers}">Upload a driver</a></li>
      <li><a class="button" href="${paths.clients}">Add a client</a></li>
      <li><a class="button" href="${paths.packages}">All packages</a></li>
    </ul>
    <div class="two">
      <section><h2>Recent printers</h2>${recent(data.recentPrinters, [])}</section>
      <section><h2>Recent packages</h2>${recent(data.recentPackages, data.formats)}</section>
    </div>`,
  );
}

function firstSteps(hasClient: boolean, hasDriver: boolean): Html {
  const step = (isDone: boolean, label: string, path: string) =>
    html`<li class="${isDone && "done"}">${isDone ? html`<span class="tick">Done:</span> ` : ""}<a href="${path}">${label}</a></li>`;
  return html`<section class="panel steps"><h2>Three steps to the first package</h2><ol>
    ${step(hasClient, "Name a client", paths.clients)}
    ${step(hasDriver, "Upload the vendor’s driver ZIP", paths.drivers)}
    ${step(false, "Describe the printer", paths.printers)}
  </ol></section>`;
}

/** @param formats of the packages that are linked; none: only the printers are */
function recent(rows: readonly StatedPrinter[], formats: readonly ListedFormat[]): Html {
  const withPackages = formats.length > 0;
  if (rows.length === 0) {
    return withPackages
      ? emptyState(
          "Printers with a driver appear here, ready to download.",
          html`<a class="button" href="${paths.drivers}">Upload a driver</a>`,
        )
      : emptyState(
          "The printers you describe appear here.",
          html`<a class="button" href="${paths.printers}">Describe a printer</a>`,
        );
  }
  const items = rows.map(
    ({ printer, client, driver, ...standing }) => html`<li>
      <a href="${paths.printer(printer.id)}">${printer.name}</a> ${!withPackages && stateBadge(standing)}
      <span class="soft">${client?.name ?? "Without a client"} · ${modelLabel(printer, driver)} · ${time(printer.created_at)}</span>
      ${withPackages && html`<span class="row-actions">${packageLinks(printer, formats)}</span>`}</li>`,
  );
  return html`<ul class="recent">${items}</ul>`;
}
