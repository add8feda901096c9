import { inOrder } from "../domain/driver-order.ts";
import type { StatedDriver } from "../domain/listings.ts";
import { type DriverNarrowing, narrowDrivers } from "../domain/search.ts";
import { driverChoices, driverLine, machinesOf, versionOf } from "./driver-label.ts";
import { type UploadResult, uploadForm, uploadNotice } from "./driver-upload.ts";
import { type Html, html } from "./html.ts";
import { emptyState, type Frame, page } from "./layout.ts";
import { paths } from "./paths.ts";
import { stateBadge } from "./standing.ts";
import { bytes, count, counted, time } from "./text.ts";

/** Drivers with what the last upload brought, and what the list is narrowed to. */
interface DriverList {
  readonly rows: readonly StatedDriver[];
  readonly result?: UploadResult;
  readonly narrowing?: DriverNarrowing;
}

const everything: DriverNarrowing = { q: "", state: "" };

export function driversPage(frame: Frame, list: DriverList, uploadLimitBytes: number): Html {
  return page(
    { ...frame, title: "Drivers", place: "Drivers" },
    html`${uploadForm(uploadLimitBytes)}${driverList(list)}`,
  );
}

/** The list with what the last upload brought, as the page shows it and as a fragment brings it anew. */
export function driverList({ rows, result, narrowing = everything }: DriverList): Html {
  const first = html`<a class="button" href="#f-file">Choose a ZIP</a>`;
  const sentence = "A driver is a vendor’s ZIP, kept as it came and read for its models.";
  const body =
    rows.length === 0
      ? emptyState(sentence, first)
      : html`${driverSelect(rows, result)}${narrowingForm(narrowing)}${found(rows, narrowing)}`;
  return html`<section id="driver-list" aria-label="Drivers">${uploadNotice(result)}
    <div id="driver-rows">${body}</div></section>`;
}

/** The rows that are left, which a script brings anew while somebody narrows them. */
function found(rows: readonly StatedDriver[], narrowing: DriverNarrowing): Html {
  const shown = narrowDrivers(rows, narrowing);
  const all = html`<a class="button" href="${paths.drivers}">Show all ${counted(rows.length, "driver")}</a>`;
  const less =
    shown.length < rows.length &&
    html`<p class="soft" role="status">${count(shown.length)} of ${counted(rows.length, "driver")}
    <a href="${paths.drivers}">Show all</a></p>`;
  return html`<div id="drivers-found">${
    shown.length > 0 ? html`${less}${driverTable(shown)}` : emptyState("No driver matches.", all)
  }</div>`;
}

const stateChoices = [
  ["", "Any state"],
  ["ready", "Ready"],
  ["attention", "Attention"],
  ["blocked", "Blocked"],
  ["unchosen-model", "Model not chosen"],
  ["lost-model", "Model not in the INF"],
  ["incomplete", "INF or model missing"],
  ["missing-files", "Files missing"],
  ["unsigned", "Unsigned"],
  ["archive", "Archive missing or damaged"],
  ["newer", "In use, and a newer version is here"],
  ["unused", "Without printers"],
] as const;

function narrowingForm({ q, state }: DriverNarrowing): Html {
  const options = stateChoices.map(
    ([value, label]) => html`<option value="${value}" ${value === state && html`selected`}>${label}</option>`,
  );
  return html`<form class="narrowing" method="get" action="${paths.drivers}" role="search" aria-label="Narrow the list"
    hx-get="${paths.drivers}" hx-trigger="input changed delay:200ms from:find [type=search], change, submit" hx-sync="this:replace"
    hx-target="#drivers-found" hx-select="#drivers-found" hx-swap="outerHTML" hx-replace-url="true">
    <label class="visually-hidden" for="narrow-q">Words in the list</label>
    <input id="narrow-q" type="search" name="q" value="${q}" maxlength="200" autocomplete="off" placeholder="Narrow the list">
    <label class="visually-hidden" for="narrow-state">State</label>
    <select id="narrow-state" name="state">${options}</select>
    <noscript><button>Narrow</button></noscript></form>`;
}

/** By title, of one title the newest version first. @param oob where a fragment brings it along */
export function driverTable(rows: readonly StatedDriver[], oob = false): Html {
  const lines = inOrder(rows).map(
    (driver) => html`<tr>
      <td data-label="Driver"><span>${driverLine(driver, paths.driver(driver.id))}</span></td>
      <td data-label="Version"><span>${versionOf(driver.listed)}</span></td>
      <td data-label="Machines">${machinesOf(driver.listed)}</td>
      <td data-label="State">${stateBadge(driver)}</td>
      <td data-label="Printers" class="number">${driver.printer_count}</td>
      <td data-label="Size" class="number">${bytes(driver.size)}</td>
      <td data-label="Uploaded">${time(driver.uploaded_at)}</td>
    </tr>`,
  );
  return html`<table id="driver-table" ${oob && html`hx-swap-oob="true"`}><thead><tr><th scope="col">Driver</th><th scope="col">Version</th><th scope="col">Machines</th>
    <th scope="col">State</th><th scope="col" class="number">Printers</th><th scope="col" class="number">Size</th>
    <th scope="col">Uploaded</th></tr></thead><tbody>${lines}</tbody></table>`;
}

/** The driver that came last is chosen at first. */
function driverSelect(rows: readonly StatedDriver[], result: UploadResult): Html {
  const newest = rows.reduce((most, { id }) => Math.max(most, id), 0);
  const chosen = String(result && "driver" in result ? result.driver.id : newest);
  const options = driverChoices(rows).map(
    ([value, label]) =>
      html`<option value="${value}" ${value === chosen && html`selected`}>${label}</option>`,
  );
  return html`<form class="use-driver" method="get" action="${paths.printers}">
    <label for="driver-select">Use for a new printer</label>
    <select id="driver-select" name="driver_id">${options}</select> <button>New printer</button></form>`;
}
