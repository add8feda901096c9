import { driverTitle } from "../domain/driver.ts";
import type { ListedPrinter, PrinterChoices, StatedPrinter } from "../domain/listings.ts";
import { effectiveDescription, type Printer } from "../domain/printer.ts";
import type { FormState } from "./form.ts";
import { type Html, html } from "./html.ts";
import { emptyState, type Frame, page } from "./layout.ts";
import { paths } from "./paths.ts";
import { printerForm } from "./printer-form.ts";
import { stateBadge } from "./standing.ts";
import { counted } from "./text.ts";

export function printersPage(
  frame: Frame,
  rows: readonly StatedPrinter[],
  choices: PrinterChoices,
  form: FormState,
  isFilled: boolean,
): Html {
  const isOpen = rows.length === 0 || isFilled || Object.keys(form.problems).length > 0;
  return page(
    { ...frame, title: "Printers", place: "Printers" },
    html`<p><a href="${paths.import}">Import or export</a></p><div class="beside">
      <details class="fold" id="new-printer" ${isOpen && html`open`}><summary class="button">New printer</summary>
        ${printerForm(choices, form)}</details>
      ${printerList(rows)}</div>`,
  );
}

/** The list grouped by client, as the page shows it and as a fragment brings it anew. */
export function printerList(rows: readonly StatedPrinter[]): Html {
  const groups = new Map<number | undefined, StatedPrinter[]>();
  for (const row of rows) {
    const group = groups.get(row.client?.id);
    if (group === undefined) groups.set(row.client?.id, [row]);
    else group.push(row);
  }
  const sections = [...groups.values()].map((group) => {
    const client = group[0]?.client;
    const name = client ? html`<a href="${paths.client(client.id)}">${client.name}</a>` : "Without a client";
    return html`<section class="group"><h2>${name} <span class="soft">${counted(group.length, "printer")}</span></h2>
      ${printerTable(group, true)}</section>`;
  });
  const first = html`<a class="button" href="#new-printer">Describe the first printer</a>`;
  const sentence = "A printer is what you deploy: its queue, port, driver and preferences.";
  return html`<div id="printer-list">${rows.length > 0 ? sections : emptyState(sentence, first)}</div>`;
}

/** @param withDelete only where the whole list is there to be brought anew */
export function printerTable(rows: readonly StatedPrinter[], withDelete = false): Html {
  const lines = rows.map((row) => printerRow(row, withDelete));
  return html`<table><thead><tr><th scope="col">Printer</th><th scope="col">Address</th><th scope="col">Model</th>
    <th scope="col">State</th><th scope="col"><span class="visually-hidden">Actions</span></th></tr></thead>
    <tbody>${lines}</tbody></table>`;
}

function printerRow(row: StatedPrinter, withDelete: boolean): Html {
  const { printer, driver } = row;
  return html`<tr>
      <td data-label="Printer"><a href="${paths.printer(printer.id)}">${printer.name}</a></td>
      <td data-label="Address"><code>${printer.address || printer.port_name || "driver only"}</code></td>
      <td data-label="Model">${modelLabel(printer, driver)}</td>
      <td data-label="State">${stateBadge(row)}</td>
      <td data-label="" class="row-actions"><a href="${paths.printerEdit(printer.id)}">Edit<span class="visually-hidden">
        ${printer.name}</span></a> <a href="${paths.printerCopy(printer.id)}">Duplicate<span class="visually-hidden">
        ${printer.name}</span></a> ${withDelete && deleteInList(printer)}</td>
    </tr>`;
}

function deleteInList(printer: ListedPrinter["printer"]): Html {
  return html`<form class="inline" method="get" action="${paths.printer(printer.id)}" hx-delete="${paths.printer(printer.id)}"
    hx-target="#printer-list" hx-swap="outerHTML" hx-confirm="Delete ${printer.name}? Machines that have it keep it.">
    <button class="link">Delete<span class="visually-hidden"> ${printer.name}</span></button></form>`;
}

export function modelLabel(printer: Pick<Printer, "driver_desc">, driver: ListedPrinter["driver"]): string {
  return driver === undefined
    ? "No driver assigned"
    : effectiveDescription(printer, driver) || driverTitle(driver);
}
