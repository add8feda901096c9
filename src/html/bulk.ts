import type { PrinterChoices } from "../domain/listings.ts";
import type { ListedFormat } from "../domain/package-format.ts";
import { driverChoices } from "./driver-label.ts";
import { type Html, html } from "./html.ts";
import { paths } from "./paths.ts";

/** What can be done with all printers that are chosen; it stands in the form that holds the list. */
export function bulkBar(
  { clients, drivers }: Pick<PrinterChoices, "clients" | "drivers">,
  formats: readonly ListedFormat[],
): Html {
  return html`<div class="bulk" role="group" aria-label="With the chosen printers">
    <p class="chosen" role="status">With the chosen printers</p>
    ${fold(
      "Client",
      html`<label for="bulk-client">Move to</label>
      ${select(
        "client_id",
        "bulk-client",
        clients.map(({ id, name }) => [String(id), name] as const),
        "Without a client",
      )}
      <button class="primary" name="action" value="client">Move</button>`,
    )}
    ${fold(
      "Driver",
      html`<label for="bulk-driver">Change to</label>
      ${select("driver_id", "bulk-driver", driverChoices(drivers), "No driver")}
      <label for="bulk-model">Install as</label>
      <input id="bulk-model" name="driver_desc" list="bulk-models" autocomplete="off" aria-describedby="bulk-model-hint">
      <p class="hint" id="bulk-model-hint">Empty: each keeps its model where the driver has it, and else takes the driver’s own.</p>
      <datalist id="bulk-models"></datalist>
      <button class="primary" name="action" value="driver">Change the driver</button>`,
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
      "delete-chosen",
    )}
    ${deleteDialog()}</div>`;
}

function fold(label: string, body: Html, id?: string): Html {
  return html`<details name="bulk" ${id && html`id="${id}"`}><summary class="button">${label}</summary>
    <div class="sheet">${body}</div></details>`;
}

/** Nothing is chosen at first: nobody moves printers by a button pressed too early. */
function select(
  name: string,
  id: string,
  choices: readonly (readonly [string, string])[],
  none: string,
): Html {
  const options = choices.map(([value, label]) => html`<option value="${value}">${label}</option>`);
  return html`<select id="${id}" name="${name}" ${name === "driver_id" && html`data-models`}>
    <option value="" disabled selected>Choose one</option>${options}<option value="">${none}</option></select>`;
}

/** What scripts ask instead of the fold. */
function deleteDialog(): Html {
  return html`<dialog aria-labelledby="delete-question"><h2 id="delete-question">Delete the chosen printers?</h2>
    <p class="names"></p><p>Machines that have them keep them.</p>
    <p class="actions"><button class="danger" name="action" value="delete">Delete them</button>
      <button type="button" class="close">Keep them</button></p></dialog>`;
}
