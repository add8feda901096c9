import { memoize } from "../../domain/collections.ts";
import type { ListedFormat } from "../../domain/deploy/package-format.ts";
import { twinProblem } from "../../domain/printers/ipp-twin.ts";
import { type SortKey, sortKeyOf, sortPrinters } from "../../domain/printers/list-order.ts";
import type { ListedPrinter, PrinterWithState } from "../../domain/printers/listings.ts";
import { effectiveDescription, type Printer } from "../../domain/printers/printer.ts";
import { arm64Description } from "../../domain/printers/printer-drivers.ts";
import type { Narrowing, WantedState } from "../../domain/printers/search.ts";
import { type Hole, type Html, html } from "../html.ts";
import { narrowedPath } from "../list-filter.ts";
import { paths } from "../paths.ts";
import { reasonBadge, stateBadge } from "../state-badge.ts";
import { day } from "../text.ts";

/** A column of a list of printers. Its name is the CSS class of its cells. */
interface Column {
  readonly name: string;
  readonly label: string;
  readonly sort?: SortKey;
  readonly cell: (row: PrinterWithState) => Hole;
}

const columns = {
  address: {
    name: "address",
    label: "Address",
    sort: "address",
    cell: ({ printer }) => addressCell(printer.address || printer.port_name),
  },
  model: { name: "model", label: "Model", cell: modelCell },
  location: {
    name: "place",
    label: "Location",
    cell: ({ printer }) => printer.location !== "" && html`<bdi>${printer.location}</bdi>`,
  },
  client: {
    name: "place whose",
    label: "Client",
    cell: ({ client }) => (client ? html`<bdi>${client.name}</bdi>` : html`<span class="soft">none</span>`),
  },
  changed: {
    name: "changed",
    label: "Changed",
    sort: "changed",
    cell: ({ printer }) => day(printer.updated_at),
  },
  state: { name: "state", label: "State", sort: "state", cell: stateBadge },
} as const satisfies Record<string, Column>;

/** What a list of printers shows besides their names. */
interface TableView {
  readonly columns: readonly (keyof typeof columns)[];
  /** The heading of the first or last column, without visible words. */
  readonly first?: Html;
  readonly last?: string | undefined;
  /** The page and filter of a list that can be sorted. */
  readonly sorting?: { readonly path: string; readonly narrowing: Narrowing };
}

const fewColumns = ["address", "model", "location", "state"] as const;

/** A table of a few printers, without checkboxes and bulk changes. */
export function printerTable(printers: readonly PrinterWithState[], isChangeable: boolean): Html {
  const rows = sortPrinters(printers, undefined).map((row) =>
    printerRow(row, fewColumns, { last: isChangeable && menuCell(row) }),
  );
  const last = isChangeable ? "Actions" : undefined;
  return html`<div class="rows"><table class="printers few" role="table">${printerHead({ columns: fewColumns, last })}
    <tbody role="rowgroup">${rows}</tbody></table>${isChangeable && rowMenu([])}</div>`;
}

export function printerHead({ columns: names, first, last, sorting }: TableView): Html {
  const cells = [
    { name: "name", label: "Printer", sort: "name" } as const,
    ...names.map((name) => columns[name]),
  ];
  return html`<thead role="rowgroup"><tr role="row">${first}${cells.map((column) => headCell(column, sorting))}${
    last &&
    html`<th role="columnheader" scope="col" class="menu"><span class="visually-hidden">${last}</span></th>`
  }</tr></thead>`;
}

/** The heading of a column. A second click on its link reverses the order. */
function headCell({ name, label, sort }: Omit<Column, "cell">, sorting: TableView["sorting"]): Html {
  if (sort === undefined || sorting === undefined)
    return html`<th role="columnheader" scope="col" class="${name}">${label}</th>`;
  const { path, narrowing } = sorting;
  const isSorted = sortKeyOf(narrowing.sort) === sort;
  const isReversed = narrowing.sort?.startsWith("-") === true;
  const usual = sort === "name" ? undefined : sort;
  const next = isSorted && !isReversed ? (`-${sort}` as const) : usual;
  const isAscending = (sort === "name" || sort === "address") !== isReversed;
  return html`<th role="columnheader" scope="col" class="${name}" ${isSorted && html`aria-sort="${isAscending ? "ascending" : "descending"}"`}><a
    href="${narrowedPath(path, { ...narrowing, sort: next })}">${label}</a></th>`;
}

interface RowParts {
  /** The cells before and after the others. */
  readonly first?: Html;
  readonly last?: Html | false;
  /** The state whose reason the row shows in full. */
  readonly reason?: WantedState | undefined;
  /** Adds links to the printer's form. */
  readonly isChangeable?: boolean;
}

/**
 * The row of a printer. CSS gives rows `display: grid`, so that browsers lay out only visible ones; the ARIA roles keep
 * the table's semantics. The markup is short because a page may have a thousand rows.
 */
export function printerRow(
  row: PrinterWithState,
  names: TableView["columns"],
  { first, last, reason, isChangeable = false }: RowParts,
): Html {
  const { id, name, address, port_name } = row.printer;
  const isLong = names.includes("address") && (address || port_name).length > 15;
  const content = (name: keyof typeof columns) => {
    if (name !== "state") return columns[name].cell(row);
    return reason === undefined ? stateBadge(row, isChangeable) : reasonBadge(row, reason, isChangeable);
  };
  const cells = names.map(
    (name) => html`<td role="cell" class="${columns[name].name}">${content(name)}</td>`,
  );
  return html`<tr role="row" ${isLong && html`class="long"`}>${first}<th role="rowheader" scope="row"><bdi><a href="${paths.printer(id)}">${name}</a></bdi></th
>${cells}${last}</tr>`;
}

/** The cell with the button that opens the menu. `data-not`: items that the printer cannot have. */
export const menuCell = memoize((row: PrinterWithState): Html => {
  const { id, name } = row.printer;
  const not = [row.state === "blocked" && "package", twinProblem(row) !== undefined && "twin"].filter(
    (kind) => kind !== false,
  );
  return html`<td role="cell" class="menu"><button type="button" class="link" value="${id}" aria-haspopup="dialog" aria-label="Actions for ${name}"
${not.length > 0 && html`data-not="${not.join(" ")}"`}>⋯</button></td>`;
});

/** The menu of all rows. A script opens it for a row, and writes the printer's id in place of the 0 of its paths. */
export function rowMenu(formats: readonly ListedFormat[], last?: Html): Html {
  const item = (label: string, path: string, kind?: string) =>
    html`<a data-path="${path}" ${kind && html`data-kind="${kind}"`}>${label}</a>`;
  const downloads = formats.map(({ id, target }) =>
    item(`Download ${target} package`, paths.package(0, id), "package"),
  );
  return html`<dialog class="row-menu">${item("Edit", paths.printerEdit(0))}${item("Duplicate", paths.printerCopy(0))}
    ${downloads.length > 0 ? downloads : item("Download", paths.printerDeploy(0))}${item("Make an IPP twin", paths.printerTwin(0), "twin")}${last}</dialog>`;
}

function addressCell(address: string): Html {
  if (address === "") return html`none (driver only)`;
  return html`<code ${address.length > longAddressLength && html`title="${address}"`}>${address}</code>`;
}

const longAddressLength = 39;

/** A printer's model, and its model for ARM64 if it has a second driver. */
function modelCell({ printer, driver, arm64Driver }: ListedPrinter): Html {
  const arm64 = arm64Driver && arm64Description(printer, arm64Driver);
  return html`<bdi>${modelLabel(printer, driver)}</bdi>${arm64 && html` <span class="soft file">ARM64: <bdi>${arm64}</bdi></span>`}`;
}

export function modelLabel(printer: Pick<Printer, "driver_desc">, driver: ListedPrinter["driver"]): string {
  return driver === undefined ? "No driver assigned" : effectiveDescription(printer, driver) || "No model";
}
