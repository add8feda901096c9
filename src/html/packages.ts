import type { StatedPrinter } from "../domain/listings.ts";
import type { ListedFormat } from "../domain/package-format.ts";
import { type Html, html } from "./html.ts";
import { emptyState, type Frame, page } from "./layout.ts";
import { paths } from "./paths.ts";
import { modelLabel } from "./printers.ts";
import { stateBadge } from "./standing.ts";

/** Printers that have a driver, with what can be downloaded of each. */
export function packagesPage(
  frame: Frame,
  rows: readonly StatedPrinter[],
  formats: readonly ListedFormat[],
): Html {
  const lines = rows.map(
    ({ printer, client, driver, ...standing }) => html`<tr>
      <td data-label="Printer"><a href="${paths.printer(printer.id)}">${printer.name}</a></td>
      <td data-label="Client">${client ? html`<a href="${paths.client(client.id)}">${client.name}</a>` : html`<span class="soft">none</span>`}</td>
      <td data-label="Model">${modelLabel(printer, driver)}</td>
      <td data-label="State">${stateBadge(standing)}</td>
      <td data-label="" class="row-actions">${packageLinks(printer, formats)}</td>
    </tr>`,
  );
  const table = html`<table><thead><tr><th scope="col">Printer</th><th scope="col">Client</th><th scope="col">Model</th>
    <th scope="col">State</th><th scope="col"><span class="visually-hidden">Downloads</span></th></tr></thead>
    <tbody>${lines}</tbody></table>`;
  const first = html`<a class="button" href="${paths.printers}">Go to the printers</a>`;
  const targets = formats.map(({ target }) => `one for ${target}`).join(", ");
  const sentence = `Every printer with a driver has its packages here: ${targets}.`;
  return page(
    { ...frame, title: "Packages", place: "Packages" },
    rows.length > 0 ? table : emptyState(sentence, first),
  );
}

/** A link to each package of a printer. */
export function packageLinks(
  { id, name }: { readonly id: number; readonly name: string },
  formats: readonly ListedFormat[],
): Html[] {
  return formats.map(
    (format) => html`<a href="${paths.package(id, format.id)}">${format.target}<span class="visually-hidden">
      package of ${name}</span></a> `,
  );
}
