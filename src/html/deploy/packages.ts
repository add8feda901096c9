import { chunksOf } from "../../domain/collections.ts";
import type { ListedFormat } from "../../domain/deploy/package-format.ts";
import type { SignedCount } from "../../domain/deploy/signature.ts";
import { sortPrinters } from "../../domain/printers/list-order.ts";
import type { ClientName, PrinterWithState } from "../../domain/printers/listings.ts";
import type { Narrowing } from "../../domain/printers/search.ts";
import { type Html, html } from "../html.ts";
import { canChange, emptyState, type PageContext, page } from "../layout.ts";
import { narrowingForm, nothingMatches } from "../list-filter.ts";
import { paths } from "../paths.ts";
import { printerHead, printerRow } from "../printers/printer-table.ts";
import { rowsPerGroup } from "../printers/printers.ts";
import { allClientsSection } from "./signing.ts";

interface PackageList {
  readonly rows: readonly PrinterWithState[];
  readonly narrowing: Narrowing;
  /** The number of printers with a driver, without the filter. */
  readonly total: number;
  readonly clients: readonly ClientName[];
  readonly formats: readonly ListedFormat[];
  /** How many scripts are signed. Undefined where nobody signs. */
  readonly signed: SignedCount | undefined;
  /** The names of clients with printers and without a tenant. */
  readonly withoutTenant: readonly string[];
}

export function packagesPage(context: PageContext, list: PackageList): Html {
  const { rows, total, clients, formats, signed, withoutTenant } = list;
  const first = html`<a class="button" href="${paths.printers}">Go to the printers</a>`;
  const targets = formats.map(({ target }) => `an ${target} package`).join(" and ");
  const sentence = `Each printer with a driver has ${targets}.`;
  const body = rows.length > 0 ? packageTable(list) : nothingMatches("packages", list);
  return page(
    { ...context, title: "Packages", section: "Packages" },
    total === 0
      ? emptyState(sentence, first)
      : html`${narrowingForm("packages", list, clients)}
        <div id="package-list" class="rows">${body}</div>
        ${canChange(context.visitor) && allClientsSection(signed, withoutTenant)}`,
  );
}

const columns = ["client", "model", "state"] as const;

function packageTable({ rows, narrowing, formats }: PackageList): Html {
  const rowOf = (row: PrinterWithState) =>
    printerRow(row, columns, { last: html`<td role="cell" class="menu">${packageOffer(row, formats)}</td>` });
  const chunks = chunksOf(sortPrinters(rows, narrowing.sort), rowsPerGroup);
  const sorting = { path: paths.packages, narrowing };
  return html`<table class="printers packages" role="table">${printerHead({ columns, last: "Downloads", sorting })}
    ${chunks.map((chunk) => html`<tbody role="rowgroup">${chunk.map(rowOf)}</tbody>`)}</table>`;
}

/** Links to each package of a printer. A blocked printer has only a link to its page, which gives the reason. */
export function packageOffer({ printer, state }: PrinterWithState, formats: readonly ListedFormat[]): Html {
  const { id, name } = printer;
  if (state === "blocked")
    return html`<a href="${paths.printerDeploy(id)}" aria-label="Why ${name} is blocked">Show reason</a>`;
  const links = formats.map(
    ({ id: format, target }) =>
      html`<a href="${paths.package(id, format)}" aria-label="${target} package of ${name}">${target}</a> `,
  );
  return html`${links}`;
}
