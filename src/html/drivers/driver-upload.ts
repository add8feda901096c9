import type { AddedDriver } from "../../domain/drivers/driver.ts";
import {
  chosenInf,
  type Driver,
  type DriverSummary,
  driverTitle,
  shippedBy,
} from "../../domain/drivers/driver.ts";
import { needsModelChoice } from "../../domain/drivers/models.ts";
import type { DriverWithState, ListedDriver } from "../../domain/printers/listings.ts";
import { shipsArm64 } from "../../domain/printers/printer-drivers.ts";
import { type Html, html } from "../html.ts";
import { paths } from "../paths.ts";
import { driverFindingLines, toneOf } from "../state-badge.ts";
import { bytes, count, counted } from "../text.ts";
import { driverLabel } from "./driver-label.ts";
import { uploadOutcome } from "./driver-messages.ts";
import { maxModels } from "./driver-models.ts";
import { infRemarks, worstTone } from "./driver-remarks.ts";

/** An uploaded driver with its state, or why the upload was refused. */
export type UploadResult =
  | (AddedDriver & {
      readonly withState: DriverWithState;
      /** Older versions with at least one model that printers use and this version has too. */
      readonly older: readonly ListedDriver[];
    })
  | { readonly problem: string }
  | undefined;

/** @param limit maximum file size in bytes */
export function uploadForm(limit: number): Html {
  return html`<form id="upload-form" class="panel upload drop" method="post" action="${paths.upload}" enctype="multipart/form-data"
    data-driver-upload="#upload-lines" data-limit="${limit}" aria-labelledby="upload-title">
    <h2 id="upload-title">Upload a driver</h2>
    <p class="hint" id="upload-hint">The vendor’s ZIP as downloaded, with its INF inside, up to ${bytes(limit)}.
      <span data-scripted hidden>You can choose or drop several at once.</span></p>
    <label for="f-file">Driver ZIP</label>
    <input id="f-file" type="file" name="file" accept=".zip,application/zip" required aria-describedby="upload-hint">
    <button class="primary">Upload driver</button>
  </form>
  <ul id="upload-lines" class="uploads" aria-label="Uploads" hidden></ul>`;
}

/** The upload dialog of the printer form. It must be outside that form, because forms cannot be nested. */
export function uploadDialog(limit: number): Html {
  return html`<dialog id="upload-driver" aria-labelledby="upload-driver-title">
    <form class="upload drop" method="post" action="${paths.upload}" enctype="multipart/form-data" data-driver-upload="#upload-driver-lines"
      data-limit="${limit}" data-single="1">
      <h2 id="upload-driver-title">Upload a driver</h2>
      <p class="hint" id="upload-driver-hint">The vendor’s ZIP as downloaded, up to ${bytes(limit)}. What you typed stays; the driver is chosen afterwards.</p>
      <label for="f-driver-file">Driver ZIP</label>
      <input id="f-driver-file" type="file" name="file" accept=".zip,application/zip" required aria-describedby="upload-driver-hint">
      <p class="actions"><button class="primary">Upload driver</button> <button type="button" data-close-window>Close</button></p>
    </form>
    <ul id="upload-driver-lines" class="uploads" aria-label="Uploads" hidden></ul></dialog>`;
}

/** The result of the last upload, in the tone of its worst finding or remark. */
export function uploadNotice(result: UploadResult): Html | undefined {
  if (result === undefined) return undefined;
  if ("problem" in result) {
    return html`<div class="notice bad" role="alert" tabindex="-1" data-focus><p>${result.problem}</p></div>`;
  }
  const { driver, withState, older } = result;
  const tone = worstOf(toneOf(withState.state), worstTone(driver));
  return html`<div class="notice ${tone}" role="${tone === "bad" ? "alert" : "status"}" tabindex="-1" data-focus data-uploaded="${driver.id}"
    data-arm64="${arm64Support(driver)}">
    <p><strong><bdi>${driverTitle(driver)}</bdi></strong> ${uploadOutcome(result)}
      <a href="${paths.driver(driver.id)}">Open it</a></p>
    ${driverFindingLines(withState)}${infRemarks(driver)}
    ${needsModelChoice(driver) && modelQuestion(driver)}
    ${older.map((from) => moveOffer(from, driver))}
    <div data-next>${nextStep(driver)}</div></div>`;
}

/** `alone`: the driver has files for ARM64 machines only; `too`: also for others; empty: none for ARM64. */
function arm64Support(driver: DriverSummary): string {
  if (!shipsArm64(driver)) return "";
  return shippedBy(driver.listed).length === 1 ? "alone" : "too";
}

/** Offers to delete a driver that is not for printers. */
function nextStep({ id, listed }: DriverSummary): Html {
  return listed?.isPrinter
    ? html`<p><a class="button" href="${paths.printerWithDriver(id)}">New printer with this driver</a></p>`
    : html`<form method="post" action="${paths.driverDelete(id)}"><button>Delete it</button></form>`;
}

function worstOf(...tones: readonly ("good" | "warn" | "bad")[]): "good" | "warn" | "bad" {
  if (tones.includes("bad")) return "bad";
  return tones.includes("warn") ? "warn" : "good";
}

/** Asks which of several models the driver deploys. The answer replaces the question. */
export function modelQuestion(driver: Driver, problem?: string): Html {
  const names = chosenInf(driver)?.descriptions ?? [];
  const prefix = `model-of-${driver.id}`;
  const items = names.slice(0, maxModels).map(
    (name, i) => html`<li><input type="radio" name="driver_desc" id="${prefix}-${i}" value="${name}">
      <label for="${prefix}-${i}"><bdi>${name}</bdi></label></li>`,
  );
  const kept = [
    driver.trust_publisher && html`<input type="hidden" name="trust_publisher" value="on">`,
    driver.drop_unused && html`<input type="hidden" name="drop_unused" value="on">`,
  ];
  return html`<form class="model-question" method="post" action="${paths.driver(driver.id)}" hx-post="${paths.driver(driver.id)}"
    hx-swap="outerHTML" hx-disabled-elt="find button"><input type="hidden" name="from_form" value="1">
    <input type="hidden" name="from_upload" value="1">${kept}
    <fieldset><legend>Which model does it deploy? One of ${count(names.length)} names; each printer can choose another.</legend>
    ${problem && html`<p class="problem" role="alert" tabindex="-1" data-focus>${problem}</p>`}
    <ul class="models">${items}</ul>
    ${names.length > items.length && html`<p class="hint">${count(items.length)} of ${count(names.length)} shown: <a href="${paths.modelChoice(driver.id)}">search all of them</a>.</p>`}
    </fieldset><button>Use this model</button></form>`;
}

/** Replaces the question after it is answered. */
export function modelAnswer(driver: DriverSummary): Html {
  return html`<p class="good" role="status" tabindex="-1" data-focus>Deploys <bdi>${driver.driver_desc}</bdi>, as you chose.</p>`;
}

function moveOffer(from: ListedDriver, to: DriverSummary): Html {
  const printers = counted(from.printer_count, "printer");
  return html`<p>${printers} ${from.printer_count === 1 ? "has" : "have"} an older version: <bdi>${driverLabel(from)}</bdi>.
    <a class="button" href="${paths.driverMove(from.id, to.id)}">Move ${printers}…</a></p>`;
}
