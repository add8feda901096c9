import { arm64Problem } from "../domain/arm64-driver.ts";
import { chosenInf, type Driver, type DriverSummary } from "../domain/driver.ts";
import type { PrinterChoices } from "../domain/listings.ts";
import { ippDriverId } from "../domain/windows-drivers.ts";
import { driverChoices } from "./driver-label.ts";
import { arm64Hint, modelHint, modelOptions } from "./driver-models.ts";
import { type FormState, selectField, textField } from "./form.ts";
import { type Html, html } from "./html.ts";
import { paths } from "./paths.ts";

const withoutDriver = "Empty takes the driver’s own. Type to search in the driver’s models.";

/** Which driver a printer has, and which of its models. */
export function driverFields({ drivers, chosen }: PrinterChoices, form: FormState): Html {
  const known = [["", "None yet"], ...driverChoices(drivers, form.values.driver_id)] as const;
  return html`<input type="hidden" name="from_form" value="1">
    ${selectField(form, { label: "Driver", name: "driver_id", choices: known, attributes: html`data-models="driver_desc" data-ipp="${ippDriverId}"` })}
    <p class="upload-link"><a href="${paths.drivers}#upload-form" data-opens="upload-driver">Upload a driver…</a>
      <noscript><span class="hint">on the page of drivers: what is typed here is not kept.</span></noscript>
      <span class="hint" id="driver-uploaded" role="status"></span></p>
    ${textField(form, {
      label: "Model",
      name: "driver_desc",
      hint: chosen === undefined ? withoutDriver : modelHint(chosen),
      attributes: html`list="models" autocomplete="off" spellcheck="false"`,
    })}
    ${suggestions(chosen, "models")}`;
}

/** Which driver ARM64 machines take instead, and which of its models. */
export function arm64Fields({ drivers, chosen, arm64Chosen }: PrinterChoices, form: FormState): Html {
  const own = form.values.arm64_driver_id;
  const isPossible = (driver: DriverSummary) => arm64Problem(driver, undefined) === undefined;
  const possible = drivers.filter((driver) => String(driver.id) === own || isPossible(driver));
  return html`<p class="hint only-ipp">Nothing to choose: with IPP, ARM64 machines take the same driver, which their Windows brings.</p>
    ${selectField(form, {
      label: "Driver for ARM64",
      name: "arm64_driver_id",
      only: "port",
      choices: [["", "The same driver"], ...driverChoices(possible, own)],
      hint: arm64Hint(chosen),
      attributes: html`data-models="arm64_driver_desc"`,
    })}
    ${textField(form, {
      label: "Model for ARM64",
      name: "arm64_driver_desc",
      only: "port",
      hint: arm64Chosen === undefined ? withoutDriver : modelHint(arm64Chosen),
      attributes: html`list="arm64-models" autocomplete="off" spellcheck="false"`,
    })}
    ${suggestions(arm64Chosen, "arm64-models")}`;
}

function suggestions(driver: Driver | undefined, id: string): Html {
  if (driver === undefined) return html`<datalist id="${id}"></datalist>`;
  return modelOptions(driver, chosenInf(driver), "", { id, most: allModels });
}

/** Without scripts nobody asks for more while a name is typed. */
const allModels = 500;
