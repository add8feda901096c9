import {
  type Driver,
  type DriverSummary,
  type InfSummary,
  infNamed,
  missingCountOf,
} from "../../domain/drivers/driver.ts";
import { findModels, hasModel, namesVersion, needsModelChoice } from "../../domain/drivers/models.ts";
import { nearestModels } from "../../domain/drivers/nearest-models.ts";
import { cleanText } from "../../domain/fields.ts";
import { shipsArm64 } from "../../domain/printers/printer-drivers.ts";
import { type FormState, newerValueText } from "../form.ts";
import { type Hole, type Html, html } from "../html.ts";
import { paths } from "../paths.ts";
import { count, counted } from "../text.ts";
import { machinesOf, versionOf } from "./driver-label.ts";

/** The list shows these models; a search finds the others. */
const maxModels = 40;
/** The same for models of the INFs that are not chosen. */
const maxOtherMatches = 20;

/** The INF and the model that are chosen in the form. */
interface ModelChoice {
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
export function modelHint(driver: DriverSummary): string {
  if (needsModelChoice(driver)) {
    const models = counted(driver.listed?.modelCount ?? 0, "model");
    return `Required. Type to search ${models}.`;
  }
  if (driver.driver_desc === "") return "Type the model exactly as in the INF.";
  return `Leave empty for the driver’s model (${driver.driver_desc}), or type to search.`;
}

/** The table lists these INFs, and the chosen one. */
const maxInfs = 100;
/** With more models, the form has a search field. */
const maxWithoutSearch = 12;

/** The INF and model that are chosen in the form of a driver's page. */
export function choiceIn({ driver, form, query }: ModelForm): ModelChoice {
  const { inf_path = driver.inf_path, driver_desc } = form.values;
  const inf = infNamed(driver, inf_path);
  const newerValue = (name: string) =>
    newerValueText(form, name, (value) => (value === "" ? "empty" : html`<bdi>${value}</bdi>`));
  return {
    ...choiceOf(driver, inf, driver_desc, query),
    problem: form.problems.driver_desc ?? newerValue("driver_desc"),
    infProblem: form.problems.inf_path ?? newerValue("inf_path"),
  };
}

export interface ModelForm {
  readonly driver: Driver;
  readonly form: FormState;
  /** The search text for models. */
  readonly query: string;
}

/**
 * Chooses the model that the form sent, otherwise the driver's saved model. Chooses none if a user must still choose, or if
 * the INF lacks the model; a saved model of this INF stays even then.
 */
export function choiceOf(
  driver: Driver,
  inf: InfSummary | undefined,
  sent: string | undefined,
  query: string,
): ModelChoice {
  const isOwn = inf?.path === driver.inf_path;
  const wanted = sent ?? (isOwn && needsModelChoice(driver) ? "" : driver.driver_desc);
  const hasModel = inf?.descriptions.some((name) => cleanText(name) === wanted) ?? false;
  return { driver, inf, model: hasModel || (isOwn && wanted === driver.driver_desc) ? wanted : "", query };
}

/** The choice of INF and model. A click on a model of another INF replaces it as a whole. */
export function infAndModel(choice: ModelChoice, takesFocus = false): Html {
  const { driver, inf, query, infProblem } = choice;
  const printerInfs = driver.report.infs.filter(({ isPrinter }) => isPrinter);
  const modelCount = printerInfs.reduce((sum, { descriptions }) => sum + descriptions.length, 0);
  return html`<div id="inf-and-model" ${takesFocus && html`tabindex="-1" data-focus data-unsaved`}>
    ${infChoice(driver, inf?.path ?? "", infProblem)}
    ${modelCount > maxWithoutSearch && modelSearch(driver, query, printerInfs.length)}
    ${modelList(choice)}</div>`;
}

function infChoice(driver: Driver, chosen: string, problem: Hole): Html {
  const candidates = driver.report.infs.filter((inf) => inf.isPrinter || inf.path === chosen);
  const all = candidates.length > 0 ? candidates : driver.report.infs;
  const listed = all.filter((inf, i) => i < maxInfs || inf.path === chosen);
  const rows = listed.map(
    (
      inf,
      i,
    ) => html`<tr><td data-label="INF"><span><input type="radio" name="inf_path" id="inf-${i}" value="${inf.path}"
        ${inf.path === chosen && html`checked`}> <label for="inf-${i}"><code><bdi>${inf.path}</bdi></code></label></span></td>
      <td data-label="Version"><span>${versionOf(inf)}</span></td><td data-label="Architecture">${machinesOf(inf)}</td>
      <td data-label="Models" class="number">${count(inf.descriptions.length)}</td>
      <td data-label="Files">${infState(inf)}</td></tr>`,
  );
  const reload = html`hx-get="${paths.driverModels(driver.id)}" hx-trigger="change" hx-target="#models-found"
    hx-swap="outerHTML" hx-include="#inf-and-model" hx-sync="#driver-form:replace"`;
  return html`<fieldset class="infs" ${listed.length > 1 && reload} ${problem && html`aria-describedby="f-inf_path-problem"`}><legend>INF
    ${listed.length > 1 && html`<span class="hint">one of ${count(all.length)} in this ZIP</span>`}</legend>
    ${problem && html`<p class="problem" id="f-inf_path-problem">${problem}</p>`}
    <table id="f-inf_path" tabindex="-1"><thead><tr><th scope="col">INF</th><th scope="col">Version</th><th scope="col">Architecture</th>
    <th scope="col" class="number">Models</th><th scope="col">Files</th></tr></thead><tbody>${rows}</tbody></table>
    ${all.length > listed.length && html`<p class="hint">${count(listed.length)} of ${count(all.length)} shown. Search the models to find others.</p>`}
    ${listed.length > 1 && html`<noscript><button name="show" value="models">Show models</button></noscript>`}</fieldset>`;
}

function infState(inf: InfSummary): string {
  if (!inf.isPrinter) return `Other device class: ${inf.class ?? "unknown"}`;
  const missing = missingCountOf(inf);
  if (missing > 0) return `${counted(missing, "file")} missing`;
  return inf.signed ? "Complete" : "Unsigned";
}

function modelSearch(driver: Driver, query: string, infs: number): Html {
  return html`<div class="field search"><label for="model-search">Search the models</label>
    <p class="hint" id="model-search-hint">${infs > 1 ? `Searches all ${count(infs)} INFs of this ZIP.` : "Type any part of the model."}</p>
    <div class="inline"><input id="model-search" type="search" name="q" value="${query}" maxlength="200" autocomplete="off"
      aria-describedby="model-search-hint" data-search hx-get="${paths.driverModels(driver.id)}"
      hx-trigger="input changed delay:200ms" hx-target="#models-found" hx-swap="outerHTML" hx-include="#inf-and-model"
      hx-sync="#driver-form:replace">
    <noscript><button name="show" value="models">Search</button></noscript></div></div>`;
}
