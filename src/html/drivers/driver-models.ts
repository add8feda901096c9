import type { Driver, DriverSummary, InfSummary } from "../../domain/drivers/driver.ts";
import { findModels, hasModel, namesVersion, needsModelChoice } from "../../domain/drivers/models.ts";
import { nearestModels } from "../../domain/drivers/nearest-models.ts";
import { shipsArm64 } from "../../domain/printers/printer-drivers.ts";
import { type Hole, type Html, html } from "../html.ts";
import { paths } from "../paths.ts";
import { count, counted } from "../text.ts";

/** The list shows these models; a search finds the others. */
const maxModels = 40;
/** The same for models of the INFs that are not chosen. */
const maxOtherMatches = 20;

/** The INF and the model that are chosen in the form. */
export interface ModelChoice {
  readonly driver: Driver;
  readonly inf: InfSummary | undefined;
  /** Empty until a model is chosen. */
  readonly model: string;
  /** The search text. */
  readonly query: string;
  /** Why the model was refused. */
  readonly problem?: Hole | undefined;
  /** Why the INF was refused. */
  readonly infProblem?: Hole | undefined;
}

/** The models that a search found, as radio buttons. The list always includes the chosen and the deployed model. */
export function modelList(choice: ModelChoice): Html {
  const { driver, inf, model, query, problem } = choice;
  const { visible, count: found } = findModels(inf ? [inf] : [], query, maxModels);
  const deployed = inf?.path === driver.inf_path ? driver.driver_desc : "";
  const names = [...new Set([model, deployed, ...visible.map((one) => one.model)])].filter(
    (name) => name !== "",
  );
  const isUnchosen = model === "" && needsModelChoice(driver);
  const items = names.map((name, i) => {
    const hint =
      isUnchosen && name === deployed && html` <span class="hint">used because no model is chosen</span>`;
    return html`<li><input type="radio" name="driver_desc" id="model-${i}" value="${name}"
      ${name === model && html`checked data-model`}> <label for="model-${i}"><bdi>${name}</bdi>${hint}</label></li>`;
  });
  return html`<fieldset id="models-found" ${problem && html`aria-describedby="f-driver_desc-problem"`}>
    <legend>Model <span class="hint" role="status">${searchSummary(choice, found)}</span></legend>
    <div id="f-driver_desc" tabindex="-1" class="${problem && "wrong"}">
      ${problem && html`<p class="problem" id="f-driver_desc-problem">${problem}</p>`}
      ${hasVersionedAndPlain(inf) && html`<p class="hint">Choose a model with a version to install versions side by side.</p>`}
      <ul class="models">${items}</ul>
      ${found > visible.length && html`<p class="hint">${count(visible.length)} of ${count(found)} shown. Search to find others.</p>`}
      ${query !== "" && otherMatches(choice)}
    </div></fieldset>`;
}

function searchSummary({ inf, query }: ModelChoice, found: number): Html {
  if (inf === undefined) return html`Choose an INF, or type the model below.`;
  const total = inf.descriptions.length;
  if (total === 0) return html`This INF has no models. Type the model below.`;
  const models = counted(total, "model");
  return query === ""
    ? html`${models} in <bdi>${inf.path}</bdi>`
    : html`${count(found)} of ${models} in <bdi>${inf.path}</bdi> match “<bdi>${query}</bdi>”`;
}

/** Matching models in the archive's other printer INFs. A click on one chooses its INF too. */
function otherMatches({ driver, inf, query }: ModelChoice): Html | undefined {
  const { infs } = driver.report;
  const others = infs.filter((other) => other.isPrinter && other.path !== inf?.path);
  if (others.length === 0) return undefined;
  const { visible, count: found } = findModels(others, query, maxOtherMatches);
  if (found === 0) return html`<p class="hint">No other INF of this ZIP matches.</p>`;
  const indexes = new Map(infs.map((known, i) => [known, i]));
  const items = visible.map(
    ({
      model,
      inf: other,
    }) => html`<li><button class="link" name="pick" value="${indexes.get(other)}:${model}"
      hx-get="${paths.driverModels(driver.id)}" hx-target="#inf-and-model" hx-swap="outerHTML"><bdi>${model}</bdi></button>
      <span class="hint">in <bdi>${other.path}</bdi></span></li>`,
  );
  return html`<p><strong>In other INFs of this ZIP: ${counted(found, "model")}</strong></p><ul class="models">${items}</ul>
    ${found > visible.length && html`<p class="hint">${count(visible.length)} of ${count(found)} shown. Type more to narrow the search.</p>`}`;
}

function hasVersionedAndPlain(inf: InfSummary | undefined): boolean {
  const names = inf?.descriptions ?? [];
  return names.length <= 20 && names.some(namesVersion) && names.some((name) => !namesVersion(name));
}

/** Suggestions for a printer's model field. The data attributes have the hints that scripts show for this driver. */
export function modelOptions(
  driver: Driver,
  inf: InfSummary | undefined,
  query: string,
  { id = "models", max = maxModels }: { readonly id?: string; readonly max?: number } = {},
): Html {
  const { visible } = findModels(inf ? [inf] : [], query, max);
  return html`<datalist id="${id}" data-needed="${needsModelChoice(driver) && "1"}" data-hint="${modelHint(driver)}"
    data-arm64="${arm64Hint(driver)}">${visible.map(
      ({ model }) => html`<option value="${model}"></option>`,
    )}</datalist>`;
}

/**
 * Buttons with the names that are nearest to a typed model, if the INF lacks it. Each fills the field; without scripts it
 * sends the form with that model. The hidden button keeps Enter from pressing the first of them.
 */
export function nearestNames(field: string, inf: InfSummary | undefined, typed = ""): Html | undefined {
  if (inf === undefined || typed === "" || hasModel(inf, typed)) return undefined;
  const names = nearestModels(inf.descriptions, typed);
  if (names.length === 0) return undefined;
  return html`<p class="nearest"><button hidden></button>Similar models: ${names.map(
    (name) => html`<button name="${field}" value="${name}" data-fill><bdi>${name}</bdi></button> `,
  )}</p>`;
}

/** The hint at a printer's field “Driver for ARM64”. @param driver the printer's main driver */
export function arm64Hint(driver: DriverSummary | undefined): string {
  const ships = driver && shipsArm64(driver);
  if (ships === undefined) return "ARM64 PCs use this driver instead of the one above.";
  return ships
    ? "Optional: the driver above has ARM64 files too."
    : "Required for ARM64 PCs: the driver above has no ARM64 files.";
}

/** The hint at a printer's model field. */
export function modelHint(
  driver: Pick<Driver, "driver_desc" | "listed" | "model_chosen" | "name" | "file_name" | "inf_path">,
): string {
  if (needsModelChoice(driver)) {
    const models = counted(driver.listed?.modelCount ?? 0, "model");
    return `Required. Type to search ${models}.`;
  }
  if (driver.driver_desc === "") return "Type the model exactly as in the INF.";
  return `Leave empty for the driver’s model (${driver.driver_desc}), or type to search.`;
}
