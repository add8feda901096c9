import { isTicked } from "../domain/fields.ts";
import type { PrinterChoices } from "../domain/listings.ts";
import type { ListedFormat } from "../domain/package-format.ts";
import { driverChoices } from "./driver-label.ts";
import { emptyForm, type FormState, type SelectChoice, selectOptions } from "./form.ts";
import { type Html, html } from "./html.ts";
import { paths } from "./paths.ts";

/** What can be done with all printers that are chosen; it stands in the form that holds the list. */
export function bulkBar(
  { clients, drivers }: Pick<PrinterChoices, "clients" | "drivers">,
  formats: readonly ListedFormat[],
  { values, problems }: FormState = emptyForm,
): Html {
  const problem = problems.driver_desc;
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
      ${select("driver_id", "bulk-driver", driverChoices(drivers), "No driver", values.driver_id)}
      <label for="bulk-model">Install as</label>
      ${problem && html`<p class="problem" id="bulk-model-problem">${problem}</p>`}
      <input id="bulk-model" name="driver_desc" list="bulk-models" autocomplete="off" value="${values.driver_desc}"
        aria-describedby="${problem && "bulk-model-problem "}bulk-model-hint" ${problem && html`aria-invalid="true"`}>
      <p class="hint" id="bulk-model-hint">Empty: each has the model of that name, and else the driver’s own, where somebody chose it. Drivers for ARM64 stay.</p>
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
    ${deleteDialog()}</div>`;
}

function fold(label: string, body: Html, { id, isOpen }: { id?: string; isOpen?: boolean } = {}): Html {
  return html`<details name="bulk" ${id && html`id="${id}"`} ${isOpen && html`open`}><summary class="button">${label}</summary>
    <div class="sheet">${body}</div></details>`;
}

/** Nothing is chosen at first: nobody moves printers by a button pressed too early. */
function select(name: string, id: string, choices: readonly SelectChoice[], none: string, chosen = ""): Html {
  return html`<select id="${id}" name="${name}" ${name === "driver_id" && html`data-models="driver_desc"`}>
    <option value="" disabled selected>Choose one</option>${selectOptions(choices, chosen)}<option value="">${none}</option></select>`;
}

/** What scripts ask instead of the fold. */
function deleteDialog(): Html {
  return html`<dialog aria-labelledby="delete-question"><h2 id="delete-question">Delete the chosen printers?</h2>
    <p class="names"></p><p>Machines that have them keep them.</p>
    <p class="actions"><button class="danger" name="action" value="delete">Delete them</button>
      <button type="button" class="close">Keep them</button></p></dialog>`;
}
