import {
  chosenInf,
  type Driver,
  driverTitle,
  findModels,
  type InfSummary,
  missingCountOf,
  namesVersion,
} from "../domain/driver.ts";
import type { StatedDriver, StatedPrinter } from "../domain/listings.ts";
import { infNotes, versionOf } from "./drivers.ts";
import { checkbox, deleteFold, type FormState, problemSummary, textArea, textField } from "./form.ts";
import { type Html, html } from "./html.ts";
import { type Frame, page } from "./layout.ts";
import { paths } from "./paths.ts";
import { printerTable } from "./printers.ts";
import { findingsNotice, stateBadge } from "./standing.ts";
import { architectures, bytes, count, counted, firstOf, time } from "./text.ts";
import { unusedHint } from "./unused.ts";

interface DriverPageData {
  readonly driver: Driver;
  readonly printers: readonly StatedPrinter[];
  readonly form: FormState;
  /** What was searched for among the models. */
  readonly query: string;
  readonly standing: StatedDriver;
}

/** No page can bear a thousand INFs to choose from; the chosen one is always among them. */
const shownInfs = 100;
const shownCatalogs = 8;
/** More models than this are found by searching. */
const shownModels = 40;

export function driverPage(frame: Frame, data: DriverPageData): Html {
  const { driver, printers, standing } = data;
  const action = html`<a class="button primary" href="${paths.printerWithDriver(driver.id)}">New printer with it</a>`;
  return page(
    {
      ...frame,
      title: driverTitle(driver),
      heading: html`<bdi>${driverTitle(driver)}</bdi>`,
      place: "Drivers",
      action,
    },
    html`<p class="soft">${stateBadge(standing)} ${driver.file_name}, ${bytes(driver.size)}, uploaded ${time(driver.uploaded_at)}</p>
    ${findingsNotice(standing)}
    <section><h2>What it is</h2>${facts(driver)}${infNotes(driver)}</section>
    <section><h2>INF and model</h2>${driverSettings(data)}</section>
    ${printers.length > 0 && html`<section><h2>Printers with this driver</h2>${printerTable(printers)}</section>`}
    <section><h2>Archive</h2><p><a href="${paths.driverArchive(driver.id)}">${driver.file_name}</a>, as uploaded.<br>
      SHA-256 <code class="wrap">${driver.sha256}</code></p>
      <p><a href="${paths.driverFiles(driver.id)}">Its files as packages hold them</a>: what a script fetched alone downloads.</p></section>
    ${deleteFold({
      what: "driver",
      consequence: "The archive goes with it. A driver that printers use is not deleted.",
      action: paths.driverDelete(driver.id),
    })}`,
  );
}

function facts(driver: Driver): Html {
  const inf = chosenInf(driver);
  if (inf === undefined) return html`<p>No INF is chosen.</p>`;
  const rows = [
    ["Provider", inf.provider ?? "not given"],
    ["Version", versionOf(inf)],
    ["Machines", architectures(inf.architectures)],
    ["Driver model", inf.driverModel ?? "no printer driver"],
    ["Catalog", inf.signed ? html`<code>${firstOf(inf.catalogFiles, shownCatalogs)}</code>` : "none"],
    ["Models", `${counted(inf.descriptions.length, "name")} in ${counted(inf.modelLines, "line")}`],
  ] as const;
  return html`<dl>${rows.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** The form on a driver's page, and the fragment that a save answers. */
export function driverSettings(data: Pick<DriverPageData, "driver" | "form" | "query">): Html {
  const { driver, form, query } = data;
  const chosen = form.values.inf_path ?? driver.inf_path;
  const inf = driver.report.infs.find((candidate) => candidate.path === chosen);
  const model = form.values.driver_desc ?? driver.driver_desc;
  const total = inf?.descriptions.length ?? 0;
  return html`<div id="driver-settings">
    ${total > shownModels && modelSearch(driver, query)}
    <form class="panel wide" method="post" action="${paths.driver(driver.id)}" novalidate data-guard>
      ${problemSummary(form)}
      ${infChoice(driver, chosen)}
      ${modelList(inf, model, query)}
      ${textField(form, { label: "Or the model as typed", name: "driver_desc_typed", hint: "Only where the list lacks it; must be exactly as in the INF." })}
      ${textField(form, { label: "Name", name: "name", hint: "How you call it here. Empty takes the model." })}
      ${textArea(form, { label: "Comment", name: "comment" })}
      ${checkbox(form, {
        label: "Trust the publisher",
        name: "trust_publisher",
        hint: "The install script puts the catalog’s signing certificate among the machine’s trusted publishers, and uninstall takes it out again.",
      })}
      ${checkbox(form, { label: "Leave out unused files", name: "drop_unused", hint: unusedHint(inf) })}
      <button class="primary">Save driver</button>
    </form></div>`;
}

function infChoice(driver: Driver, chosen: string): Html {
  const candidates = driver.report.infs.filter((inf) => inf.isPrinter || inf.path === chosen);
  const all = candidates.length > 0 ? candidates : driver.report.infs;
  const listed = all.filter((inf, i) => i < shownInfs || inf.path === chosen);
  const rows = listed.map(
    (
      inf,
      i,
    ) => html`<tr><td data-label="INF"><input type="radio" name="inf_path" id="inf-${i}" value="${inf.path}"
        ${inf.path === chosen && html`checked`}> <label for="inf-${i}"><code>${inf.path}</code></label></td>
      <td data-label="Version">${versionOf(inf)}</td><td data-label="Machines">${architectures(inf.architectures)}</td>
      <td data-label="Models" class="number">${count(inf.descriptions.length)}</td>
      <td data-label="State">${infState(inf)}</td></tr>`,
  );
  return html`<fieldset><legend>INF ${listed.length > 1 && html`<span class="hint">the printer’s is chosen by rule; yours counts</span>`}</legend>
    <table><thead><tr><th scope="col">INF</th><th scope="col">Version</th><th scope="col">Machines</th>
    <th scope="col" class="number">Models</th><th scope="col">State</th></tr></thead><tbody>${rows}</tbody></table>
    ${all.length > listed.length && html`<p class="hint">${count(listed.length)} of ${count(all.length)} shown: upload the folder of one printer’s driver to choose another.</p>`}</fieldset>`;
}

function infState(inf: InfSummary): string {
  if (!inf.isPrinter) return `class ${inf.class ?? "unknown"}`;
  const missing = missingCountOf(inf);
  if (missing > 0) return `${counted(missing, "file")} missing`;
  return inf.signed ? "complete" : "unsigned";
}

function modelSearch(driver: Driver, query: string): Html {
  return html`<form class="inline search" method="get" action="${paths.driver(driver.id)}" role="search">
    <label for="model-search">Search the models</label>
    <input id="model-search" type="search" name="q" value="${query}" hx-get="${paths.driverModels(driver.id)}" hx-trigger="input changed delay:200ms"
      hx-target="#models-found" hx-swap="outerHTML" hx-include="this">
    <button>Search</button></form>`;
}

/** The models that a search found, as radio buttons; the chosen one is always among them. */
export function modelList(inf: InfSummary | undefined, model: string, query: string): Html {
  const { shown, count: found, total } = findModels(inf, query, shownModels);
  const names = model === "" || shown.includes(model) ? shown : [model, ...shown];
  const items = names.map(
    (name, i) => html`<li><input type="radio" name="driver_desc" id="model-${i}" value="${name}"
      ${name === model && html`checked`}> <label for="model-${i}">${name}</label></li>`,
  );
  const more =
    found > shown.length
      ? html`<p class="hint">${count(shown.length)} of ${count(found)} shown: search for the others.</p>`
      : "";
  return html`<fieldset id="models-found"><legend>Model</legend>
    ${total === 0 && html`<p class="hint">This INF names no model. Type the name below.</p>`}
    ${
      bothKinds(inf) &&
      html`<p class="hint">A name without the version is updated in place for every queue that has it; one with the version lets
      two versions live side by side.</p>`
    }
    ${query !== "" && found === 0 && html`<p class="hint">No model matches “${query}”.</p>`}
    <ul class="models">${items}</ul>${more}</fieldset>`;
}

function bothKinds(inf: InfSummary | undefined): boolean {
  const names = inf?.descriptions ?? [];
  return names.length <= 20 && names.some(namesVersion) && names.some((name) => !namesVersion(name));
}

/** Suggestions for a printer's model field. */
export function modelOptions(inf: InfSummary | undefined, query: string): Html {
  const { shown } = findModels(inf, query, shownModels);
  return html`<datalist id="models">${shown.map((name) => html`<option value="${name}"></option>`)}</datalist>`;
}
