import { chunksOf, groupBy, memoize } from "../../domain/collections.ts";
import type { ListedFormat } from "../../domain/deploy/package-format.ts";
import { isTicked } from "../../domain/fields.ts";
import { keepsClients, sortPrinters } from "../../domain/printers/list-order.ts";
import type { PrinterChoices, PrinterWithState } from "../../domain/printers/listings.ts";
import type { Narrowing, WantedState } from "../../domain/printers/search.ts";
import { driverChoices } from "../drivers/driver-label.ts";
import { emptyForm, type FormState, type SelectChoice, selectOptions } from "../form.ts";
import { type Html, html } from "../html.ts";
import { canChange, creationFold, emptyState, helpLinks, type PageContext, page } from "../layout.ts";
import { narrowingForm, narrowingQuery, nothingMatches, shownReason } from "../list-filter.ts";
import { paths } from "../paths.ts";
import { counted } from "../text.ts";
import { printerForm } from "./printer-form.ts";
import { menuCell, printerHead, printerRow, rowMenu } from "./printer-table.ts";

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

/** @param isRequested whether the URL asks for the form to be open */
export function printersPage(
  context: PageContext,
  list: PrinterList,
  form: FormState,
  choices: PrinterChoices,
  isRequested: boolean,
): Html {
  const isChangeable = canChange(context.visitor);
  const isOpen = list.total === 0 || isRequested || Object.keys(form.problems).length > 0;
  const action =
    isChangeable && creationFold("new-printer", "New printer", isOpen, printerForm(choices, form));
  const transfer = isChangeable
    ? html`<a href="${paths.import}">Import</a> <a href="${paths.import}#export">Export</a>`
    : html`<a href="${paths.exportPrinters}">Export</a>`;
  return page(
    { ...context, title: "Printers", section: "Printers", action },
    html`<div class="tools">${narrowingForm("printers", list, list.choices.clients)}
      <p class="actions">${transfer}</p></div>
    ${printerList(list, isChangeable)}`,
  );
}

/** The list grouped by client, for the page and for fragments. */
export function printerList(list: PrinterList, isChangeable = true): Html {
  const { rows, total, narrowing } = list;
  if (total === 0) {
    const sentence = "A printer is what you deploy: its queue, port, driver and preferences.";
    return html`<div id="printer-list" class="none">${emptyState(sentence)}</div>`;
  }
  const table = isChangeable ? listForm(list) : printersTable(list, false);
  return html`<div id="printer-list" class="rows">${narrowing.state === "vendor-driver" && protectedPrintNote(isChangeable)}
    ${rows.length > 0 ? table : nothingMatches("printers", list)}</div>`;
}

function protectedPrintNote(isChangeable: boolean): Html {
  const remedy = html`Choose <em>Make an IPP twin</em> in a printer’s menu.`;
  return html`<p>Windows protected print mode removes queues with vendors’ drivers. ${isChangeable && remedy}</p>${helpLinks(["What Microsoft plans", "driverless#why"])}`;
}

/** One form around all rows, for bulk changes and the menu of the rows. */
function listForm(list: PrinterList): Html {
  const { narrowing, choices, formats, bulk } = list;
  const remove = html`<button data-path="${paths.recordDelete("printer", 0)}">Delete</button>`;
  // Enter in a checkbox presses the form's first button. This hidden one has no action, so nothing changes.
  return html`<form class="list" method="post" action="${paths.printersBulk}" autocomplete="off"
    hx-post="${paths.printersBulk}" hx-target="#printer-list" hx-swap="outerHTML">
    <button hidden></button><input type="hidden" name="narrowed" value="${narrowingQuery(narrowing)}">
    ${printersTable(list, true)}${rowMenu(formats, remove)}
    ${bulkBar(choices, formats, bulk)}</form>`;
}

const allBox = html`<th role="columnheader" scope="col" class="check" aria-label="Choose"><label class="box"><input type="checkbox" class="all" aria-label="Choose all that are shown" hidden></label></th>`;

/** Grouped by client, or, with the worst or the newest printers first, with the client in each row. */
function printersTable({ rows, narrowing, chosen }: PrinterList, isChangeable: boolean): Html {
  const { sort } = narrowing;
  const isGrouped = keepsClients(sort);
  const reason = shownReason(narrowing);
  const columns = isGrouped ? groupedColumns : flatColumns;
  const rowOf = (row: PrinterWithState) => {
    if (!isChangeable) return printerRow(row, columns, { reason });
    const isChosen = chosen?.has(row.printer.id) === true;
    if (isChosen || reason !== undefined) return listRow(row, columns, isChosen, reason);
    return isGrouped ? groupedRow(row) : flatRow(row);
  };
  const sorted = sortPrinters(rows, sort);
  const bodies = isGrouped
    ? [...groupBy(sorted, ({ client }) => client?.id).values()].map((group) =>
        groupBody(group, rowOf, isChangeable),
      )
    : chunksOf(sorted, rowsPerGroup).map((chunk) => html`<tbody role="rowgroup">${chunk.map(rowOf)}</tbody>`);
  const head = isChangeable ? { first: allBox, last: "Actions" } : {};
  return html`<table class="printers ${reason && "reasons"}" role="table">${printerHead({ ...head, columns, sorting: { path: paths.printers, narrowing } })}${bodies}</table>`;
}

const groupedColumns = ["address", "model", "location", "changed", "state"] as const;
const flatColumns = ["address", "model", "client", "changed", "state"] as const;

/** Browsers skip the layout of invisible groups. In larger groups they skip it for each row (rows.css). */
const manyRows = 60;
export const rowsPerGroup = 25;

function groupBody(
  group: readonly PrinterWithState[],
  rowOf: (row: PrinterWithState) => Html,
  isChangeable: boolean,
): Html {
  const client = group[0]?.client;
  const name = client?.name ?? "No client";
  const title = client ? html`<a href="${paths.client(client.id)}"><bdi>${name}</bdi></a>` : name;
  const box =
    isChangeable &&
    html`<label class="box"><input type="checkbox" class="group" aria-label="Choose all of ${client?.name ?? "those without a client"}" hidden></label>`;
  const span = groupedColumns.length + (isChangeable ? 3 : 1);
  return html`<tbody role="rowgroup" ${group.length > manyRows && html`class="many"`}><tr role="row" class="client"><th role="rowheader" scope="rowgroup" colspan="${span}"
    aria-colspan="${span}" aria-label="${name}">${box} ${title} <span class="soft">${counted(group.length, "printer")}</span></th></tr>
    ${group.map(rowOf)}</tbody>`;
}

/** A row stays the same object until a record changes, so its HTML can be reused. */
const groupedRow = memoize((row: PrinterWithState) => listRow(row, groupedColumns, false));
const flatRow = memoize((row: PrinterWithState) => listRow(row, flatColumns, false));

function listRow(
  row: PrinterWithState,
  columns: typeof groupedColumns | typeof flatColumns,
  isChosen: boolean,
  reason?: WantedState,
): Html {
  const { id, name } = row.printer;
  const first = html`<td role="cell" class="check"><label class="box"><input type="checkbox" name="ids" value="${id}" aria-label="Choose ${name}"
${isChosen && html`checked`}></label></td>`;
  return printerRow(row, columns, { first, last: menuCell(row), reason, isChangeable: true });
}

/** The bulk changes, inside the form of the list. */
function bulkBar(
  { clients, drivers }: Pick<PrinterChoices, "clients" | "drivers">,
  formats: readonly ListedFormat[],
  { values, problems }: FormState = emptyForm,
): Html {
  const problem = problems.driver_desc;
  const clientChoices = clients.map(({ id, name }) => [String(id), name] as const);
  return html`<div class="bulk" role="group" aria-label="Actions for the chosen printers">
    <p class="chosen" role="status">Actions for the chosen printers</p>
    ${fold(
      "Client",
      html`<label for="bulk-client">Move to</label>
      ${select("client_id", "bulk-client", clientChoices, "No client")}
      <button class="primary" name="action" value="client">Show preview</button>`,
    )}
    ${fold(
      "Driver",
      html`<label for="bulk-driver">Change to</label>
      ${select("driver_id", "bulk-driver", driverChoices(drivers), "No driver", values.driver_id)}
      <label for="bulk-model">Model</label>
      ${problem && html`<p class="problem" id="bulk-model-problem">${problem}</p>`}
      <input id="bulk-model" name="driver_desc" list="bulk-models" autocomplete="off" value="${values.driver_desc}"
        aria-describedby="${problem && "bulk-model-problem "}bulk-model-hint" ${problem && html`aria-invalid="true"`}>
      <p class="hint" id="bulk-model-hint">Leave empty to match models by name. Drivers for ARM64 stay.</p>
      <datalist id="bulk-models"></datalist>
      <p class="check"><input type="checkbox" id="bulk-unmatched" name="only_unmatched" value="on" ${isTicked(values.only_unmatched) && html`checked`}>
        <label for="bulk-unmatched">Use this model only where the driver lacks the printer’s model</label></p>
      <button class="primary" name="action" value="driver">Show preview</button>`,
      problem !== undefined,
    )}
    ${fold(
      "Download",
      html`<p>One package for the chosen printers of one client:</p>
      ${formats.map(({ id, target }) => html`<button formmethod="get" formaction="${paths.packageOfChosen(id)}" data-only="ids">Download for ${target}</button> `)}`,
    )}
    ${fold(
      "Delete…",
      html`<p>Deleting does not remove the printers from PCs. Uninstall them there first.</p>
      <button class="danger" name="action" value="delete">Delete the chosen printers</button>`,
    )}</div>`;
}

function fold(label: string, body: Html, isOpen = false): Html {
  return html`<details name="bulk" ${isOpen && html`open`}><summary class="button">${label}</summary>
    <div class="sheet">${body}</div></details>`;
}

/** Nothing is selected at first, so that an accidental click on the button changes nothing. */
function select(name: string, id: string, choices: readonly SelectChoice[], none: string, chosen = ""): Html {
  return html`<select id="${id}" name="${name}" ${name === "driver_id" && html`data-models="driver_desc"`}>
    <option value="" disabled selected>Choose one</option>${selectOptions(choices, chosen)}<option value="">${none}</option></select>`;
}
