import { groupBy, memoize } from "../../domain/collections.ts";
import type { ListedFormat } from "../../domain/deploy/package-format.ts";
import { isTicked } from "../../domain/fields.ts";
import { findingKinds } from "../../domain/printers/findings.ts";
import type { PrinterChoices, PrinterWithState } from "../../domain/printers/listings.ts";
import type { Narrowing } from "../../domain/printers/search.ts";
import { driverChoices } from "../drivers/driver-label.ts";
import { emptyForm, type FormState, type SelectChoice, selectOptions } from "../form.ts";
import { type Html, html } from "../html.ts";
import { canChange, emptyState, type PageContext, page } from "../layout.ts";
import { changedStateOption, narrowingForm, narrowingQuery, nothingMatches } from "../list-filter.ts";
import { paths } from "../paths.ts";
import { counted } from "../text.ts";
import { printerForm } from "./printer-form.ts";
import { actionsCell, addressWidthClass, printerCells, printerHead, printerTable } from "./printer-table.ts";

/** The list of printers, whole or filtered, and the choices for bulk changes. */
export interface PrinterList {
  readonly rows: readonly PrinterWithState[];
  readonly narrowing: Narrowing;
  /** The number of printers without the filter. */
  readonly total: number;
  readonly choices: Pick<PrinterChoices, "clients" | "drivers">;
  readonly formats: readonly ListedFormat[];
  /** The ids of the ticked rows, after a bulk change was refused. */
  readonly chosen?: ReadonlySet<number>;
  /** The values and problems of the refused bulk change. */
  readonly bulk?: FormState;
}

/** The form above the list. */
interface NewPrinter {
  readonly form: FormState;
  readonly choices: PrinterChoices;
  /** Whether the URL asks for the form to be open. */
  readonly isRequested: boolean;
}

export function printersPage(
  context: PageContext,
  list: PrinterList,
  { form, choices, isRequested }: NewPrinter,
): Html {
  const { total } = list;
  if (!canChange(context.visitor)) return readOnlyPrintersPage(context, list);
  const isOpen = total === 0 || isRequested || Object.keys(form.problems).length > 0;
  return page(
    { ...context, title: "Printers", section: "Printers" },
    html`<p><a href="${paths.import}">Import or export</a></p><div class="tools">
      <details class="fold" id="new-printer" ${isOpen && html`open`}><summary class="button primary">New printer</summary>
        ${printerForm(choices, form)}</details>
      ${narrowing(list)}</div>
    ${printerList(list)}`,
  );
}

/** For users who cannot change records. */
function readOnlyPrintersPage(context: PageContext, list: PrinterList): Html {
  const { rows, total } = list;
  const found = rows.length > 0 ? printerTable(rows, false) : nothingMatches("printers", list);
  return page(
    { ...context, title: "Printers", section: "Printers" },
    html`<p><a href="${paths.exportPrinters}">Export</a></p>${
      total === 0
        ? html`<p>There are no printers yet.</p>`
        : html`<div class="tools">${narrowing(list)}</div><div id="printer-list" class="rows">${found}</div>`
    }`,
  );
}

function narrowing(list: PrinterList): Html {
  const states = { others: [changedStateOption], kinds: findingKinds };
  return narrowingForm("printers", list, { clients: list.choices.clients, states });
}

/** The list grouped by client, for the page and for fragments. */
export function printerList(list: PrinterList): Html {
  const { rows, total } = list;
  if (total === 0) {
    const first = html`<a class="button" href="#new-printer">Describe the first printer</a>`;
    const sentence = "A printer is what you deploy: its queue, port, driver and preferences.";
    return html`<div id="printer-list" class="none">${emptyState(sentence, first)}</div>`;
  }
  return html`<div id="printer-list" class="rows">${rows.length > 0 ? listForm(list) : nothingMatches("printers", list)}</div>`;
}

/** One form around all rows. Each row has a checkbox and a delete button. */
function listForm({ rows, narrowing, choices, formats, chosen, bulk }: PrinterList): Html {
  const all = html`<th role="columnheader" scope="col" aria-label="Choose"><label class="box"><input type="checkbox" class="all" aria-label="Choose all that are shown" hidden></label></th>`;
  const groups = [...groupBy(rows, ({ client }) => client?.id).values()].map((group) =>
    groupBody(group, chosen),
  );
  // Enter in a checkbox presses the form's first button. This hidden one has no action, so nothing changes.
  return html`<form class="list" method="post" action="${paths.printersBulk}" autocomplete="off"
    hx-post="${paths.printersBulk}" hx-target="#printer-list" hx-swap="outerHTML">
    <button hidden></button><input type="hidden" name="narrowed" value="${narrowingQuery(narrowing)}">
    <table class="printers ${addressWidthClass(rows)}" role="table">${printerHead(true, all)}${groups}</table>
    ${bulkBar(choices, formats, bulk)}</form>`;
}

/** Browsers skip the layout of invisible groups. In larger groups they skip it for each row (rows.css). */
const manyRows = 60;

function groupBody(group: readonly PrinterWithState[], chosen: ReadonlySet<number> | undefined): Html {
  const client = group[0]?.client;
  const name = client
    ? html`<a href="${paths.client(client.id)}"><bdi>${client.name}</bdi></a>`
    : "Without a client";
  return html`<tbody role="rowgroup" ${group.length > manyRows && html`class="many"`}><tr role="row" class="client"><th role="rowheader" scope="rowgroup" colspan="7"
    aria-colspan="7" aria-label="${client?.name ?? "Without a client"}"><label class="box"><input type="checkbox" class="group" aria-label="Choose all of ${client?.name ?? "those without a client"}"
    hidden></label> ${name} <span class="soft">${counted(group.length, "printer")}</span></th></tr>
    ${group.map((row) => (chosen?.has(row.printer.id) ? listRow(row, true) : plainRow(row)))}</tbody>`;
}

/** A row stays the same object until a record changes, so its HTML can be reused. */
const plainRow = memoize((row: PrinterWithState) => listRow(row, false));

function listRow(row: PrinterWithState, isChosen: boolean): Html {
  const { id, name } = row.printer;
  const last = html` <button class="link" formaction="${paths.printerDelete(id)}" aria-label="Delete ${name}">Delete</button>`;
  return html`<tr role="row"><td role="cell"><label class="box"><input type="checkbox" name="ids" value="${id}" aria-label="Choose ${name}"
${isChosen && html`checked`}></label></td>${printerCells(row)}${actionsCell(row, last)}</tr>`;
}

/** The bulk changes, inside the form of the list. */
function bulkBar(
  { clients, drivers }: Pick<PrinterChoices, "clients" | "drivers">,
  formats: readonly ListedFormat[],
  { values, problems }: FormState = emptyForm,
): Html {
  const problem = problems.driver_desc;
  const clientChoices = clients.map(({ id, name }) => [String(id), name] as const);
  return html`<div class="bulk" role="group" aria-label="With the chosen printers">
    <p class="chosen" role="status">With the chosen printers</p>
    ${fold(
      "Client",
      html`<label for="bulk-client">Move to</label>
      ${select("client_id", "bulk-client", clientChoices, "Without a client")}
      <button class="primary" name="action" value="client">Move</button>`,
    )}
    ${fold(
      "Driver",
      html`<label for="bulk-driver">Change to</label>
      ${select("driver_id", "bulk-driver", driverChoices(drivers), "No driver", values.driver_id)}
      <label for="bulk-model">Install as</label>
      ${problem && html`<p class="problem" id="bulk-model-problem">${problem}</p>`}
      <input id="bulk-model" name="driver_desc" list="bulk-models" autocomplete="off" value="${values.driver_desc}"
        aria-describedby="${problem && "bulk-model-problem "}bulk-model-hint" ${problem && html`aria-invalid="true"`}>
      <p class="hint" id="bulk-model-hint">Leave empty: each printer keeps its model if the driver has it, and otherwise gets the driver’s chosen model. Drivers for ARM64 stay.</p>
      <datalist id="bulk-models"></datalist>
      <p class="check"><input type="checkbox" id="bulk-unmatched" name="only_unmatched" value="on" ${isTicked(values.only_unmatched) && html`checked`}>
        <label for="bulk-unmatched">Only those whose model the driver does not have</label></p>
      <button class="primary" name="action" value="driver">Change the driver</button>`,
      { isOpen: problem !== undefined },
    )}
    ${fold(
      "Download",
      html`<p>All chosen printers in one package:</p>
      ${formats.map(({ id, target }) => html`<button formmethod="get" formaction="${paths.packageOfChosen(id)}" data-only="ids">For ${target}</button> `)}`,
    )}
    ${fold(
      "Delete…",
      html`<p>Machines that have them keep them.</p>
      <button class="danger" name="action" value="delete">Delete the chosen printers</button>`,
      { id: "delete-chosen" },
    )}
    ${deleteDialog}</div>`;
}

function fold(label: string, body: Html, { id, isOpen }: { id?: string; isOpen?: boolean } = {}): Html {
  return html`<details name="bulk" ${id && html`id="${id}"`} ${isOpen && html`open`}><summary class="button">${label}</summary>
    <div class="sheet">${body}</div></details>`;
}

/** Nothing is selected at first, so that an accidental click on the button changes nothing. */
function select(name: string, id: string, choices: readonly SelectChoice[], none: string, chosen = ""): Html {
  return html`<select id="${id}" name="${name}" ${name === "driver_id" && html`data-models="driver_desc"`}>
    <option value="" disabled selected>Choose one</option>${selectOptions(choices, chosen)}<option value="">${none}</option></select>`;
}

/** Browsers with scripts open this dialog instead of the fold “Delete…”. */
const deleteDialog = html`<dialog aria-labelledby="delete-question"><h2 id="delete-question">Delete the chosen printers?</h2>
    <p class="names"></p><p>Machines that have them keep them.</p>
    <p class="actions"><button class="danger" name="action" value="delete">Delete them</button>
      <button type="button" class="close">Keep them</button></p></dialog>`;
