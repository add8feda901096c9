import { arm64Description } from "../../domain/printers/arm64-driver.ts";
import type { ListedPrinter, StatedPrinter } from "../../domain/printers/listings.ts";
import { effectiveDescription, type Printer } from "../../domain/printers/printer.ts";
import { type Html, html } from "../html.ts";
import { paths } from "../paths.ts";
import { stateBadge } from "../state-badge.ts";

/** A table of a few printers, without what is chosen and done with several. */
export function printerTable(rows: readonly StatedPrinter[], isChangeable: boolean): Html {
  return html`<div class="rows"><table class="printers few ${addressWidth(rows)}" role="table">${printerHead({ isChangeable })}
    <tbody role="rowgroup">${rows.map((row) => html`<tr role="row">${printerCells(row)}${isChangeable && changeCell(row)}</tr>`)}</tbody></table></div>`;
}

/** The table's head. @param first a cell before the others */
export function printerHead({
  first,
  isChangeable,
}: {
  readonly first?: Html;
  readonly isChangeable: boolean;
}): Html {
  const cells = ["Printer", "Address", "Model", "Location", "State"].map(
    (label) => html`<th role="columnheader" scope="col">${label}</th>`,
  );
  const actions = html`<th role="columnheader" scope="col"><span class="visually-hidden">Actions</span></th>`;
  return html`<thead role="rowgroup"><tr role="row">${first}${cells}${isChangeable && actions}</tr></thead>`;
}

/**
 * A printer's cells. Rows are blocks, of which browsers lay out only what is seen, so the roles say that it is a table.
 * They are as short as can be: a page has a thousand of them.
 */
export function printerCells(row: StatedPrinter): Html {
  const { printer } = row;
  const { id, name, address, port_name, location } = printer;
  return html`<th role="rowheader" scope="row"><bdi><a href="${paths.printer(id)}">${name}</a></bdi></th
><td role="cell">${addressCell(address || port_name)}</td
><td role="cell">${modelCell(row)}</td
><td role="cell">${location !== "" && html`<bdi>${location}</bdi>`}</td
><td role="cell">${stateBadge(row)}</td>`;
}

/** What can be done with a printer. @param last after the links */
export function changeCell({ printer: { id, name } }: StatedPrinter, last?: Html): Html {
  return html`<td role="cell"><a href="${paths.printerEdit(id)}" aria-label="Edit ${name}">Edit</a> <a href="${paths.printerCopy(id)}"
aria-label="Duplicate ${name}">Duplicate</a>${last}</td>`;
}

function addressCell(address: string): Html {
  if (address === "") return html`driver only`;
  return html`<code ${address.length > longAddress && html`title="${address}"`}>${address}</code>`;
}

const longAddress = 39;

/** Columns are equally wide in all rows only where nothing in the rows decides it. */
export function addressWidth(rows: readonly StatedPrinter[]): string {
  let longest = 0;
  for (const { printer } of rows) longest = Math.max(longest, (printer.address || printer.port_name).length);
  if (longest <= 15) return "";
  return longest <= 24 ? "longer" : "longest";
}

/** The models of a printer: of a second driver, where it has one, too. */
export function modelCell({ printer, driver, arm64Driver }: ListedPrinter): Html {
  const arm64 = arm64Driver && arm64Description(printer, arm64Driver);
  return html`<bdi>${modelLabel(printer, driver)}</bdi>${arm64 && html` <span class="soft file">ARM64: <bdi>${arm64}</bdi></span>`}`;
}

export function modelLabel(printer: Pick<Printer, "driver_desc">, driver: ListedPrinter["driver"]): string {
  return driver === undefined ? "No driver assigned" : effectiveDescription(printer, driver) || "No model";
}
