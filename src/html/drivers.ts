import {
  chosenInf,
  type Driver,
  driverNeeds,
  driverTitle,
  type InfSummary,
  missingCountOf,
} from "../domain/driver.ts";
import type { AddedDriver, StatedDriver } from "../domain/listings.ts";
import { type Html, html } from "./html.ts";
import { emptyState, type Frame, page } from "./layout.ts";
import { paths } from "./paths.ts";
import { stateBadge } from "./standing.ts";
import { architectures, bytes, counted, firstOf, infDate, time } from "./text.ts";
import { unusedNote } from "./unused.ts";

/** What the last upload brought, or why it was refused. */
type UploadResult = AddedDriver | { readonly problem: string } | undefined;

export function driversPage(
  frame: Frame,
  rows: readonly StatedDriver[],
  result: UploadResult,
  uploadLimitBytes: number,
): Html {
  return page(
    { ...frame, title: "Drivers", place: "Drivers" },
    html`${uploadForm(uploadLimitBytes)}${driverList(rows, result)}`,
  );
}

function uploadForm(limit: number): Html {
  return html`<form id="upload-form" class="panel upload" method="post" action="${paths.upload}" enctype="multipart/form-data"
    hx-post="${paths.upload}" hx-encoding="multipart/form-data" hx-target="#driver-list" hx-swap="outerHTML"
    hx-disabled-elt="find .primary">
    <h2>Upload a driver</h2>
    <p class="hint" id="upload-hint">The vendor’s ZIP as downloaded, with its INF inside, up to ${bytes(limit)}.</p>
    <label for="f-file">Driver ZIP</label>
    <input id="f-file" type="file" name="file" accept=".zip,application/zip" required aria-describedby="upload-hint">
    <button class="primary">Upload driver</button>
    <button type="button" class="cancel" hidden>Cancel</button>
    <progress max="100" value="0" hidden></progress>
  </form>`;
}

/** The list with what the last upload brought, as the page shows it and as a fragment brings it anew. */
export function driverList(rows: readonly StatedDriver[], result: UploadResult = undefined): Html {
  const lines = rows.map(
    (driver) => html`<tr>
      <td data-label="Driver"><a href="${paths.driver(driver.id)}">${driverTitle(driver)}</a></td>
      <td data-label="Version">${versionOf(driver.listed)}</td>
      <td data-label="Machines">${architectures(driver.listed?.architectures ?? [])}</td>
      <td data-label="State">${stateBadge(driver)}</td>
      <td data-label="Printers" class="number">${driver.printer_count}</td>
      <td data-label="Size" class="number">${bytes(driver.size)}</td>
      <td data-label="Uploaded">${time(driver.uploaded_at)}</td>
    </tr>`,
  );
  const table = html`<table><thead><tr><th scope="col">Driver</th><th scope="col">Version</th><th scope="col">Machines</th>
    <th scope="col">State</th><th scope="col" class="number">Printers</th><th scope="col" class="number">Size</th>
    <th scope="col">Uploaded</th></tr></thead><tbody>${lines}</tbody></table>`;
  const first = html`<a class="button" href="#f-file">Choose a ZIP</a>`;
  const sentence = "A driver is a vendor’s ZIP, kept as it came and read for its models.";
  return html`<section id="driver-list" aria-label="Drivers">${uploadNotice(result)}
    ${rows.length > 0 ? html`${driverSelect(rows, result)}${table}` : emptyState(sentence, first)}</section>`;
}

function uploadNotice(result: UploadResult): Html | undefined {
  if (result === undefined) return undefined;
  if ("problem" in result) {
    return html`<div class="notice bad" role="alert" tabindex="-1" data-focus><p>${result.problem}</p></div>`;
  }
  const { driver, isNew } = result;
  return html`<div class="notice ${driverNeeds(driver) ? "warn" : "good"}" role="status" tabindex="-1" data-focus>
    <p><strong>${driverTitle(driver)}</strong> ${isNew ? "is uploaded." : "was here already: this is the same content."}
      <a href="${paths.driver(driver.id)}">Open it</a></p>
    ${infNotes(driver)}</div>`;
}

function driverSelect(rows: readonly StatedDriver[], result: UploadResult): Html {
  const chosen = result && "driver" in result ? result.driver.id : rows[0]?.id;
  const options = rows.map(
    (driver) =>
      html`<option value="${driver.id}" ${driver.id === chosen && html`selected`}>${driverTitle(driver)}</option>`,
  );
  return html`<form class="inline use-driver" method="get" action="${paths.printers}">
    <label for="driver-select">Use for a new printer</label>
    <select id="driver-select" name="driver_id">${options}</select><button>New printer</button></form>`;
}

export function versionOf(inf: Pick<InfSummary, "driverVer"> | undefined): Html {
  if (!inf?.driverVer) return html`<span class="soft">not given</span>`;
  return html`<code>${inf.driverVer.version}</code> <span class="soft">${infDate(inf.driverVer.date)}</span>`;
}

const shownNames = 8;

/** What an operator must know of the chosen INF, the worst first, a sentence each. */
export function infNotes(driver: Driver): Html {
  const inf = chosenInf(driver);
  const findings: [string, Html][] = [];
  const needs = driverNeeds(driver);
  if (needs !== undefined) findings.push(["warn", html`${needs}`]);
  if (inf !== undefined) findings.push(...infFindings(inf, driver));
  for (const warning of driver.report.warnings) findings.push(["warn", html`${warning}`]);
  return html`<ul class="findings">${findings.map(([tone, text]) => html`<li class="${tone}">${text}</li>`)}</ul>`;
}

function infFindings(inf: InfSummary, driver: Driver): [string, Html][] {
  const found: [string, Html][] = [];
  const missing = missingCountOf(inf);
  if (missing > 0) {
    const names = firstOf(inf.missing, shownNames, missing);
    found.push([
      "bad",
      html`Missing files: the installation will fail. ${counted(missing, "file")}: <code>${names}</code>.`,
    ]);
  }
  if (!inf.signed) found.push(["warn", html`Unsigned: 64-bit Windows will refuse this driver.`]);
  if (inf.notShipped.length > 0) {
    const names = architectures(inf.notShipped);
    found.push([
      "warn",
      html`Declared for ${names}, but its program files are for other machines: it will not work there.`,
    ]);
  }
  if (missing === 0) found.push(["good", html`Every file that the INF needs is there.`]);
  found.push(["plain", unusedNote(inf, driver)]);
  if (inf.copyInf.length > 0)
    found.push(["plain", html`Brings along: <code>${firstOf(inf.copyInf, shownNames)}</code>.`]);
  const others = driver.report.infs.filter((other) => !other.isPrinter && other.path !== inf.path);
  if (others.length > 0) {
    const names = firstOf(
      others.map(({ path, class: name }) => `${path} (${name ?? "no class"})`),
      shownNames,
    );
    found.push([
      "plain",
      html`${counted(others.length, "INF")} of other device classes beside it: <code>${names}</code>.`,
    ]);
  }
  return found;
}
