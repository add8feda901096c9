import { type Driver, type InfSummary, infNamed, missingCountOf } from "../../domain/drivers/driver.ts";
import { needsModelChoice } from "../../domain/drivers/models.ts";
import { cleanText } from "../../domain/fields.ts";
import { type FormState, newerValueText } from "../form.ts";
import { type Hole, type Html, html } from "../html.ts";
import { paths } from "../paths.ts";
import { count, counted } from "../text.ts";
import { machinesOf, versionOf } from "./driver-label.ts";
import { type ModelChoice, modelList } from "./driver-models.ts";

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

interface ModelForm {
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
