import type { ListedFormat } from "../../domain/deploy/package-format.ts";
import { findingKinds } from "../../domain/printers/findings.ts";
import type { ClientName, PrinterWithState } from "../../domain/printers/listings.ts";
import type { Narrowing } from "../../domain/printers/search.ts";
import { type Html, html } from "../html.ts";
import { emptyState, type PageContext, page } from "../layout.ts";
import { changedStateOption, narrowingForm, nothingMatches } from "../list-filter.ts";
import { paths } from "../paths.ts";
import { modelCell } from "../printers/printer-table.ts";
import { stateBadge } from "../state-badge.ts";

interface PackageList {
  readonly rows: readonly PrinterWithState[];
  readonly narrowing: Narrowing;
  /** The number of printers with a driver, without the filter. */
  readonly total: number;
  readonly clients: readonly ClientName[];
  readonly formats: readonly ListedFormat[];
}

export function packagesPage(context: PageContext, list: PackageList): Html {
  const { rows, total, clients, formats } = list;
  const first = html`<a class="button" href="${paths.printers}">Go to the printers</a>`;
  const targets = formats.map(({ target }) => `one for ${target}`).join(", ");
  const sentence = `Every printer with a driver has its packages here: ${targets}.`;
  const body = rows.length > 0 ? packageTable(rows, formats) : nothingMatches("packages", list);
  return page(
    { ...context, title: "Packages", section: "Packages" },
    total === 0
      ? emptyState(sentence, first)
      : html`${narrowingForm("packages", list, { clients, states: { others: [changedStateOption], kinds: findingKinds.filter((kind) => kind !== "no-driver") } })}
        <div id="package-list" class="rows">${body}</div>`,
  );
}

function packageTable(rows: readonly PrinterWithState[], formats: readonly ListedFormat[]): Html {
  const labels = ["Printer", "Client", "Model", "State"].map(
    (label) => html`<th role="columnheader" scope="col">${label}</th>`,
  );
  return html`<table class="packages" role="table"><thead role="rowgroup"><tr role="row">${labels}<th role="columnheader"
    scope="col"><span class="visually-hidden">Downloads</span></th></tr></thead>
    ${chunksOf(rows).map((chunk) => html`<tbody role="rowgroup">${chunk.map((row) => packageRow(row, formats))}</tbody>`)}
    </table>`;
}

/** Each group of rows is a `tbody`, and browsers lay out only those in view. */
const rowsPerGroup = 25;

function chunksOf<T>(rows: readonly T[]): T[][] {
  const count = Math.ceil(rows.length / rowsPerGroup);
  return Array.from({ length: count }, (_, i) => rows.slice(i * rowsPerGroup, (i + 1) * rowsPerGroup));
}

function packageRow(row: PrinterWithState, formats: readonly ListedFormat[]): Html {
  const { printer, client } = row;
  return html`<tr role="row"><th role="rowheader" scope="row"><bdi><a href="${paths.printer(printer.id)}">${printer.name}</a></bdi></th
><td role="cell">${client ? html`<bdi><a href="${paths.client(client.id)}">${client.name}</a></bdi>` : html`<span class="soft">none</span>`}</td
><td role="cell">${modelCell(row)}</td
><td role="cell">${stateBadge(row)}</td
><td role="cell">${packageOffer(row, formats)}</td></tr>`;
}

/** Links to each package of a printer. A blocked printer has only a link to its page, which gives the reason. */
export function packageOffer({ printer, state }: PrinterWithState, formats: readonly ListedFormat[]): Html {
  const { id, name } = printer;
  if (state === "blocked")
    return html`<a href="${paths.printerDeploy(id)}" aria-label="Why ${name} is blocked">See why</a>`;
  const links = formats.map(
    ({ id: format, target }) =>
      html`<a href="${paths.package(id, format)}" aria-label="${target} package of ${name}">${target}</a> `,
  );
  return html`${links}`;
}
