import { type Driver, driverTitle, infNamed } from "../../domain/drivers/driver.ts";
import type { DriverEffects } from "../../domain/drivers/driver-effects.ts";
import type { FormInput } from "../../domain/fields.ts";
import { type Html, html } from "../html.ts";
import { type PageContext, page } from "../layout.ts";
import { paths } from "../paths.ts";
import { printerNames } from "../printers/move-printers.ts";
import { counted } from "../text.ts";
import { nearestNames } from "./driver-models.ts";

/** Further printers in a line are only counted. */
const maxPrinterNames = 20;
/** Further models are only counted. */
const maxLostModels = 10;
/** Form fields that are not sent again. */
const transientFields = new Set(["show", "pick", "q", "confirmed"]);

interface Confirmation {
  readonly driver: Driver;
  /** The form as it was sent: the confirmation sends it again. */
  readonly form: FormInput;
  readonly effects: DriverEffects;
  /** Whether the user confirmed other effects than the save has now. */
  readonly isStale: boolean;
}

/** The confirmation for browsers without scripts. */
export function confirmPage(context: PageContext, data: Confirmation): Html {
  const title = driverTitle(data.driver);
  const heading = html`<bdi>${title}</bdi>`;
  return page({ ...context, title, heading, section: "Drivers" }, confirmation(data));
}

/** Shows the effects of a save on printers, with buttons to confirm it. Replaces the form. */
export function confirmation({ driver, form, effects, isStale }: Confirmation): Html {
  const { redeployed, switched, lost, lostOnArm64, refusedModel, digest } = effects;
  const kept = Object.entries(form).filter(([name]) => !transientFields.has(name));
  const blocked = new Set([...lost.values()].flat().map(({ id }) => id));
  const others = redeployed.filter(({ id }) => !blocked.has(id));
  const isBad = lost.size + lostOnArm64.size > 0 || refusedModel !== undefined;
  const lines = [
    ...linesOf(lost, (printers) => html`${printers} will be blocked`),
    ...linesOf(lostOnArm64, (printers) => html`${printers} will fail on ARM64 PCs`),
  ];
  const wanted = infNamed(driver, form.inf_path ?? driver.inf_path);
  return html`<div id="driver-settings">
    <form class="notice ${isBad ? "bad" : "warn"}" method="post" action="${paths.driver(driver.id)}" tabindex="-1" data-focus
      aria-labelledby="confirm-title" hx-post="${paths.driver(driver.id)}" hx-target="#driver-settings" hx-swap="outerHTML"
      hx-disabled-elt="find button">
      <h2 id="confirm-title">Check before you save</h2>
      ${isStale && html`<p>The data changed meanwhile. Check the new effects below.</p>`}
      <ul class="findings">
        ${refusedModel !== undefined && html`<li class="bad">The INF does not contain the model “<bdi>${refusedModel}</bdi>”. Windows will refuse it.</li>`}
        ${lines}
        ${switched.printers.length > 0 && switchedLine(switched)}
        ${others.length > 0 && html`<li class="warn">${counted(others.length, "printer")} must be deployed again: ${printerNames(others, maxPrinterNames)}.</li>`}
      </ul>
      ${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
      ${nearestNames("driver_desc_typed", wanted, refusedModel)}
      <p class="actions"><button class="primary" name="confirmed" value="${digest}">${isBad ? "Save anyway" : `Save and change ${counted(redeployed.length, "printer")}`}</button>
        <button name="show" value="form">Back to the form</button></p>
    </form></div>`;
}

function switchedLine({ from, to, printers }: DriverEffects["switched"]): Html {
  const before = from === "" ? "" : html` instead of “<bdi>${from}</bdi>”`;
  return html`<li class="warn">${counted(printers.length, "printer")} will have ${to === "" ? "no model" : html`the model “<bdi>${to}</bdi>”`}${before}: ${printerNames(printers, maxPrinterNames)}.</li>`;
}

function linesOf(lost: DriverEffects["lost"], outcome: (printers: string) => Html): Html[] {
  const lines = [...lost]
    .slice(0, maxLostModels)
    .map(
      ([model, printers]) =>
        html`<li class="bad">${outcome(counted(printers.length, "printer"))}. The INF does not contain the model “<bdi>${model}</bdi>”: ${printerNames(printers, maxPrinterNames)}.</li>`,
    );
  const rest = lost.size - lines.length;
  if (rest === 0) return lines;
  return [...lines, html`<li class="bad">The INF does not contain ${counted(rest, "more model")}.</li>`];
}
