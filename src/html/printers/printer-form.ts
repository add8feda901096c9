import { chosenInf, type Driver, type DriverSummary } from "../../domain/drivers/driver.ts";
import { ippDriverId } from "../../domain/drivers/windows-drivers.ts";
import type { PrinterChoices } from "../../domain/printers/listings.ts";
import { ticketCommand } from "../../domain/printers/print-ticket.ts";
import { type Printer, type PrinterSettings, queueNameRule } from "../../domain/printers/printer.ts";
import { arm64Problem } from "../../domain/printers/printer-drivers.ts";
import { ippPort, printerFormValues } from "../../domain/printers/printer-fields.ts";
import {
  collateModes,
  colorModes,
  duplexModes,
  paperSizes,
  protocols,
} from "../../domain/printers/setting-values.ts";
import { driverChoices } from "../drivers/driver-label.ts";
import { arm64Hint, modelHint, modelOptions, nearestNames } from "../drivers/driver-models.ts";
import { printerLabels } from "../field-labels.ts";
import {
  checkbox,
  type FormState,
  formVersionField,
  problemSummary,
  selectField,
  textArea,
  textField,
} from "../form.ts";
import { type Html, html } from "../html.ts";
import { copyable, helpLinks, type PageContext, page } from "../layout.ts";
import { paths } from "../paths.ts";
import { bytes, listed } from "../text.ts";
import { twinHead } from "./ipp-twin.ts";

function fieldOptions<Name extends keyof PrinterSettings>(name: Name) {
  return { name, label: printerLabels[name] };
}

/** The form for a new printer. @param oob true: an out-of-band part of a fragment */
export function printerForm(choices: PrinterChoices, form: FormState, oob = false): Html {
  return html`<form id="printer-form" class="panel" method="post" action="${paths.printers}" novalidate data-guard
    hx-post="${paths.printers}" hx-target="#printer-list" hx-swap="outerHTML" hx-disabled-elt="find .primary"
    ${oob && html`hx-swap-oob="true"`}>
    ${originOf(choices, form)}${problemSummary(form)}${printerFields(choices, form)}
    <button class="primary">Save printer</button>
  </form>`;
}

/** The printer that a new one is like, or replaces over IPP. */
function originOf({ twinOf }: PrinterChoices, { values: { like } }: FormState): Html | undefined {
  if (like)
    return html`<h2>New printer like <bdi>${like}</bdi></h2><input type="hidden" name="like" value="${like}">`;
  return twinOf && twinHead(twinOf);
}

export function printerEditPage(
  context: PageContext,
  printer: Printer,
  choices: PrinterChoices,
  form: FormState,
): Html {
  const record = { labels: printerLabels, path: paths.printerEdit(printer.id) };
  return page(
    {
      ...context,
      title: `Edit ${printer.name}`,
      heading: html`Edit <bdi>${printer.name}</bdi>`,
      section: "Printers",
    },
    html`<form id="printer-form" class="panel" method="post" action="${paths.printer(printer.id)}" novalidate data-guard>
      ${problemSummary(form, record)}${printerFields(choices, form)}${formVersionField(form)}
      <p class="actions"><button class="primary">Save printer</button> <a href="${paths.printer(printer.id)}">Cancel</a></p>
    </form>`,
  );
}

export function ticketSummary(ticket: string): Html {
  return html`${bytes(Buffer.byteLength(ticket))} of XML`;
}

function printerFields(choices: PrinterChoices, form: FormState): Html {
  const clients = choices.clients.map(({ id, name }) => [String(id), name] as const);
  return html`
    ${textField(form, {
      ...fieldOptions("name"),
      required: true,
      hint: `The queue’s name on Windows, without ${listed(queueNameRule.forbidden)}.`,
    })}
    ${selectField(form, { ...fieldOptions("client_id"), choices: [["", "None"], ...clients] })}
    ${driverFields(choices, form)}
    ${textField(form, {
      ...fieldOptions("address"),
      required: Boolean(form.values.like),
      hint: html`IP address or host name. ${!form.values.like && html`<span class="only-port">Leave address and port empty to install only the driver.</span>`}<span class="only-ipp">The printer must be on when a PC installs it.</span>`,
      attributes: html`autocapitalize="off" spellcheck="false"`,
    })}
    ${textField(form, {
      ...fieldOptions("port_name"),
      visibleWhen: "port",
      hint: "Leave empty for IP_ and the address.",
      attributes: html`spellcheck="false"`,
    })}
    ${folds(choices, form)}`;
}

/** Settings that few printers need, folded by topic. */
function folds(choices: PrinterChoices, form: FormState): Html {
  return html`
    ${fold(form, "Port and status", ["protocol", "port_number", "ipp_path", "ipp_tls", "lpr_queue", "snmp", "snmp_community", "snmp_index"], portFields, helpLinks(["IPP", "driverless"], ["SNMP status", "diagnosis#the-device"]))}
    ${fold(form, "Location, sharing, default printer", ["location", "comment", "set_default", "shared", "share_name", "permission_sddl", "keep_printed", "hold_mismatched"], queueFields, helpLinks(["Permissions, follow-me queues", "printers#permissions-and-follow-me-queues"]))}
    ${fold(form, "Preferences", ["duplex", "color", "collate", "paper_size", "print_ticket", "reset_user_preferences"], preferenceFields, helpLinks(["Preferences and PrintTickets", "printers#trays-stapling-and-other-preferences"]))}
    ${fold(form, "ARM64 PCs", ["arm64_driver_id", "arm64_driver_desc"], () => arm64Fields(choices, form), helpLinks(["ARM64 PCs", "drivers#x64-and-arm64-pcs"]))}
    ${fold(form, "Subnets", ["subnets", "requires_reachable"], subnetFields, helpLinks(["Only in its subnets", "intune#only-in-its-subnets"]))}
    ${fold(form, "Old queues and uninstall", ["replaces", "keep_driver"], cleanUpFields, helpLinks(["What is removed", "printers#remove-what-the-printer-replaces"]))}`;
}

const defaultValues = printerFormValues();

/** Open if one of its fields has a problem or a conflict. Shows how many fields differ from their defaults. */
function fold(
  form: FormState,
  title: string,
  names: readonly (keyof PrinterSettings)[],
  fields: (form: FormState) => Html,
  help?: Html,
): Html {
  const set = names.filter(
    (name) => (form.values[name] ?? defaultValues[name] ?? "") !== (defaultValues[name] ?? ""),
  ).length;
  const isOpen = names.some((name) => name in form.problems || name in (form.newerValues ?? {}));
  return html`<details class="more" data-fold ${isOpen && html`open`}>
    <summary>${title} <span class="soft count">${set > 0 && `${set} set`}</span></summary>${help}${fields(form)}</details>`;
}

function portFields(form: FormState): Html {
  const { port_number, ipp_path, snmp_community, snmp_index } = defaultValues;
  return html`
    ${selectField(form, { ...fieldOptions("protocol"), choices: protocols })}
    ${textField(form, { ...fieldOptions("port_number"), visibleWhen: "number", hint: `Usually ${port_number} for RAW, ${ippPort} for IPP.`, attributes: html`inputmode="numeric" data-default="${port_number}" data-ipp="${ippPort}"` })}
    ${textField(form, { ...fieldOptions("ipp_path"), visibleWhen: "ipp", hint: "Most printers use /ipp/print, older HP printers /ipp/port1.", attributes: html`spellcheck="false" data-default="${ipp_path}"` })}
    ${checkbox(form, { ...fieldOptions("ipp_tls"), visibleWhen: "ipp" })}
    ${textField(form, { ...fieldOptions("lpr_queue"), visibleWhen: "lpr", hint: "Queue name on the printer, often lp or auto." })}
    ${checkbox(form, {
      ...fieldOptions("snmp"),
      visibleWhen: "port",
      hint: "If the printer does not answer, Windows shows it offline.",
    })}
    ${textField(form, { ...fieldOptions("snmp_community"), visibleWhen: "snmp", attributes: html`data-default="${snmp_community}"` })}
    ${textField(form, { ...fieldOptions("snmp_index"), visibleWhen: "snmp", attributes: html`inputmode="numeric" data-default="${snmp_index}"` })}`;
}

function queueFields(form: FormState): Html {
  return html`
    ${textField(form, fieldOptions("location"))}
    ${textField(form, fieldOptions("comment"))}
    ${checkbox(form, { ...fieldOptions("set_default"), hint: "Signed-in users get it at installation, others at next sign-in. With subnets: at sign-in inside them." })}
    ${checkbox(form, fieldOptions("shared"))}
    ${textField(form, { ...fieldOptions("share_name"), visibleWhen: "shared", hint: "Leave empty to use the printer’s name." })}
    ${textField(form, {
      ...fieldOptions("permission_sddl"),
      hint: html`SDDL, as <code>Get-Printer -Full</code> shows it. Emptying it leaves queues as they are.`,
      attributes: html`autocapitalize="off" spellcheck="false"`,
    })}
    ${checkbox(form, { ...fieldOptions("keep_printed"), hint: "They stay in the queue until somebody deletes them." })}
    ${checkbox(form, { ...fieldOptions("hold_mismatched"), hint: "Documents that do not match the device wait." })}`;
}

function preferenceFields(form: FormState): Html {
  return html`
    ${selectField(form, { ...fieldOptions("duplex"), choices: duplexModes })}
    ${selectField(form, { ...fieldOptions("color"), choices: colorModes })}
    ${selectField(form, { ...fieldOptions("collate"), choices: collateModes })}
    ${selectField(form, { ...fieldOptions("paper_size"), choices: paperSizes })}
    ${ticketField(form)}
    ${checkbox(form, {
      ...fieldOptions("reset_user_preferences"),
      hint: "Deletes users’ own preferences, once after each change.",
    })}`;
}

function subnetFields(form: FormState): Html {
  return html`${textArea(form, {
    ...fieldOptions("subnets"),
    hint: "One per line. Leave empty to use the client’s subnets.",
    attributes: html`spellcheck="false"`,
  })}
  ${checkbox(form, { ...fieldOptions("requires_reachable"), hint: "Only for Intune. PCs that have the queue keep it." })}`;
}

function cleanUpFields(form: FormState): Html {
  return html`
    ${textArea(form, {
      ...fieldOptions("replaces"),
      hint: html`One per line: queue name, <code>\\\\server\\queue</code> or <code>address:10.1.2.3</code>.`,
      attributes: html`spellcheck="false"`,
    })}
    ${checkbox(form, fieldOptions("keep_driver"))}`;
}

const modelHintWithoutDriver = "Leave empty for the driver’s model, or type to search.";

function driverFields({ drivers, chosenDriver }: PrinterChoices, form: FormState): Html {
  const known = [["", "No driver"], ...driverChoices(drivers, form.values.driver_id)] as const;
  return html`<input type="hidden" name="from_form" value="1">
    ${selectField(form, { ...fieldOptions("driver_id"), choices: known, attributes: html`data-models="driver_desc" data-ipp="${ippDriverId}"` })}
    <p class="upload-link"><a href="${paths.uploadForm}">Upload driver…</a>
      <noscript><span class="hint">Opens another page. Save this form first.</span></noscript>
      <span class="hint" id="driver-uploaded" role="status"></span></p>
    ${textField(form, {
      ...fieldOptions("driver_desc"),
      hint: chosenDriver === undefined ? modelHintWithoutDriver : modelHint(chosenDriver),
      attributes: html`list="models" autocomplete="off" spellcheck="false"`,
    })}
    ${nearestNames("driver_desc", chosenDriver && chosenInf(chosenDriver), form.values.driver_desc)}
    ${suggestions(chosenDriver, "models")}`;
}

function arm64Fields({ drivers, chosenDriver, chosenArm64Driver }: PrinterChoices, form: FormState): Html {
  const own = form.values.arm64_driver_id;
  const isPossible = (driver: DriverSummary) => arm64Problem(driver, undefined) === undefined;
  const possible = drivers.filter((driver) => String(driver.id) === own || isPossible(driver));
  return html`<p class="hint only-ipp">Not required: Windows includes the IPP driver for ARM64.</p>
    ${selectField(form, {
      ...fieldOptions("arm64_driver_id"),
      visibleWhen: "port",
      choices: [["", "Same as above"], ...driverChoices(possible, own)],
      hint: arm64Hint(chosenDriver),
      attributes: html`data-models="arm64_driver_desc"`,
    })}
    ${textField(form, {
      ...fieldOptions("arm64_driver_desc"),
      visibleWhen: "port",
      hint: chosenArm64Driver === undefined ? modelHintWithoutDriver : modelHint(chosenArm64Driver),
      attributes: html`list="arm64-models" autocomplete="off" spellcheck="false"`,
    })}
    ${nearestNames("arm64_driver_desc", chosenArm64Driver && chosenInf(chosenArm64Driver), form.values.arm64_driver_desc)}
    ${suggestions(chosenArm64Driver, "arm64-models")}`;
}

function suggestions(driver: Driver | undefined, id: string): Html {
  if (driver === undefined) return html`<datalist id="${id}"></datalist>`;
  return modelOptions(driver, chosenInf(driver), "", { id, max: maxSuggestedModels });
}

/** The page contains many, because browsers without scripts load no others while the user types. */
const maxSuggestedModels = 500;

/** The PrintTicket: pasted text or, in browsers with scripts, a file. Explains how to get one. */
function ticketField(form: FormState): Html {
  const { name, label } = fieldOptions("print_ticket");
  return html`
    ${textArea(form, {
      name,
      label,
      hint: "XML for trays, stapling or user codes. Fields above override it.",
      attributes: html`spellcheck="false" autocapitalize="off"`,
    })}
    <div class="field" data-file-text="f-${name}" hidden>
      <label for="f-${name}-file">${label} from a file</label>
      <input id="f-${name}-file" type="file" accept=".xml,.txt,text/xml,application/xml">
    </div>
    <details class="more ticket-source"><summary>Get a PrintTicket from a PC</summary>
      <ol>
        <li>Set the preferences on a queue with the same driver: <em>Printer properties</em>, <em>Advanced</em>, <em>Printing Defaults</em>.</li>
        <li>Paste this command into <em>Windows PowerShell</em> and choose the queue.
          ${copyable("Command", ticketCommand, "ticket-command")}</li>
        <li>Paste the result above. Or use <code>| Set-Content ticket.xml -Encoding UTF8</code>
          and choose that file.</li>
      </ol></details>`;
}
