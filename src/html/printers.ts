import { driverTitle } from "../domain/driver.ts";
import type { ListedPrinter, PrinterChoices } from "../domain/listings.ts";
import { type Printer, printerNeeds, queueNameRule } from "../domain/printer.ts";
import { collateModes, colorModes, duplexModes, paperSizes, protocols } from "../domain/printer-choices.ts";
import { printerDefaults } from "../domain/printer-fields.ts";
import { checkbox, type FormState, problemSummary, selectField, textArea, textField } from "./form.ts";
import { type Html, html } from "./html.ts";
import { badge, emptyState, type Frame, page } from "./layout.ts";
import { paths } from "./paths.ts";
import { counted, listed } from "./text.ts";

export function printersPage(
  frame: Frame,
  rows: readonly ListedPrinter[],
  choices: PrinterChoices,
  form: FormState,
  isFilled: boolean,
): Html {
  const isOpen = rows.length === 0 || isFilled || Object.keys(form.problems).length > 0;
  return page(
    { ...frame, title: "Printers", place: "Printers" },
    html`<div class="beside">
      <details class="fold" id="new-printer" ${isOpen && html`open`}><summary class="button">New printer</summary>
        ${printerForm(choices, form)}</details>
      ${printerList(rows)}</div>`,
  );
}

/** The list grouped by client, as the page shows it and as a fragment brings it anew. */
export function printerList(rows: readonly ListedPrinter[]): Html {
  const groups = new Map<number | undefined, ListedPrinter[]>();
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
export function printerTable(rows: readonly ListedPrinter[], withDelete = false): Html {
  const lines = rows.map(
    ({ printer, driver }) => html`<tr>
      <td data-label="Printer"><a href="${paths.printer(printer.id)}">${printer.name}</a></td>
      <td data-label="Address"><code>${printer.address || printer.port_name || "driver only"}</code></td>
      <td data-label="Model">${modelLabel(printer, driver)}</td>
      <td data-label="State">${printerState(printer, driver)}</td>
      <td data-label="" class="row-actions"><a href="${paths.printerEdit(printer.id)}">Edit<span class="visually-hidden">
        ${printer.name}</span></a> <a href="${paths.printerCopy(printer.id)}">Copy<span class="visually-hidden">
        ${printer.name}</span></a> ${withDelete && deleteInList(printer)}</td>
    </tr>`,
  );
  return html`<table><thead><tr><th scope="col">Printer</th><th scope="col">Address</th><th scope="col">Model</th>
    <th scope="col">State</th><th scope="col"><span class="visually-hidden">Actions</span></th></tr></thead>
    <tbody>${lines}</tbody></table>`;
}

function deleteInList(printer: ListedPrinter["printer"]): Html {
  return html`<form class="inline" method="get" action="${paths.printer(printer.id)}" hx-delete="${paths.printer(printer.id)}"
    hx-target="#printer-list" hx-swap="outerHTML" hx-confirm="Delete ${printer.name}? Machines that have it keep it.">
    <button class="link">Delete<span class="visually-hidden"> ${printer.name}</span></button></form>`;
}

export function modelLabel(printer: Pick<Printer, "driver_desc">, driver: ListedPrinter["driver"]): string {
  return driver === undefined ? "No driver assigned" : printer.driver_desc || driverTitle(driver);
}

export function printerState(printer: Pick<Printer, "driver_desc">, driver: ListedPrinter["driver"]): Html {
  if (driver === undefined) return badge("warn", "No driver");
  if (printerNeeds(printer, driver) !== undefined) return badge("warn", "Driver incomplete");
  return badge("good", "Ready");
}

/** The form for a new printer; `oob` where a fragment brings it along. */
export function printerForm(choices: PrinterChoices, form: FormState, oob = false): Html {
  return html`<form id="printer-form" class="panel" method="post" action="${paths.printers}" novalidate data-guard
    hx-post="${paths.printers}" hx-target="#printer-list" hx-swap="outerHTML" hx-disabled-elt="find .primary"
    ${oob && html`hx-swap-oob="true"`}>
    ${problemSummary(form)}${printerFields(choices, form)}
    <button class="primary">Save printer</button>
  </form>`;
}

export function printerEditPage(
  frame: Frame,
  printer: Printer,
  choices: PrinterChoices,
  form: FormState,
): Html {
  return page(
    { ...frame, title: `Edit ${printer.name}`, place: "Printers" },
    html`<form id="printer-form" class="panel wide" method="post" action="${paths.printer(printer.id)}" novalidate data-guard>
      ${problemSummary(form)}${printerFields(choices, form)}
      <p class="actions"><button class="primary">Save printer</button> <a href="${paths.printer(printer.id)}">Cancel</a></p>
    </form>`,
  );
}

function printerFields(choices: PrinterChoices, form: FormState): Html {
  const clients = choices.clients.map(({ id, name }) => [String(id), name] as const);
  const drivers = choices.drivers.map((driver) => [String(driver.id), driverTitle(driver)] as const);
  return html`
    ${textField(form, {
      label: "Name",
      name: "name",
      required: true,
      hint: `The queue’s name on Windows. Everything but ${listed(queueNameRule.forbidden)} is possible.`,
    })}
    ${selectField(form, { label: "Client", name: "client_id", choices: [["", "None"], ...clients] })}
    ${selectField(form, { label: "Driver", name: "driver_id", choices: [["", "None yet"], ...drivers], attributes: html`data-models` })}
    ${textField(form, {
      label: "Model",
      name: "driver_desc",
      hint: "Empty takes the driver’s own. Type to search in the driver’s models.",
      attributes: html`list="models" autocomplete="off"`,
    })}
    <datalist id="models"></datalist>
    ${textField(form, {
      label: "Address",
      name: "address",
      hint: "IPv4, IPv6 or host name. Leave it and the port empty to deploy the driver alone.",
      attributes: html`autocapitalize="off" spellcheck="false"`,
    })}
    ${textField(form, {
      label: "Port",
      name: "port_name",
      hint: "Follows the address until you type one.",
      attributes: html`spellcheck="false"`,
    })}
    <details class="more" ${hasMore(form) && html`open`}><summary>Port, sharing, preferences and clean-up</summary>
      ${portFields(form)}${queueFields(form)}${preferenceFields(form)}${cleanUpFields(form)}
    </details>`;
}

const basics = ["name", "client_id", "driver_id", "driver_desc", "address", "port_name"];

/** The folded part opens where one of its fields was refused. */
function hasMore(form: FormState): boolean {
  return Object.keys(form.problems).some((name) => !basics.includes(name));
}

function portFields(form: FormState): Html {
  return html`<fieldset><legend>Port</legend>
    ${selectField(form, { label: "Protocol", name: "protocol", choices: protocols })}
    ${textField(form, { label: "Port number", name: "port_number", hint: `RAW only; usually ${printerDefaults.port_number}.`, attributes: html`inputmode="numeric"` })}
    ${textField(form, { label: "LPR queue", name: "lpr_queue", hint: "LPR only; often lp or auto." })}
    ${checkbox(form, {
      label: "Ask the printer’s status by SNMP",
      name: "snmp",
      hint: "Off is safer: where the printer does not answer, Windows shows it offline and holds its jobs.",
    })}
    ${textField(form, { label: "SNMP community", name: "snmp_community" })}
    ${textField(form, { label: "SNMP index", name: "snmp_index", attributes: html`inputmode="numeric"` })}
  </fieldset>`;
}

function queueFields(form: FormState): Html {
  return html`<fieldset><legend>Queue</legend>
    ${textField(form, { label: "Location", name: "location" })}
    ${textField(form, { label: "Comment", name: "comment" })}
    ${checkbox(form, { label: "Make it the default printer", name: "set_default", hint: "For who is logged on, and for others at their next log-on." })}
    ${checkbox(form, { label: "Share it on the network", name: "shared" })}
    ${textField(form, { label: "Share name", name: "share_name", hint: "Empty takes the printer’s name." })}
  </fieldset>`;
}

function preferenceFields(form: FormState): Html {
  return html`<fieldset><legend>Preferences</legend>
    ${selectField(form, { label: "Duplex", name: "duplex", choices: duplexModes })}
    ${selectField(form, { label: "Colour", name: "color", choices: colorModes })}
    ${selectField(form, { label: "Collate", name: "collate", choices: collateModes })}
    ${selectField(form, { label: "Paper size", name: "paper_size", choices: paperSizes })}
  </fieldset>`;
}

function cleanUpFields(form: FormState): Html {
  return html`<fieldset><legend>Clean-up</legend>
    ${textArea(form, {
      label: "Replaces",
      name: "replaces",
      hint: "Old queue names, one a line: removed once this printer is installed.",
    })}
    ${checkbox(form, { label: "Leave the driver on the machine at uninstall", name: "keep_driver" })}
  </fieldset>`;
}
