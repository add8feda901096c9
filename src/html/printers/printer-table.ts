import type { ListedPrinter, PrinterWithState } from "../../domain/printers/listings.ts";
import { effectiveDescription, type Printer } from "../../domain/printers/printer.ts";
import { arm64Description } from "../../domain/printers/printer-drivers.ts";
import { type Html, html } from "../html.ts";
import { paths } from "../paths.ts";
import { stateBadge } from "../state-badge.ts";

/** A table of a few printers, without checkboxes and bulk changes. */
export function printerTable(rows: readonly PrinterWithState[], isChangeable: boolean): Html {
  return html`<div class="rows"><table class="printers few ${addressWidthClass(rows)}" role="table">${printerHead(isChangeable)}
    <tbody role="rowgroup">${rows.map((row) => html`<tr role="row">${printerCells(row)}${isChangeable && actionsCell(row)}</tr>`)}</tbody></table></div>`;
}

/** @param first a cell to put before the others */
export function printerHead(isChangeable: boolean, first?: Html): Html {
  const cells = ["Printer", "Address", "Model", "Location", "State"].map(
    (label) => html`<th role="columnheader" scope="col">${label}</th>`,
  );
  const actions = html`<th role="columnheader" scope="col"><span class="visually-hidden">Actions</span></th>`;
  return html`<thead role="rowgroup"><tr role="row">${first}${cells}${isChangeable && actions}</tr></thead>`;
}

/**
 * The cells of a printer. CSS gives rows `display: block`, so that browsers lay out only visible ones; the ARIA roles keep
 * the table's semantics. The markup is short because a page may have a thousand rows.
 */
export function printerCells(row: PrinterWithState): Html {
  const { printer } = row;
  const { id, name, address, port_name, location } = printer;
  return html`<th role="rowheader" scope="row"><bdi><a href="${paths.printer(id)}">${name}</a></bdi></th
><td role="cell">${addressCell(address || port_name)}</td
><td role="cell">${modelCell(row)}</td
><td role="cell">${location !== "" && html`<bdi>${location}</bdi>`}</td
><td role="cell">${stateBadge(row)}</td>`;
}

/** The cell with a printer's actions. @param last an action after the links */
export function actionsCell({ printer: { id, name } }: PrinterWithState, last?: Html): Html {
  return html`<td role="cell"><a href="${paths.printerEdit(id)}" aria-label="Edit ${name}">Edit</a> <a href="${paths.printerCopy(id)}"
aria-label="Duplicate ${name}">Duplicate</a>${last}</td>`;
}

function addressCell(address: string): Html {
  if (address === "") return html`driver only`;
  return html`<code ${address.length > longAddressLength && html`title="${address}"`}>${address}</code>`;
}

const longAddressLength = 39;

/** The CSS class that makes the address column wide enough for the longest address, equally in all rows. */
export function addressWidthClass(rows: readonly PrinterWithState[]): string {
  let longest = 0;
  for (const { printer } of rows) longest = Math.max(longest, (printer.address || printer.port_name).length);
  if (longest <= 15) return "";
  return longest <= 24 ? "longer" : "longest";
}

/** A printer's model, and its model for ARM64 if it has a second driver. */
export function modelCell({ printer, driver, arm64Driver }: ListedPrinter): Html {
  const arm64 = arm64Driver && arm64Description(printer, arm64Driver);
  return html`<bdi>${modelLabel(printer, driver)}</bdi>${arm64 && html` <span class="soft file">ARM64: <bdi>${arm64}</bdi></span>`}`;
}

export function modelLabel(printer: Pick<Printer, "driver_desc">, driver: ListedPrinter["driver"]): string {
  return driver === undefined ? "No driver assigned" : effectiveDescription(printer, driver) || "No model";
}
