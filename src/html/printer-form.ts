import { driverTitle } from "../domain/driver.ts";
import type { PrinterChoices } from "../domain/listings.ts";
import { type Printer, queueNameRule } from "../domain/printer.ts";
import { collateModes, colorModes, duplexModes, paperSizes, protocols } from "../domain/printer-choices.ts";
import { printerDefaults } from "../domain/printer-fields.ts";
import { checkbox, type FormState, problemSummary, selectField, textArea, textField } from "./form.ts";
import { type Html, html } from "./html.ts";
import { type Frame, page } from "./layout.ts";
import { paths } from "./paths.ts";
import { listed } from "./text.ts";

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
