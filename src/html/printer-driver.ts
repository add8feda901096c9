import { chosenInf } from "../domain/driver.ts";
import type { PrinterChoices } from "../domain/listings.ts";
import { ippDriverId } from "../domain/windows-drivers.ts";
import { driverChoices } from "./driver-label.ts";
import { modelHint, modelOptions } from "./driver-models.ts";
import { type FormState, selectField, textField } from "./form.ts";
import { type Html, html } from "./html.ts";
import { paths } from "./paths.ts";

const withoutDriver = "Empty takes the driver’s own. Type to search in the driver’s models.";

/** Which driver a printer has, and which of its models. */
export function driverFields({ drivers, chosen }: PrinterChoices, form: FormState): Html {
  const known = [["", "None yet"], ...driverChoices(drivers, form.values.driver_id)] as const;
  return html`<input type="hidden" name="from_form" value="1">
    ${selectField(form, { label: "Driver", name: "driver_id", choices: known, attributes: html`data-models data-ipp="${ippDriverId}"` })}
    <p class="upload-link"><a href="${paths.drivers}#upload-form" data-opens="upload-driver">Upload a driver…</a>
      <noscript><span class="hint">on the page of drivers: what is typed here is not kept.</span></noscript>
      <span class="hint" id="driver-uploaded" role="status"></span></p>
    ${textField(form, {
      label: "Model",
      name: "driver_desc",
      hint: chosen === undefined ? withoutDriver : modelHint(chosen),
      attributes: html`list="models" autocomplete="off" spellcheck="false"`,
    })}
    ${chosen === undefined ? html`<datalist id="models"></datalist>` : modelOptions(chosen, chosenInf(chosen), "", allModels)}`;
}

/** Without scripts nobody asks for more while a name is typed. */
const allModels = 500;
