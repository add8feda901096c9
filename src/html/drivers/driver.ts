import { archiveRoomBytes } from "../../domain/deletion.ts";
import { failureOf } from "../../domain/deploy/deployment-choice.ts";
import { chosenInf, type Driver, driverTitle } from "../../domain/drivers/driver.ts";
import { isWindowsDriver } from "../../domain/drivers/windows-drivers.ts";
import type { DriverWithState, PrinterWithState, WithState } from "../../domain/printers/listings.ts";
import { type DeployOffer, deployCards, foldedDownloads, logoOf } from "../deploy/deploy.ts";
import { driverStateLine } from "../deploy/downloaded.ts";
import { driverLabels } from "../field-labels.ts";
import { checkbox, formVersionField, problemSummary, textArea, textField } from "../form.ts";
import { type Html, html } from "../html.ts";
import { canChange, helpLinks, type PageContext, page, recordActions } from "../layout.ts";
import { paths } from "../paths.ts";
import { printerTable } from "../printers/printer-table.ts";
import { driverRemedy } from "../remedies.ts";
import { bytes, count, counted, firstOf, htmlList, isolated, time } from "../text.ts";
import { driverLabel, machinesOf, versionOf } from "./driver-label.ts";
import { choiceIn, infAndModel, type ModelForm } from "./driver-models.ts";
import { infRemarks, unusedHint } from "./driver-remarks.ts";

interface SettingsData extends ModelForm {
  /** Whether the form shows choices that are not saved. */
  readonly isUnsaved?: boolean;
}

interface DriverPageData extends SettingsData {
  readonly printers: readonly PrinterWithState[];
  readonly withState: DriverWithState;
  /** Whether deleting the driver would be final, because the disk is nearly full. */
  readonly isFinal: boolean;
  /** Undefined for a driver that comes with Windows. */
  readonly deploy: DriverDeploy | undefined;
  /** The open tab. */
  readonly tab: DriverTab;
}

const maxCatalogs = 8;

const tabs = [
  ["what", "What it is"],
  ["printers", "Printers"],
  ["deploy", "Deploy"],
  ["model", "INF and model"],
] as const;

/** A tab of a driver's page, as the query parameter `tab` names it. */
export type DriverTab = (typeof tabs)[number][0];

export function driverTabIn(query: URLSearchParams): DriverTab {
  return tabs.find(([name]) => name === query.get("tab"))?.[0] ?? "what";
}

export function driverPage(context: PageContext, data: DriverPageData): Html {
  const { driver, isFinal } = data;
  const { id } = driver;
  const isChangeable = canChange(context.visitor);
  const isOfWindows = isWindowsDriver(driver);
  const title = driverTitle(driver);
  const consequence = `The ZIP is deleted too${isFinal ? finalDeletionHint : ""}. You cannot delete a driver in use.`;
  const action = html`${
    isChangeable &&
    driver.listed?.isPrinter === true &&
    html`<a class="button primary" href="${paths.printerWithDriver(id)}">New printer</a>`
  }${recordActions(context, { kind: "driver", id, isChangeable, ...(!isOfWindows && { deletion: { consequence } }) })}`;
  return page(
    { ...context, title, heading: html`<bdi>${title}</bdi>`, section: "Drivers", action },
    isOfWindows ? windowsDriver(data, isChangeable) : uploadedDriver(data, isChangeable),
  );
}

const finalDeletionHint = `, permanently, because less than ${bytes(archiveRoomBytes)} of disk space is free`;

/** The page of a driver that comes with Windows: nothing can be chosen, downloaded or deleted. */
function windowsDriver({ driver, printers }: DriverPageData, isChangeable: boolean): Html {
  const models = chosenInf(driver)?.descriptions ?? [];
  return html`<p>${driver.comment}</p>
    <p class="soft">Windows includes or downloads this driver. Packages contain none of its files.</p>
    <section><h2>What it is</h2><dl>
      <div><dt>Models</dt><dd>${htmlList(models.map((model) => html`<code>${model}</code>`))}</dd></div>
      <div><dt>Architecture</dt><dd>${machinesOf(chosenInf(driver))}</dd></div></dl></section>
    ${printers.length > 0 && html`<section id="driver-printers"><h2>Printers</h2>${printerTable(printers, isChangeable)}</section>`}`;
}

function uploadedDriver(data: DriverPageData, isChangeable: boolean): Html {
  const { driver, printers, withState, tab } = data;
  const [worst] = withState.findings;
  const panes: Record<DriverTab, Html> = {
    what: html`${facts(driver)}${infRemarks(driver, isChangeable ? "page" : "none")}${archiveSection(driver)}`,
    printers: printerSection(data, isChangeable),
    deploy: html`${data.deploy && driverDeploySection(withState, printers.length > 0, data.deploy)}`,
    model: isChangeable ? driverSettings(data) : chosenFacts(driver),
  };
  return html`<p class="soft"><bdi>${driver.file_name}</bdi>, ${bytes(driver.size)}, uploaded ${time(driver.uploaded_at)}</p>
    ${driverStateLine(withState, worst && isChangeable ? driverRemedy(worst.kind, driver) : undefined)}
    ${newerNotice(data, isChangeable)}
    <div class="tabs">${tabs.map(
      ([
        name,
        label,
      ]) => html`<input type="radio" name="tab" id="tab-${name}" ${name === tab && html`checked`}>
      <label for="tab-${name}">${label}${name === "printers" && html` <span class="soft">${count(printers.length)}</span>`}</label
      ><section class="tab" id="pane-${name}"><h2 class="visually-hidden">${label}</h2>${panes[name]}</section>`,
    )}</div>`;
}

function archiveSection({ id, file_name, sha256 }: Driver): Html {
  return html`<h3>Driver ZIP</h3><ul class="plain">
    <li><a href="${paths.driverArchive(id)}"><bdi>${file_name}</bdi></a> as uploaded, SHA-256 <code>${sha256}</code></li>
    <li><a href="${paths.driverFiles(id)}">Driver files only</a>: install.ps1 without a package downloads this ZIP.</li></ul>`;
}

/** The chosen INF and model, for users who cannot change records. */
function chosenFacts({ inf_path, driver_desc, comment }: Driver): Html {
  return html`<dl><div><dt>INF</dt><dd><code><bdi>${inf_path || "none"}</bdi></code></dd></div>
    <div><dt>Model</dt><dd><bdi>${driver_desc || "not chosen yet"}</bdi></dd></div>
    ${comment !== "" && html`<div><dt>Comment</dt><dd><bdi>${comment}</bdi></dd></div>`}</dl>`;
}

function newerNotice(
  { driver, printers, withState: { newer } }: DriverPageData,
  isChangeable: boolean,
): Html | undefined {
  if (newer === undefined) return undefined;
  return html`<div class="notice warn"><p>Newer version: <a href="${paths.driver(newer.id)}"><bdi>${driverLabel(newer)}</bdi></a></p>
    ${isChangeable && html`<p><a class="button" href="${paths.driverMove(driver.id, newer.id)}">Move ${counted(printers.length, "printer")}…</a></p>`}</div>`;
}

function printerSection({ driver, printers }: DriverPageData, isChangeable: boolean): Html {
  if (printers.length === 0) return html`<p>No printer uses this driver yet.</p>`;
  return html`<div id="driver-printers">
    ${isChangeable && html`<p><a class="button" href="${paths.driverMove(driver.id)}">Move ${counted(printers.length, "printer")} to another driver…</a></p>`}
    ${printerTable(printers, isChangeable)}</div>`;
}

function facts(driver: Driver): Html {
  const inf = chosenInf(driver);
  if (inf === undefined) return html`<p>No INF is chosen.</p>`;
  const rows = [
    ["Provider", html`<bdi>${inf.provider ?? "not given"}</bdi>`],
    ["Version", versionOf(inf)],
    ["Architecture", machinesOf(inf)],
    ["Driver type", inf.driverModel ?? "no printer driver"],
    [
      "Catalog",
      inf.signed ? html`<code><bdi>${firstOf(inf.catalogFiles, maxCatalogs)}</bdi></code>` : "none",
    ],
    ["Models", count(inf.descriptions.length)],
  ] as const;
  return html`<dl>${rows.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** The form on a driver's page, also the response to a save. */
export function driverSettings(data: SettingsData): Html {
  const { driver, form, isUnsaved } = data;
  const choice = choiceIn(data);
  const isTyping = Boolean(form.values.driver_desc_typed) || form.problems.driver_desc_typed !== undefined;
  return html`<div id="driver-settings">
    <form id="driver-form" class="panel wide" method="post" action="${paths.driver(driver.id)}" novalidate data-guard
      hx-post="${paths.driver(driver.id)}" hx-target="#driver-settings" hx-swap="outerHTML"
      hx-disabled-elt="find .primary" hx-disinherit="hx-disabled-elt">
      <input type="hidden" name="from_form" value="1">
      ${problemSummary(form, { labels: driverLabels, path: paths.driver(driver.id) })}${formVersionField(form)}
      ${isUnsaved && html`<p class="notice warn" role="status" tabindex="-1" data-focus data-unsaved>Nothing is saved yet.</p>`}
      ${infAndModel(choice)}
      <details class="more" ${isTyping && html`open`}><summary>Type a model that is not in the list</summary>
        ${textField(form, {
          label: "Typed model",
          name: "driver_desc_typed",
          hint: "Type it exactly as in the INF. Windows refuses any other.",
          attributes: html`spellcheck="false" autocomplete="off"`,
        })}</details>
      ${textField(form, { label: driverLabels.name, name: "name", hint: "Leave empty to use the proposed name." })}
      ${textArea(form, { label: driverLabels.comment, name: "comment" })}
      ${checkbox(form, {
        label: driverLabels.trust_publisher,
        name: "trust_publisher",
        hint: "Install adds the driver’s certificate to Trusted Publishers; uninstall removes it.",
      })}
      ${checkbox(form, {
        label: driverLabels.exact_version,
        name: "exact_version",
        hint: "Also replaces a newer version. Other queues of the driver change drivers for a moment. Windows may reset their preferences.",
      })}
      ${checkbox(form, { label: driverLabels.drop_unused, name: "drop_unused", hint: unusedHint(choice.inf) })}
      <button class="primary">Save driver</button>
    </form></div>`;
}

/** The offer of driver-only packages on a driver's page. */
export interface DriverDeploy {
  /** The models that the package installs. */
  readonly models: readonly string[];
  /** Models that printers deploy although the INF lacks them. */
  readonly leftOut: readonly string[];
  /** Why the driver cannot be deployed alone, and the remedy; undefined if it can. */
  readonly problem: string | undefined;
  readonly offer: DeployOffer;
  /** How many of its scripts are signed. Undefined where nobody signs. */
  readonly signedLine: Html | undefined;
}

function driverDeploySection(
  withState: WithState,
  isUsed: boolean,
  { models, leftOut, problem, offer, signedLine }: DriverDeploy,
): Html {
  const why = problem ?? withState.findings.find(({ kind }) => kind === "archive")?.text;
  if (why !== undefined) return html`<p id="deploy">${isolated(why)}</p>`;
  const logo = logoOf(undefined, html`any PNG, such as the vendor’s logo or yours`);
  const cards = deployCards(offer, logo);
  return html`<div class="deploy" id="deploy">
    <p>This package installs only the driver. Deploy it first, then each printer <em>without the driver</em>.</p>
    ${modelLine(models, isUsed)}
    ${signedLine}
    ${leftOut.length > 0 && html`<p class="notice warn">The package leaves out models that the INF does not contain: ${nameList(leftOut)}.</p>`}
    ${failureOf(withState) === undefined ? cards : foldedDownloads(cards)}
    ${helpLinks(["A driver without printers", "drivers#a-driver-without-printers"])}</div>`;
}

/** Longer lists are folded. */
const maxModelNames = 3;

function modelLine(models: readonly string[], isUsed: boolean): Html {
  if (!isUsed)
    return html`<p>This package installs ${nameList(models)}. No printer uses this driver yet.</p>`;
  const hint = "When a printer gets another model, download and deploy this package again.";
  if (models.length <= maxModelNames) {
    return html`<p>This package installs the models that printers use: ${nameList(models)}. <span class="hint">${hint}</span></p>`;
  }
  return html`<details class="more"><summary>This package installs the ${counted(models.length, "model")} that printers use</summary>
    <ul class="names">${models.map((model) => html`<li><bdi>${model}</bdi></li>`)}</ul><p class="hint">${hint}</p></details>`;
}

function nameList(names: readonly string[]): Html {
  return htmlList(names.map((name) => html`<bdi>${name}</bdi>`));
}
