import {
  type AddedDriver,
  chosenInf,
  type Driver,
  type DriverSummary,
  driverTitle,
  shippedBy,
} from "../../domain/drivers/driver.ts";
import { maxDriverName } from "../../domain/drivers/driver-name.ts";
import { needsModelChoice } from "../../domain/drivers/models.ts";
import type { ClientName, DriverWithState, ListedDriver } from "../../domain/printers/listings.ts";
import { shipsArm64 } from "../../domain/printers/printer-drivers.ts";
import { type FormState, selectOptions } from "../form.ts";
import { type Html, html } from "../html.ts";
import { anchor, helpLinks } from "../layout.ts";
import { paths } from "../paths.ts";
import { driverFindingLines, toneOf } from "../state-badge.ts";
import { bytes, count, counted } from "../text.ts";
import { driverLabel } from "./driver-label.ts";
import { uploadOutcome } from "./driver-messages.ts";
import { modelOptions } from "./driver-models.ts";
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

/** The form that uploads drivers. The drivers page shows it, every other page has it in a dialog. @param limit in bytes */
export function uploadForm(limit: number): Html {
  return html`<form id="upload-form" class="panel upload" method="post" action="${paths.upload}" enctype="multipart/form-data"
    data-driver-upload="#upload-lines" data-limit="${limit}" aria-labelledby="upload-title">
    <h2 id="upload-title">Upload driver</h2>
    <p class="hint" id="upload-hint">The vendor’s ZIP or self-extracting ZIP (.exe), unchanged, up to ${bytes(limit)}.
      <span data-scripted hidden>Or drop files and folders on any page. Uploads start at once.</span></p>
    <label for="f-file">Driver ZIP or program</label>
    <input id="f-file" type="file" name="file" required aria-describedby="upload-hint">
    <label for="f-folder" data-scripted hidden>Or a folder with an INF</label>
    <input id="f-folder" type="file" webkitdirectory data-scripted hidden>
    <noscript><button class="primary">Upload driver</button></noscript>
    <p class="hint">Only a setup program? ${takeFromPc} with <a href="${paths.fromPc}">this script</a>.</p>
    ${helpLinks(["Upload", "drivers#upload"], ["Error messages", "errors#upload-of-a-driver"])}
  </form>
  <ul id="upload-lines" class="uploads" aria-label="Uploads" hidden></ul>`;
}

/** Scripts open it for a link to the upload form, and for what is dropped on the page. */
export function uploadDialog(limit: number): Html {
  return html`<dialog id="upload-dialog" aria-labelledby="upload-title">${uploadForm(limit)}
    <form method="dialog"><button>Close</button></form></dialog>`;
}

/** The result of the last upload, in the tone of its worst finding or remark. @param chosenClient the client of the new printer */
export function uploadNotice(
  result: UploadResult,
  clients: readonly ClientName[],
  chosenClient?: number,
): Html | undefined {
  if (result === undefined) return undefined;
  if ("problem" in result) {
    return html`<div class="notice bad" role="alert" tabindex="-1" data-focus><p>${result.problem}</p>
      <p class="actions">${anotherFile} ${takeFromPc}</p></div>`;
  }
  const { driver, withState, older } = result;
  const found = [toneOf(withState.state), worstTone(driver)];
  const tone = (["bad", "warn"] as const).find((one) => found.includes(one)) ?? "good";
  const isPrinter = driver.listed?.isPrinter === true;
  return html`<div class="notice ${tone}" role="${tone === "bad" ? "alert" : "status"}" tabindex="-1" data-focus data-uploaded="${driver.id}"
    data-arm64="${arm64Support(driver)}">
    ${cardName(driver, uploadOutcome(result))}
    ${result.taken && html`<p><bdi>${result.taken}</bdi></p>`}
    ${isPrinter && driverFindingLines(withState)}${infRemarks(driver, "fragment")}
    ${older.map((from) => moveOffer(from, driver))}
    <div data-next>${isPrinter ? newPrinterForm(driver, clients, chosenClient) : deleteForm(driver)}</div></div>`;
}

/**
 * The name on the card of an upload, with a form to change it; also the answer to that form.
 * @param outcome the rest of the sentence whose subject is the name
 */
export function cardName(driver: DriverSummary, outcome: string, refused?: FormState): Html {
  const { id, name } = driver;
  const problem = refused?.problems.name;
  return html`<div class="card-name"><p><strong><bdi>${driverTitle(driver)}</bdi></strong> ${outcome}
      <a href="${paths.driver(id)}">Open driver</a></p>
    ${
      driver.listed?.isPrinter &&
      html`<details class="more" ${problem && html`open`}><summary>Rename</summary>
      <form method="post" action="${paths.driver(id)}" hx-post="${paths.driver(id)}"
        hx-target="closest .card-name" hx-swap="outerHTML" hx-disabled-elt="find button"><input type="hidden" name="only" value="name">
        ${problem && html`<p class="problem" id="name-problem-${id}">${problem}</p>`}
        <label>Driver name <input name="name" value="${refused?.values.name ?? name}" required maxlength="${maxDriverName}" autocomplete="off"
          ${problem && html`aria-invalid="true" aria-describedby="name-problem-${id}" data-focus`}></label>
        <p class="actions"><button>Rename driver</button></p></form></details>`
    }</div>`;
}

const anotherFile = html`<a href="${paths.uploadForm}">Choose another file</a>`;

/** What works for every vendor's setup program. */
const takeFromPc = anchor({
  label: "Take the driver from a PC",
  path: paths.help("drivers#take-a-driver-from-a-pc"),
  isNewTab: true,
});

/** `alone`: the driver has files for ARM64 machines only; `too`: also for others; empty: none for ARM64. */
function arm64Support(driver: DriverSummary): string {
  if (!shipsArm64(driver)) return "";
  return shippedBy(driver.listed).length === 1 ? "alone" : "too";
}

/** The few fields that a first package needs. Its answer is the printer’s page, or the whole form with what is wrong. */
function newPrinterForm(
  driver: Driver,
  clients: readonly ClientName[],
  chosenClient: number | undefined,
): Html {
  const choices = clients.map(({ id, name }) => [String(id), name] as const);
  const only = choices.length === 1 ? choices[0]?.[0] : undefined;
  const list = `models-of-${driver.id}`;
  const modelCount = driver.listed?.modelCount ?? 0;
  return html`<form class="new-printer" method="post" action="${paths.printers}" data-guard aria-labelledby="new-with-${driver.id}">
    <h3 id="new-with-${driver.id}">New printer with this driver</h3>
    <input type="hidden" name="from_form" value="1">
    <input type="hidden" name="driver_id" value="${driver.id}" data-models="driver_desc">
    <label>Name <input name="name" required autocomplete="off"></label>
    <label>Address <input name="address" required autocomplete="off" autocapitalize="off" spellcheck="false"></label>
    ${choices.length > 0 && html`<label>Client <select name="client_id">${selectOptions([["", "None"], ...choices], String(chosenClient ?? only ?? ""))}</select></label>`}
    ${
      (needsModelChoice(driver) || driver.driver_desc === "") &&
      html`<label>Model${modelCount > 0 && `, one of ${count(modelCount)}`}
        <input name="driver_desc" required list="${list}" autocomplete="off" spellcheck="false"></label>
      ${modelOptions(driver, chosenInf(driver), "", { id: list })}`
    }
    <p class="actions"><button class="primary">Save printer</button> <a href="${paths.printerWithDriver(driver.id)}">All settings</a> ${anotherFile}</p></form>`;
}

function deleteForm({ id }: DriverSummary): Html {
  return html`<form class="actions" method="post" action="${paths.recordDelete("driver", id)}"><button>Delete driver</button> ${anotherFile}</form>`;
}

function moveOffer(from: ListedDriver, to: DriverSummary): Html {
  const printers = counted(from.printer_count, "printer");
  return html`<p>${printers} ${from.printer_count === 1 ? "uses" : "use"} an older version of this driver: <bdi>${driverLabel(from)}</bdi>.
    <a class="button" href="${paths.driverMove(from.id, to.id)}">Move ${printers}…</a></p>`;
}
